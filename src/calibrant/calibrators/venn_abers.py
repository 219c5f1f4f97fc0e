"""Venn-Abers prediction: two isotonic fits per score, and the interval between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from calibrant._core.binning import pool_ties
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators._base import BinaryCalibrator
from calibrant.calibrators._validation import check_score


class VennAbersCalibrator(BinaryCalibrator):
    r"""Inductive Venn-Abers prediction.

    Isotonic regression is fitted twice for each new row: once with the row added as a negative,
    and once with the row added as a positive. The two fitted values at its score are the ends of
    an interval, from which a single probability is derived. It is never 0 or 1.

    Attributes
    ----------
    scores_ : ndarray of shape (n_scores,)
        The distinct scores seen during ``fit``.
    lower_, upper_ : ndarray of shape (2 * n_scores + 1,)
        The ends of the interval for new scores below the first of ``scores_``, equal to it,
        between it and the second one, and so on.

    Notes
    -----
    With the interval :math:`[p_0, p_1]`, the probability is

    .. math:: p = \frac{p_1}{1 - p_0 + p_1},

    which has the same regret in log loss whichever end is right [1]_.

    References
    ----------
    .. [1] V. Vovk, I. Petej and V. Fedorova, "Large-scale probabilistic predictors with and
           without guarantees of validity", NeurIPS, 2015.

    Examples
    --------
    >>> from calibrant.calibrators import VennAbersCalibrator
    >>> venn = VennAbersCalibrator().fit([1, 2, 3, 4], [0, 0, 1, 1])
    >>> venn.predict_interval([1, 4]).round(2)
    array([[0.  , 0.33],
           [0.67, 1.  ]])
    >>> venn.predict([1, 4]).round(2)
    array([0.25, 0.75])
    """

    scores_: FloatArray
    lower_: FloatArray
    upper_: FloatArray

    def _fit(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> None:
        self.scores_, target, weight = pool_ties(score, target, weight)
        self.lower_ = _fits_with_new_point(target, weight, 0.0)
        self.upper_ = _fits_with_new_point(target, weight, 1.0)

    def _proba(self, score: FloatArray) -> FloatArray:
        lower, upper = self._interval(score).T
        return upper / (1.0 - lower + upper)

    def predict_interval(self, T: ArrayLike) -> FloatArray:
        """Predict lower and upper probabilities.

        Parameters
        ----------
        T : array-like of shape (n_samples,) or (n_samples, 1)
            Scores, on the same scale as those passed to ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The ends of the interval.
        """
        check_is_fitted(self)
        return self._interval(check_score(T))

    def _interval(self, score: FloatArray) -> FloatArray:
        place = np.searchsorted(self.scores_, score, side="left") + np.searchsorted(
            self.scores_, score, side="right"
        )
        return np.column_stack([self.lower_[place], self.upper_[place]])


def _fits_with_new_point(target: FloatArray, weight: FloatArray, label: float) -> FloatArray:
    """Return the isotonic fit at a new point of weight 1, for each possible place of the point.

    The possible places are before the first point, tied with it, between it and the second one,
    and so on. The fit at a place starts from the isotonic fits of the points before it and of the
    points after it. It merges neighboring groups with the group of the new point as long as they
    are out of order.
    """
    n_points = len(target)
    cumulative_weight = np.r_[0.0, np.cumsum(weight)]
    cumulative_total = np.r_[0.0, np.cumsum(weight * target)]
    group_before = _last_group_starts(target, weight)
    group_after = n_points - _last_group_starts(-target[::-1], weight[::-1])[::-1]

    fits = np.empty(2 * n_points + 1)
    for place in range(2 * n_points + 1):
        start, stop = place // 2, (place + 1) // 2
        group_weight = 1.0 + (cumulative_weight[stop] - cumulative_weight[start])
        group_total = label + (cumulative_total[stop] - cumulative_total[start])
        while True:
            mean = group_total / group_weight
            if start > 0:
                left = group_before[start]
                left_weight = cumulative_weight[start] - cumulative_weight[left]
                left_total = cumulative_total[start] - cumulative_total[left]
                if left_total >= mean * left_weight:
                    group_weight += left_weight
                    group_total += left_total
                    start = left
                    continue
            if stop < n_points:
                right = group_after[stop]
                right_weight = cumulative_weight[right] - cumulative_weight[stop]
                right_total = cumulative_total[right] - cumulative_total[stop]
                if right_total <= mean * right_weight:
                    group_weight += right_weight
                    group_total += right_total
                    stop = right
                    continue
            break
        fits[place] = mean
    return np.clip(fits, 0.0, 1.0)


def _last_group_starts(target: FloatArray, weight: FloatArray) -> IndexArray:
    """Return, for each i, the start of the last group in the isotonic fit of the first i points."""
    starts = np.zeros(len(target) + 1, dtype=np.intp)
    groups: list[tuple[int, float, float]] = []  # start, weight and total
    for i, (point_target, point_weight) in enumerate(zip(target, weight, strict=True)):
        start, group_weight, group_total = i, point_weight, point_target * point_weight
        while groups and groups[-1][2] * group_weight >= group_total * groups[-1][1]:
            start, left_weight, left_total = groups.pop()
            group_weight, group_total = group_weight + left_weight, group_total + left_total
        groups.append((start, group_weight, group_total))
        starts[i + 1] = start
    return starts
