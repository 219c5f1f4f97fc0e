"""Calibrators of one score: sigmoid, beta, isotonic, histogram. Venn-Abers has its own file."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit, log_expit

from calibrant._core.binning import equal_weight_groups, group_means, pool_ties
from calibrant._core.newton import minimize_convex
from calibrant._core.probability_floor import floor_frequencies, overall_frequency
from calibrant._core.typing import FloatArray
from calibrant.calibrators._base import BinaryCalibrator

# The gradient of the mean log loss at which a fit counts as found.
TOLERANCE = 1e-9
# Added to the Hessian alone: in directions that change nothing, a fit stays where it is.
SMALLEST_CURVATURE = 1e-12
# Scores closer than this are one score: the slope between them could overflow.
SMALLEST_SPREAD = 1e-300


class SigmoidCalibrator(BinaryCalibrator):
    """Platt scaling: a logistic curve of the score.

    Scores that all lie in [0, 1] are taken as probabilities, and their log odds are scaled.

    Attributes
    ----------
    slope_, intercept_ : float
        The probability is 1 / (1 + exp(-(slope * x + intercept))), where x is the score or
        its log odds.
    on_log_odds_ : bool
        Whether the scores were taken as probabilities.

    Notes
    -----
    With Platt's targets, (n_positive + 1) / (n_positive + 2) for positives and
    1 / (n_negative + 2) for negatives, separable data have a finite solution [1]_.

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
        self._n_rows, self._overall = weight.sum(), overall_frequency(target, weight)
        positive = weight @ target
        high = (positive + 1.0) / (positive + 2.0)
        low = 1.0 / (weight.sum() - positive + 2.0)
        x = self._input(score)
        # Centered and scaled inputs keep the two parameters apart. Where all scores are equal,
        # the median is exactly theirs, and the mean is not.
        center = np.median(x)
        spread = np.abs(x - center).mean()
        scale = spread if spread > SMALLEST_SPREAD else 1.0
        inputs = np.column_stack([(x - center) / scale, np.ones(len(x))])
        slope, level = _fit_logistic(inputs, low + (high - low) * target, weight)
        self.slope_ = slope / scale
        self.intercept_ = level - slope * center / scale

    def _proba(self, score: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # a margin beyond all numbers is as certain as can be
            proba = expit(self.slope_ * self._input(score) + self.intercept_)
        return floor_frequencies(proba, self._n_rows, self._overall)

    def _input(self, score: FloatArray) -> FloatArray:
        if not self.on_log_odds_:
            return score
        limited = floor_frequencies(score, self._n_rows, self._overall)
        return np.log(limited) - np.log1p(-limited)


class BetaCalibrator(BinaryCalibrator):
    """Beta calibration: a logistic curve in log(score) and log(1 - score).

    Attributes
    ----------
    coef_ : ndarray of shape (2,)
        The coefficients of log(score) and -log(1 - score), 0 or more.
    intercept_ : float
        The intercept.

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
        self._n_rows, self._overall = weight.sum(), overall_frequency(target, weight)
        found = _fit_rising(self._inputs(score), target, weight)
        self.coef_, self.intercept_ = found[:2], float(found[2])

    def _proba(self, score: FloatArray) -> FloatArray:
        proba = expit(self._inputs(score) @ self.coef_ + self.intercept_)
        return floor_frequencies(proba, self._n_rows, self._overall)

    def _inputs(self, score: FloatArray) -> FloatArray:
        if len(score) and not (score.min() >= 0 and score.max() <= 1):
            raise ValueError(
                f"score must lie in [0, 1] for beta calibration. Got values from {score.min():g} "
                f"to {score.max():g}. Use SigmoidCalibrator for decision values."
            )
        limited = floor_frequencies(score, self._n_rows, self._overall)
        return np.column_stack([np.log(limited), -np.log1p(-limited)])


class IsotonicCalibrator(BinaryCalibrator):
    """Isotonic regression, no level more certain than the rows behind it allow.

    Parameters
    ----------
    centered : bool, default=False
        Whether each level of the step function becomes one point, at the mean of its scores,
        with straight lines between the points: then distinct scores stay distinct [1]_.

    Attributes
    ----------
    X_thresholds_, y_thresholds_ : ndarray of shape (n_thresholds,)
        The fitted map: linear between these points, constant outside them.

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
        # Small levels are limited more than large ones; what that puts out of order is merged.
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
    """The share of positives in bins that hold about equally many rows.

    Parameters
    ----------
    n_bins : int, default=10
        The number of bins; fewer where scores are tied.

    Attributes
    ----------
    edges_ : ndarray of shape (n_bins - 1,)
        Where one bin ends and the next begins.
    shares_ : ndarray of shape (n_bins,)
        The share of positives in each bin, no more certain than its rows allow.

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
                f"n_bins must be a whole number, at least 1. Got {self.n_bins!r}. Use 10."
            )
        overall = overall_frequency(target, weight)
        score, target, weight = pool_ties(score, target, weight)
        first = equal_weight_groups(weight, self.n_bins)
        _, share, n_rows = group_means(score, target, weight, first)
        self.shares_ = floor_frequencies(share, n_rows, overall)
        self.edges_ = (score[first[1:] - 1] + score[first[1:]]) / 2.0

    def _proba(self, score: FloatArray) -> FloatArray:
        return self.shares_[np.searchsorted(self.edges_, score, side="right")]


def _fit_logistic(inputs: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """Coefficients of the logistic regression of shares on the inputs, by Newton steps."""
    share = weight / weight.sum()

    def loss(coef: FloatArray) -> tuple[float, FloatArray]:
        margin = inputs @ coef
        value = -share @ (target * log_expit(margin) + (1.0 - target) * log_expit(-margin))
        return float(value), (share * (expit(margin) - target)) @ inputs

    def hessian(coef: FloatArray) -> FloatArray:
        proba = expit(inputs @ coef)
        curvature = (inputs * (share * proba * (1.0 - proba))[:, None]).T @ inputs
        return curvature + SMALLEST_CURVATURE * np.eye(len(coef))

    return minimize_convex(loss, hessian, inputs.shape[1], TOLERANCE)


def _fit_rising(inputs: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """Logistic regression on two inputs, with coefficients of 0 or more, and an intercept.

    The problem is convex: if the fit without bounds is out of bounds, the solution lies on
    them, where one of the inputs is left out, or both.
    """
    best, best_loss = np.zeros(3), np.inf
    for kept in ([0, 1], [0], [1], []):
        columns = np.column_stack([inputs[:, kept], np.ones(len(inputs))])
        coef = _fit_logistic(columns, target, weight)
        if (coef[:-1] < 0).any():
            continue
        margin = columns @ coef
        loss = -weight @ (target * log_expit(margin) + (1.0 - target) * log_expit(-margin))
        if loss < best_loss:
            best, best_loss = np.zeros(3), loss
            best[[*kept, 2]] = coef
        if len(kept) == 2:
            break
    return best
