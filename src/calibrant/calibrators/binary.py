"""Binary calibrators: sigmoid, beta, isotonic and histogram."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit, log_expit

from calibrant._core.binning import equal_weight_groups, group_means, pool_ties
from calibrant._core.newton import minimize_convex
from calibrant._core.probability_floor import floor_frequencies, overall_frequency
from calibrant._core.typing import FloatArray
from calibrant.calibrators._base import BinaryCalibrator

# The norm of the gradient of the mean log loss at which a fit has converged.
TOLERANCE = 1e-9
# Added to the diagonal of the Hessian, so that parameters without effect on the loss stay at 0.
SMALLEST_CURVATURE = 1e-12
# Losses that differ by less than this proportion are tied.
LOSS_ROUNDING = 1e-12
# Scores that differ by less than this, relative to the largest, are equal up to rounding, and a
# slope between them would be meaningless. Below the absolute limit, it could overflow.
ROUNDING, SMALLEST_SPREAD = 16 * float(np.finfo(float).eps), 1e-300


class _ParametricCalibrator(BinaryCalibrator):
    """Base class of parametric maps, whose probabilities are based on all rows."""

    _n_rows: float
    _overall: float

    def _count_rows(self, target: FloatArray, weight: FloatArray) -> None:
        self._n_rows, self._overall = weight.sum(), overall_frequency(target, weight)

    def _apply_floor(self, proba: FloatArray) -> FloatArray:
        """Keep probabilities away from 0 and 1 by the probability floor of all rows."""
        return floor_frequencies(proba, self._n_rows, self._overall)


class SigmoidCalibrator(_ParametricCalibrator):
    r"""Platt scaling: a logistic function of the score.

    If all scores lie in [0, 1], they are treated as probabilities, and their log odds are
    scaled.

    Attributes
    ----------
    slope_, intercept_ : float
        The slope and the intercept of the logistic function.
    on_log_odds_ : bool
        Whether the scores were treated as probabilities.

    Notes
    -----
    With :math:`x` the score or its log odds, the probability is

    .. math:: p = \frac{1}{1 + \exp(-(a x + b))},

    where the slope :math:`a` and the intercept :math:`b` minimize the log loss with the targets
    [1]_ :math:`(n_+ + 1) / (n_+ + 2)` for the :math:`n_+` positive and :math:`1 / (n_- + 2)` for
    the :math:`n_-` negative rows. With these targets, the solution is finite even for separable
    data.

    The probability floor, which depends on the number of rows, keeps probabilities away from 0
    and 1.

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines and comparisons to
           regularized likelihood methods", 1999.

    Examples
    --------
    >>> from calibrant.calibrators import SigmoidCalibrator
    >>> sigmoid = SigmoidCalibrator().fit([-2, -1, 1, 2], [0, 0, 1, 1])
    >>> sigmoid.predict([-2, 0, 2]).round(2)
    array([0.21, 0.5 , 0.79])
    """

    slope_: float
    intercept_: float
    on_log_odds_: bool

    def _fit(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> None:
        self.on_log_odds_ = bool(score.min() >= 0 and score.max() <= 1)
        self._count_rows(target, weight)
        n_positive = weight @ target
        high = (n_positive + 1.0) / (n_positive + 2.0)
        low = 1.0 / (weight.sum() - n_positive + 2.0)
        x = self._input(score)
        standard, center, scale = _standardize(x, weight, are_equal=_are_equal(score))
        inputs = np.column_stack([standard, np.ones(len(x))])
        slope, intercept = _fit_logistic(inputs, low + (high - low) * target, weight)
        if abs(slope) <= TOLERANCE:
            slope = 0.0  # rounding, which scores far from those of the fit would magnify
        self.slope_ = slope / scale
        self.intercept_ = intercept - slope * center / scale

    def _proba(self, score: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # an infinite margin gives 0 or 1, which is floored
            proba = expit(self.slope_ * self._input(score) + self.intercept_)
        return self._apply_floor(proba)

    def _input(self, score: FloatArray) -> FloatArray:
        """Return the score or its log odds."""
        if not self.on_log_odds_:
            return score
        floored = self._apply_floor(score)
        return np.log(floored) - np.log1p(-floored)


class BetaCalibrator(_ParametricCalibrator):
    r"""Beta calibration: a logistic function of the logarithms of the score and its complement.

    Scores must lie in [0, 1].

    Attributes
    ----------
    coef_ : ndarray of shape (2,)
        The coefficients :math:`a` and :math:`b`.
    intercept_ : float
        The intercept :math:`c`.

    Notes
    -----
    The probability for the score :math:`s` is [1]_

    .. math:: p = \frac{1}{1 + \exp(-(a \log s - b \log(1 - s) + c))}
        \quad \text{with} \quad a, b \ge 0,

    where the parameters minimize the log loss. The probability floor, which depends on the number
    of rows, keeps scores and probabilities away from 0 and 1.

    References
    ----------
    .. [1] M. Kull, T. Silva Filho and P. Flach, "Beta calibration: a well-founded and easily
           implemented improvement on logistic calibration for binary classifiers", AISTATS,
           2017.

    Examples
    --------
    >>> from calibrant.calibrators import BetaCalibrator
    >>> beta = BetaCalibrator().fit([0.9, 0.9, 0.9, 0.1, 0.1, 0.1], [1, 1, 0, 0, 0, 1])
    >>> beta.predict([0.1, 0.9]).round(2)
    array([0.33, 0.67])
    """

    coef_: FloatArray
    intercept_: float

    def _fit(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> None:
        self._count_rows(target, weight)
        # If all rows are on one side, nothing shows an effect of the score.
        are_equal = _are_equal(score) or target.min() == target.max()
        columns = [_standardize(column, weight, are_equal) for column in self._inputs(score).T]
        standard, center, scale = map(np.array, zip(*columns, strict=True))
        coef = _fit_increasing_logistic(standard.T, target, weight)
        self.coef_ = coef[:2] / scale
        self.intercept_ = float(coef[2] - self.coef_ @ center)

    def _proba(self, score: FloatArray) -> FloatArray:
        return self._apply_floor(expit(self._inputs(score) @ self.coef_ + self.intercept_))

    def _inputs(self, score: FloatArray) -> FloatArray:
        """Return log s and -log(1 - s) as columns."""
        if len(score) and not (score.min() >= 0 and score.max() <= 1):
            raise ValueError(
                f"score must lie in [0, 1] for beta calibration, got values from {score.min():g} "
                f"to {score.max():g}. For decision values, use SigmoidCalibrator."
            )
        floored = self._apply_floor(score)
        return np.column_stack([np.log(floored), -np.log1p(-floored)])


class IsotonicCalibrator(BinaryCalibrator):
    """Isotonic regression with a probability floor.

    The probability floor keeps each level of the step function away from 0 and 1. It depends on
    the number of rows at that level.

    Parameters
    ----------
    centered : bool, default=False
        Whether to replace each level of the step function with a single point at the mean of
        its scores and to interpolate linearly between the points. Distinct scores then get
        distinct probabilities [1]_.

    Attributes
    ----------
    X_thresholds_, y_thresholds_ : ndarray of shape (n_thresholds,)
        The points of the fitted map, which is linear between them and constant outside.

    References
    ----------
    .. [1] A. P. Oron and N. Flournoy, "Centered isotonic regression: point and interval
           estimation for dose-response studies", Statistics in Biopharmaceutical Research
           9(3), 2017.

    Examples
    --------
    >>> from calibrant.calibrators import IsotonicCalibrator
    >>> IsotonicCalibrator().fit([1, 2, 3, 4], [0, 1, 0, 1]).predict([1, 2, 3, 4]).round(2)
    array([0.17, 0.5 , 0.5 , 0.83])
    """

    X_thresholds_: FloatArray
    y_thresholds_: FloatArray

    def __init__(self, *, centered: bool = False):
        self.centered = centered

    def _fit(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> None:
        overall = overall_frequency(target, weight)
        score, target, weight = pool_ties(score, target, weight)
        first = isotonic_regression(target, weights=weight).blocks[:-1]
        center, level, n_rows = group_means(score, target, weight, first)
        # The floor moves levels with few rows more than others, so merge those now out of order.
        level = floor_frequencies(level, n_rows, overall)
        merged = isotonic_regression(level, weights=n_rows).blocks[:-1]
        center, level, _ = group_means(center, level, n_rows, merged)
        first = first[merged]
        if self.centered:
            self.X_thresholds_, self.y_thresholds_ = center, level
        else:
            last = np.r_[first[1:], len(score)] - 1
            ends = np.column_stack([first, last]).ravel()
            self.X_thresholds_, kept = np.unique(score[ends], return_index=True)
            self.y_thresholds_ = np.repeat(level, 2)[kept]

    def _proba(self, score: FloatArray) -> FloatArray:
        return np.interp(score, self.X_thresholds_, self.y_thresholds_)


class HistogramCalibrator(BinaryCalibrator):
    """Histogram binning: the frequency of positives in bins with equal numbers of rows [1]_.

    Parameters
    ----------
    n_bins : int, default=10
        The number of bins. There may be fewer if scores are tied.

    Attributes
    ----------
    edges_ : ndarray of shape (n_bins - 1,)
        The edges between the bins.
    shares_ : ndarray of shape (n_bins,)
        The frequency of positives in each bin, kept away from 0 and 1 by the probability floor.

    References
    ----------
    .. [1] B. Zadrozny and C. Elkan, "Obtaining calibrated probability estimates from decision
           trees and naive Bayesian classifiers", ICML, 2001.

    Examples
    --------
    >>> from calibrant.calibrators import HistogramCalibrator
    >>> HistogramCalibrator(n_bins=2).fit([1, 2, 3, 4], [0, 1, 1, 1]).predict([0, 9]).round(2)
    array([0.5 , 0.94])
    """

    edges_: FloatArray
    shares_: FloatArray

    def __init__(self, *, n_bins: int = 10):
        self.n_bins = n_bins

    def _fit(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> None:
        if not (isinstance(self.n_bins, int | np.integer) and self.n_bins >= 1):
            raise ValueError(
                f"n_bins must be an integer of at least 1, got {self.n_bins!r}. Use 10."
            )
        overall = overall_frequency(target, weight)
        score, target, weight = pool_ties(score, target, weight)
        first = equal_weight_groups(weight, self.n_bins)
        _, frequency, n_rows = group_means(score, target, weight, first)
        self.shares_ = floor_frequencies(frequency, n_rows, overall)
        self.edges_ = (score[first[1:] - 1] + score[first[1:]]) / 2.0

    def _proba(self, score: FloatArray) -> FloatArray:
        return self.shares_[np.searchsorted(self.edges_, score, side="right")]


def _are_equal(score: FloatArray) -> bool:
    """Return whether scores are equal up to rounding."""
    return bool(np.ptp(score) <= ROUNDING * np.abs(score).max())


def _standardize(
    inputs: FloatArray, weight: FloatArray, are_equal: bool
) -> tuple[FloatArray, float, float]:
    """Center and scale inputs, which makes a problem well conditioned.

    Equal ones become 0, with an infinite scale, so that their coefficient is 0 as well. The median
    of equal inputs is exactly that input, which rounding does not guarantee for their mean. Both
    statistics are weighted: if there is no finite solution, it depends on them where the fit stops,
    and a row of weight 2 is two rows.
    """
    center = _weighted_median(inputs, weight)
    spread = float(np.average(np.abs(inputs - center), weights=weight))
    if are_equal or spread <= SMALLEST_SPREAD:
        return np.zeros_like(inputs), center, np.inf
    return (inputs - center) / spread, center, spread


def _weighted_median(values: FloatArray, weight: FloatArray) -> float:
    """Return the median of values that are repeated as often as their weights say."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order]) / weight.sum()
    low, high = np.searchsorted(total, [0.5 - ROUNDING, 0.5 + ROUNDING])
    return float((values[order[low]] + values[order[high]]) / 2.0)


