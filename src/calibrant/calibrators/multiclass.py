"""Binary calibrators made multi-class on the scores of one model, without refitting it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant._core.binning import equal_weight_groups, group_means, pool_ties
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.calibrators._base import BinaryCalibrator, MulticlassCalibrator
from calibrant.calibrators.baselines import ConstantCalibrator
from calibrant.calibrators.enir import ENIR
from calibrant.combination import couple_pairs, normalize

# More groups than this tell a calibrator nothing new: DGG makes fifty of five thousand scores.
MOST_GROUPS = 50


class OneVsRestCalibrator(MulticlassCalibrator):
    """Each class against the rest, calibrated on its own column; rows made to sum to 1.

    Parameters
    ----------
    calibrator : binary calibrator, default=None
        Cloned for each class; None is ``ENIR(floored=True)``.
    group_rows : float, default=None
        Average neighboring scores in groups of about this many distinct rows, at most 50
        groups, before calibrating; None keeps every score. Groups smooth what repeated
        scores of one row blur.

    Attributes
    ----------
    calibrators_ : list
        The fitted calibrators, one a class.

    Examples
    --------
    >>> from calibrant.calibrators import ENIR, OneVsRestCalibrator
    >>> score = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]] * 20
    >>> OneVsRestCalibrator(ENIR()).fit(score, [0, 1, 2] * 20).predict(score[:3])
    array([0, 1, 2])
    """

    calibrators_: list[Any]

    def __init__(self, calibrator: Any = None, *, group_rows: float | None = None):
        self.calibrator = calibrator
        self.group_rows = group_rows

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        calibrator = ENIR(floored=True) if self.calibrator is None else self.calibrator
        self.calibrators_ = [
            _fit_binary(calibrator, score[:, k], y == k, weight, self.group_rows)
            for k in range(score.shape[1])
        ]

    def _proba(self, score: FloatArray) -> FloatArray:
        columns = [_predict(own, score[:, k]) for k, own in enumerate(self.calibrators_)]
        return normalize(np.column_stack(columns), fallback=score)


class PairwiseCalibrator(MulticlassCalibrator):
    """Each pair of classes, calibrated on the rows of the two; then coupled.

    The score of a pair is s_i / (s_i + s_j), from the scores of one model of all classes.

    Parameters
    ----------
    calibrator : binary calibrator, default=None
        Cloned for each pair; None is ``ENIR(floored=True)``.
    coupling : str, default="wu-lin-weng"
        A method of `calibrant.combination.couple`.
    group_rows : float, default=None
        Average neighboring scores in groups of about this many distinct rows, at most 50
        groups, before calibrating; None keeps every score.

    Attributes
    ----------
    pairs_ : list of tuple
        The pairs of columns; the first of a pair is its positive side.
    calibrators_ : list
        The fitted calibrators, one a pair.

    See Also
    --------
    calibrant.strategies.AllPairs : One model a pair, fitted on its rows.
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
        calibrator = ENIR(floored=True) if self.calibrator is None else self.calibrator
        self.pairs_ = _pairs(weight @ score**2, self.class_count_)
        self.calibrators_ = []
        for i, j in self.pairs_:
            own = (y == i) | (y == j)
            pair_score = _share(score[own, i], score[own, j])
            self.calibrators_.append(
                _fit_binary(calibrator, pair_score, y[own] == i, weight[own], self.group_rows)
            )

    def _proba(self, score: FloatArray) -> FloatArray:
        columns = np.ascontiguousarray(score.T)
        share = {}
        for (i, j), own in zip(self.pairs_, self.calibrators_, strict=True):
            proba = np.clip(_predict(own, _share(columns[i], columns[j])), 0.0, 1.0)
            share[min(i, j), max(i, j)] = proba if i < j else 1.0 - proba
        in_order = np.array([share[pair] for pair in sorted(share)])
        return couple_pairs(in_order.T, self.class_count_, self.coupling)


def _pairs(sharpness: FloatArray, class_count: FloatArray) -> list[tuple[int, int]]:
    """All pairs of columns, in an order that does not depend on what the classes are called."""
    rank = np.lexsort((sharpness, class_count))[::-1]
    first, second = np.triu_indices(len(rank), 1)
    return list(zip(rank[first].tolist(), rank[second].tolist(), strict=True))


def _share(positive: FloatArray, negative: FloatArray) -> FloatArray:
    total = positive + negative
    return np.divide(positive, total, out=np.full_like(total, 0.5), where=total > 0)


def _fit_binary(
    calibrator: Any,
    score: FloatArray,
    positive: BoolArray,
    weight: FloatArray,
    group_rows: float | None,
) -> Any:
    target = positive.astype(np.float64)
    if len(target) == 0 or target.min() == target.max():
        calibrator, group_rows = ConstantCalibrator(floored=True), None
    if group_rows is not None:
        if not group_rows > 0:
            raise ValueError(
                f"group_rows must be above 0. Got {group_rows!r}. Use None to keep every score."
            )
        n_groups = int(np.clip(weight.sum() / group_rows, 1, MOST_GROUPS))
        score, target, weight = pool_ties(score, target, weight)
        first = equal_weight_groups(weight, n_groups)
        score, target, weight = group_means(score, target, weight, first)
    own = clone(calibrator)
    if not isinstance(own, BinaryCalibrator):
        return own.fit(score, target, sample_weight=weight)
    own._fit(score, target, weight)  # the points were checked all together
    return own


def _predict(calibrator: Any, score: FloatArray) -> FloatArray:
    if isinstance(calibrator, BinaryCalibrator):
        return calibrator._proba(score)
    return calibrator.predict(score)
