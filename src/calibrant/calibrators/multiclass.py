"""Multi-class calibrators composed of binary ones, for the scores of a single model."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant._core.binning import equal_weight_groups, group_means, pool_ties
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators._protocol import fit_in_place, predict_points
from calibrant.calibrators.baselines import ConstantCalibrator
from calibrant.calibrators.enir import ENIR
from calibrant.calibrators.scaling import SMALLEST_SCORE
from calibrant.combination import couple_pairs, normalize

# The largest number of groups: as many as DGG forms from 5,000 scores.
MAX_GROUPS = 50


class OneVsRestCalibrator(MulticlassCalibrator):
    r"""One binary calibrator per class: that class against all others.

    Each calibrator is fitted on the scores of its class. The calibrated probabilities are
    normalized.

    Parameters
    ----------
    calibrator : binary calibrator, default=None
        The calibrator to clone for each class. ``None`` means ``ENIR(floored=True)``.
    group_rows : float, default=None
        The number of distinct rows per group of neighboring scores, which are averaged before
        the calibrators are fitted; there are at most 50 groups. Grouping smooths the map,
        notably if rows were scored several times. ``None`` means no grouping.
    log_scores : bool, default=False
        Whether to calibrate the centered log scores in place of the scores.

    Attributes
    ----------
    calibrators_ : list
        The fitted calibrators, one per class.

    See Also
    --------
    calibrant.strategies.OneVsRest : One model per class, that class against all others.

    Notes
    -----
    With the scores :math:`s` of all K classes, the centered log score of class k is

    .. math:: \log s_k - \frac{1}{K} \sum_j \log s_j .

    For logistic regression, this is the decision value, which says more than the score: the score
    of a class also depends on how the other classes share the rest.

    Examples
    --------
    >>> from calibrant.calibrators import ENIR, OneVsRestCalibrator
    >>> score = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]] * 20
    >>> OneVsRestCalibrator(ENIR()).fit(score, [0, 1, 2] * 20).predict(score[:3])
    array([0, 1, 2])
    """

    calibrators_: list[Any]

    def __init__(
        self, calibrator: Any = None, *, group_rows: float | None = None, log_scores: bool = False
    ):
        self.calibrator = calibrator
        self.group_rows = group_rows
        self.log_scores = log_scores

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        unfitted = _unfitted(self.calibrator)
        self.calibrators_ = [
            _fit_binary(unfitted, column, y == k, weight, self.group_rows)
            for k, column in enumerate(self._columns(score))
        ]

    def _proba(self, score: FloatArray) -> FloatArray:
        columns = [
            predict_points(calibrator, column)
            for calibrator, column in zip(self.calibrators_, self._columns(score), strict=True)
        ]
        return normalize(np.column_stack(columns), fallback=score)

    def _columns(self, score: FloatArray) -> FloatArray:
        """Return the scores to calibrate, one row per class."""
        columns = np.ascontiguousarray(score.T)
        if not self.log_scores:
            return columns
        columns = np.log(np.maximum(columns, SMALLEST_SCORE))
        # Sorting makes the mean, and thus ties, independent of the order of the classes.
        return columns - np.sort(columns, axis=0).mean(axis=0)


class PairwiseCalibrator(MulticlassCalibrator):
    r"""One binary calibrator per pair of classes.

    Each calibrator is fitted on the rows of its two classes. The calibrated probabilities are
    coupled.

    Parameters
    ----------
    calibrator : binary calibrator, default=None
        The calibrator to clone for each pair. ``None`` means ``ENIR(floored=True)``.
    coupling : str, default="wu-lin-weng"
        A method of `calibrant.combination.couple`.
    group_rows : float, default=None
        The number of distinct rows per group of neighboring scores, as in
        `OneVsRestCalibrator`. ``None`` means no grouping.

    Attributes
    ----------
    pairs_ : list of tuple
        The pairs of columns; the first of a pair is the positive side.
    calibrators_ : list
        The fitted calibrators, one per pair.

    See Also
    --------
    calibrant.strategies.AllPairs : One model per pair, fitted on its rows.

    Notes
    -----
    With the scores :math:`s` of all classes, the score of the pair of classes i and j is
    :math:`s_i / (s_i + s_j)`.
    """

    pairs_: list[tuple[int, int]]
    calibrators_: list[Any]

    def __init__(
        self,
        calibrator: Any = None,
        *,
        coupling: str = "wu-lin-weng",
        group_rows: float | None = None,
    ):
        self.calibrator = calibrator
        self.coupling = coupling
        self.group_rows = group_rows

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        self.pairs_ = _order_pairs(weight @ score**2, self.class_count_)
        columns = np.ascontiguousarray(score.T)
        rows = [np.flatnonzero(y == k) for k in range(len(columns))]
        unfitted = _unfitted(self.calibrator)
        self.calibrators_ = []
        for i, j in self.pairs_:
            member = np.sort(np.concatenate([rows[i], rows[j]]))
            pair_score = _pair_score(columns[i][member], columns[j][member])
            self.calibrators_.append(
                _fit_binary(unfitted, pair_score, y[member] == i, weight[member], self.group_rows)
            )

    def _proba(self, score: FloatArray) -> FloatArray:
        columns = np.ascontiguousarray(score.T)
        pair_proba = {}
        for (i, j), calibrator in zip(self.pairs_, self.calibrators_, strict=True):
            proba = np.clip(
                predict_points(calibrator, _pair_score(columns[i], columns[j])), 0.0, 1.0
            )
            pair_proba[min(i, j), max(i, j)] = proba if i < j else 1.0 - proba
        in_order = np.array([pair_proba[pair] for pair in sorted(pair_proba)])
        return couple_pairs(in_order.T, self.class_count_, self.coupling)


def _order_pairs(sharpness: FloatArray, class_count: FloatArray) -> list[tuple[int, int]]:
    """Return all pairs of columns, ordered independently of the class labels.

    The order determines which class of a pair is on the positive side, which can affect its
    calibrator.
    """
    rank = np.lexsort((sharpness, class_count))[::-1]
    first, second = np.triu_indices(len(rank), 1)
    return list(zip(rank[first].tolist(), rank[second].tolist(), strict=True))


def _pair_score(positive: FloatArray, negative: FloatArray) -> FloatArray:
    """Return the score of the positive class relative to both; one half if both are 0."""
    total = positive + negative
    return np.divide(positive, total, out=np.full_like(total, 0.5), where=total > 0)


def _unfitted(calibrator: Any) -> Any:
    """Return a clone of a calibrator, or the default one, to be copied for each problem."""
    return ENIR(floored=True) if calibrator is None else clone(calibrator)


def _fit_binary(
    unfitted: Any,
    score: FloatArray,
    positive: BoolArray,
    weight: FloatArray,
    group_rows: float | None,
) -> Any:
    """Fit a copy of a calibrator, or a constant if all rows are on one side."""
    target = positive.astype(np.float64)
    if positive.all() or not positive.any():
        return fit_in_place(ConstantCalibrator(floored=True), score, target, weight)
    if group_rows is not None:
        if not group_rows > 0:
            raise ValueError(
                f"group_rows must be positive, got {group_rows!r}. Use None for no grouping."
            )
        n_groups = min(max(int(weight.sum() / group_rows), 1), MAX_GROUPS)
        score, target, weight = pool_ties(score, target, weight)
        first = equal_weight_groups(weight, n_groups)
        score, target, weight = group_means(score, target, weight, first)
    # A shallow copy of an unfitted clone is as good as another clone, and ten times as fast.
    return fit_in_place(copy(unfitted), score, target, weight)