def _fit_logistic(inputs: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the coefficients of a logistic regression with targets in [0, 1]."""
    proportion = weight / weight.sum()

    def loss(coef: FloatArray) -> tuple[float, FloatArray]:
        margin = inputs @ coef
        gradient = (proportion * (expit(margin) - target)) @ inputs
        return _log_loss(margin, target, proportion), gradient

    def hessian(coef: FloatArray) -> FloatArray:
        proba = expit(inputs @ coef)
        curvature = (inputs * (proportion * proba * (1.0 - proba))[:, None]).T @ inputs
        return curvature + SMALLEST_CURVATURE * np.eye(len(coef))

    return minimize_convex(loss, hessian, inputs.shape[1], TOLERANCE)


def _fit_increasing_logistic(
    inputs: FloatArray, target: FloatArray, weight: FloatArray
) -> FloatArray:
    """Return two non-negative coefficients and the intercept of a logistic regression.

    The problem is convex: if the unconstrained solution has a negative coefficient, the
    constrained one lies on the boundary, where one or both of the inputs are left out.
    """
    best, best_loss = np.zeros(3), float(np.finfo(float).max)
    for kept in ([0, 1], [0], [1], []):
        columns = np.column_stack([inputs[:, kept], np.ones(len(inputs))])
        coef = _fit_logistic(columns, target, weight)
        if (coef[:-1] < 0).any():
            continue
        loss = _log_loss(columns @ coef, target, weight)
        if loss < best_loss - LOSS_ROUNDING * abs(best_loss):
            best, best_loss = np.zeros(3), loss
            best[[*kept, 2]] = coef
        if len(kept) == 2:
            break
    return best


def _log_loss(margin: FloatArray, target: FloatArray, weight: FloatArray) -> float:
    """Return the weighted sum of the log losses of ``expit(margin)``."""
    return float(-weight @ (target * log_expit(margin) + (1.0 - target) * log_expit(-margin)))
