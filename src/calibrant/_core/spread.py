"""How far class probabilities may be from the true ones, given models fitted on resampled rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from calibrant._core.typing import FloatArray

# Resampled models do not show that a model is somewhat wrong for the data. Of the simulated models
# in results/intervals, those of the right form would need a factor near 1.
INFLATION = 1.5
# Uncalibrated scores can be 0. Smaller ones would dominate the variance of their logarithms.
LEAST_SCORE = 1e-3
# A variance of p (1 - p) would leave only 0 and 1.
MOST_VARIANCE = 0.9


@dataclass(frozen=True, eq=False)
class Replicates:
    """Class probabilities of the same rows by models fitted on different training rows.

    Attributes
    ----------
    uncalibrated : ndarray of shape (n_models, n_rows, n_classes)
        Probabilities before calibration.
    calibrated : ndarray of shape (n_models, n_rows, n_classes)
        Probabilities after calibration.
    factor : ndarray of shape (n_models,)
        The factors from the variance among such models to that among data sets.
    """

    uncalibrated: FloatArray
    calibrated: FloatArray
    factor: FloatArray

    def variance(self) -> FloatArray:
        r"""Estimate the variance of the true probabilities of each row, summed over classes.

        Returns
        -------
        ndarray of shape (n_rows,)
            The variances.

        Notes
        -----
        Let a score be the sum of a signal with variance :math:`\tau^2` and of noise with variance
        :math:`\sigma^2`. Calibration multiplies it by :math:`s = \tau^2 / (\tau^2 + \sigma^2)`. The
        variance of the calibrated score among data sets is then :math:`s^2 \sigma^2`, but that of
        the signal given the score is :math:`s \sigma^2`. So the variance of the calibrated
        probabilities is divided by :math:`s`, which is the ratio of the standard deviations of
        calibrated and uncalibrated log probabilities, or 1 if that is less.
        """
        before = self._spread(_centered_log(self.uncalibrated))
        after = self._spread(_centered_log(self.calibrated))
        shrinkage = np.sqrt(np.divide(after, before, out=np.ones_like(after), where=after < before))
        spread = self._spread(self.calibrated)
        return np.divide(spread, shrinkage, out=np.zeros_like(spread), where=shrinkage > 0)

    def _spread(self, values: FloatArray) -> FloatArray:
        """Return the variance of each row among data sets, summed over classes."""
        deviation = values - values.mean(axis=0)
        return np.einsum("m,mik->i", self.factor / len(values), deviation**2)


def binomial_variance(proba: FloatArray) -> FloatArray:
    """Return p (1 - p) of each row, summed over classes."""
    return np.einsum("ik->i", proba * (1.0 - proba))


def dirichlet_interval(
    proba: FloatArray, relative_variance: FloatArray | float, n_rows: float, level: float = 0.95
) -> FloatArray:
    r"""Return intervals for the true probabilities of each row.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_classes)
        Calibrated probabilities.
    relative_variance : ndarray of shape (n_rows,) or float
        The variance of the true probabilities as a fraction of p (1 - p), which is the largest
        variance of a number between 0 and 1 with mean p.
    n_rows : float
        The number of training rows.
    level : float, default=0.95
        The confidence level.

    Returns
    -------
    ndarray of shape (n_rows, n_classes, 2)
        The lower and upper ends; each interval contains its probability.

    Notes
    -----
    Calibrated probabilities are the means of the true ones. Given their means and a relative
    variance :math:`v`, the true probabilities are taken to have a Dirichlet distribution, so that
    that of each class has the beta distribution with parameters :math:`\nu p` and
    :math:`\nu (1 - p)`, where :math:`\nu = 1 / v - 1`.

    This distribution takes too little account of what no row shows: a class that is absent from n
    rows can still have a frequency of :math:`1 - \alpha^{1 / n}`, where :math:`\alpha` is half of 1
    minus the level. No upper end is lower than that, and no lower end closer to 1.
    """
    limited = np.minimum(relative_variance, MOST_VARIANCE)
    concentration = np.broadcast_to(1.0 / limited - 1.0, len(proba))[:, None]
    tail = (1.0 - level) / 2.0
    # There is no distribution with a mean of 0 or 1.
    inside = (proba > 0) & (proba < 1)
    safe = np.where(inside, proba, 0.5)
    ends = [
        betaincinv(concentration * safe, concentration * (1.0 - safe), quantile)
        for quantile in (tail, 1.0 - tail)
    ]
    low, high = (np.where(inside, end, proba) for end in ends)
    absent = 1.0 - tail ** (1.0 / n_rows)
    # The mean of a very skewed distribution can be beyond its quantiles.
    low = np.minimum(np.minimum(low, proba), 1.0 - absent)
    high = np.maximum(np.maximum(high, proba), absent)
    return np.stack([low, high], axis=2)


def _centered_log(proba: FloatArray) -> FloatArray:
    logarithm = np.log(np.maximum(proba, LEAST_SCORE))
    return logarithm - logarithm.mean(axis=2, keepdims=True)
