"""Venn-Abers: two isotonic fits a score, and the interval between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from calibrant._core.binning import pool_ties
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators._base import BinaryCalibrator
from calibrant.calibrators._validation import check_score


class VennAbersCalibrator(BinaryCalibrator):
    """Inductive Venn-Abers prediction: isotonic regression with the new row in it.

    The new row is added once as a negative and once as a positive. The two fitted values at
    its score are an interval, one end of which is right; the probability is the value
    between that loses least in log loss, whichever it is [1]_. It is never 0 or 1.

    Attributes
    ----------
    scores_ : ndarray of shape (n_scores,)
        The distinct scores seen.
    lower_, upper_ : ndarray of shape (2 * n_scores + 1,)
        The ends of the interval for new scores: below the first one seen, at it, between it
        and the second, and so on.

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
        self.lower_ = _fits_with_one_more(target, weight, 0.0)
        self.upper_ = _fits_with_one_more(target, weight, 1.0)

    def _proba(self, score: FloatArray) -> FloatArray:
        lower, upper = self._interval(score).T
        return upper / (1.0 - lower + upper)

    def predict_interval(self, T: ArrayLike) -> FloatArray:
        """Lower and upper probability for new scores.

        Parameters
        ----------
        T : array-like of shape (n_samples,) or (n_samples, 1)
            Scores on the scale of the scores given to ``fit``.

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


def _fits_with_one_more(target: FloatArray, weight: FloatArray, label: float) -> FloatArray:
    """Isotonic fit at one more point of weight 1, for every place it can have.

    The places are: before the first point, tied with it, between it and the second, ... The
    fit around a place starts from the isotonic fits of all points before it and of all
    points after it, which are the same for many places, and merges the groups next to the
    new point into it as long as they are out of order.
    """
    n_points = len(target)
    mass = np.r_[0.0, np.cumsum(weight)]
    total = np.r_[0.0, np.cumsum(weight * target)]
    before = _last_group_starts(target, weight)
    after = n_points - _last_group_starts(1.0 - target[::-1], weight[::-1])[::-1]

    fits = np.empty(2 * n_points + 1)
    for place in range(2 * n_points + 1):
        start, stop = place // 2, (place + 1) // 2
        own_mass, own_total = 1.0, label
        own_mass += mass[stop] - mass[start]
        own_total += total[stop] - total[start]
        while True:
            mean = own_total / own_mass
            left = before[start] if start > 0 else start
            right = after[stop] if stop < n_points else stop
            if start > 0 and (total[start] - total[left]) >= mean * (mass[start] - mass[left]):
                own_mass += mass[start] - mass[left]
                own_total += total[start] - total[left]
                start = left
            elif stop < n_points and (
                total[right] - total[stop] <= mean * (mass[right] - mass[stop])
            ):
                own_mass += mass[right] - mass[stop]
                own_total += total[right] - total[stop]
                stop = right
            else:
                break
        fits[place] = mean
    return np.clip(fits, 0.0, 1.0)


def _last_group_starts(target: FloatArray, weight: FloatArray) -> IndexArray:
    """Where the last group of the isotonic fit of the first i points starts, for each i."""
    starts = np.zeros(len(target) + 1, dtype=np.intp)
    stack: list[tuple[int, float, float]] = []
    for i, (own, mass) in enumerate(zip(target, weight, strict=True)):
        start, total = i, own * mass
        while stack and stack[-1][2] * mass >= total * stack[-1][1]:
            start, other_mass, other_total = stack.pop()
            mass, total = mass + other_mass, total + other_total
        stack.append((start, mass, total))
        starts[i + 1] = start
    return starts
