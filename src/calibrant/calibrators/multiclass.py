"""Multi-class calibrators composed of binary ones, for the scores of a single model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from itertools import starmap
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant._core.binning import Points
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators._enir_batch import fit_enirs
from calibrant.calibrators._point_batches import PointBatch
from calibrant.calibrators._protocol import fit_in_place, predict_points
from calibrant.calibrators.baselines import ConstantCalibrator
from calibrant.calibrators.enir import ENIR
from calibrant.calibrators.scaling import SMALLEST_SCORE
from calibrant.combination import couple_pairs, normalize

# The largest number of groups: as many as DGG forms from 5,000 scores.
MAX_GROUPS = 50
# The limits on a batch of problems keep its arrays to a few megabytes.
MAX_BATCH_PROBLEMS, MAX_BATCH_POINTS = 256, 2**17


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
        Whether to calibrate centered log scores instead of the scores.

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

    For logistic regression, this is the decision value. It says more than the score, which also
    depends on how the other classes share the remaining probability.

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
        problems = (
            (column, (y == k).astype(np.float64), weight)
            for k, column in enumerate(self._columns(score))
        )
        self.calibrators_ = _fit_problems(self.calibrator, problems, self.group_rows)

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

        def problem(i: int, j: int) -> Points:
            member = np.sort(np.concatenate([rows[i], rows[j]]))
            pair_score = _pair_score(columns[i][member], columns[j][member])
            return pair_score, (y[member] == i).astype(np.float64), weight[member]

        self.calibrators_ = _fit_problems(
            self.calibrator, starmap(problem, self.pairs_), self.group_rows
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


def _fit_problems(
    calibrator: Any, problems: Iterable[Points], group_rows: float | None
) -> list[Any]:
    """Fit a clone of a calibrator, or of the default one, to each problem.

    A problem whose rows are all on one side gets a constant.
    """
    if group_rows is not None and not group_rows > 0:
        raise ValueError(
            f"group_rows must be positive, got {group_rows!r}. Use None for no grouping."
        )
    unfitted = ENIR(floored=True) if calibrator is None else clone(calibrator)
    return [
        each for batch in _batches(problems) for each in _fit_batch(unfitted, batch, group_rows)
    ]


def _batches(problems: Iterable[Points]) -> Iterator[list[Points]]:
    """Divide problems into batches of limited size."""
    batch: list[Points] = []
    n_points = 0
    for points in problems:
        batch.append(points)
        n_points += len(points[0])
        if len(batch) >= MAX_BATCH_PROBLEMS or n_points >= MAX_BATCH_POINTS:
            yield batch
            batch, n_points = [], 0
    if batch:
        yield batch


def _fit_batch(unfitted: Any, problems: list[Points], group_rows: float | None) -> list[Any]:
    """Fit copies of a calibrator, or constants to problems whose rows are all on one side."""
    fitted: list[Any] = [
        fit_in_place(ConstantCalibrator(floored=True), *points)
        if points[1].all() or not points[1].any()
        else None
        for points in problems
    ]
    missing = [k for k, constant in enumerate(fitted) if constant is None]
    if not missing:
        return fitted
    batch = PointBatch.join([problems[k] for k in missing])
    if group_rows is not None:
        n_groups = np.clip((batch.total_weights() / group_rows).astype(np.intp), 1, MAX_GROUPS)
        batch = batch.pool_ties().group_neighbors(n_groups)
    calibrators: Iterable[Any]
    if group_rows is not None and type(unfitted) is ENIR:
        calibrators = fit_enirs(unfitted, batch.pool_ties())
    else:
        # A shallow copy of an unfitted clone is as good as another clone, and ten times as fast.
        calibrators = (fit_in_place(copy(unfitted), *points) for points in batch)
    for k, calibrator in zip(missing, calibrators, strict=True):
        fitted[k] = calibrator
    return fitted
