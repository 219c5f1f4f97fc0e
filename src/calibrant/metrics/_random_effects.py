"""Estimates of several groups, shrunk toward each other by their noise."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, softmax

from calibrant._core.typing import FloatArray

# The prior median of the spread between groups, in typical standard errors.
PRIOR_SCALE = 4.0
# The number of values of the spread between groups that are averaged over.
N_SPREADS = 100
# No quantile is farther from the means than this many standard deviations.
REACH = 10.0
# Halvings that locate a quantile to far less than its printed digits.
N_HALVINGS = 30


def shrink(
    estimate: FloatArray, error: FloatArray, level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Shrink estimates toward their common mean.

    Parameters
    ----------
    estimate, error : ndarray of shape (n_groups,)
        The estimate of each group and its positive standard error.
    level : float
        The level of the intervals.

    Returns
    -------
    shrunken, low, high : ndarray of shape (n_groups,)
        Posterior means and intervals.

    Notes
    -----
    In the random-effects model :math:`d_g \sim N(\delta_g, s_g^2)`,
    :math:`\delta_g \sim N(\mu, \tau^2)`, the mean :math:`\mu` has a flat prior. With few groups,
    the spread :math:`\tau` is hardly known, so the posterior averages over it rather than taking
    one estimate of it, which is often 0. Its prior is :math:`a / {(a + \tau)}^2`, whose median
    :math:`a` is four times :math:`s_0`, with :math:`s_0^2` the harmonic mean of the :math:`s_g^2`.
    With :math:`a = s_0`, for which the amount of shrinkage is uniform [1]_, 95% intervals of
    normal estimates of four or eight groups cover only 91 to 93% if :math:`\tau` is once or twice
    :math:`s_0`; with four times, 93 to 96%, at nearly the same squared error.

    References
    ----------
    .. [1] W. DuMouchel, "Hierarchical Bayes linear models for meta-analysis", Technical Report 27,
           National Institute of Statistical Sciences, 1994.
    """
    variance = error**2
    scale = PRIOR_SCALE * np.sqrt(1.0 / np.mean(1.0 / variance))
    uniform = (np.arange(N_SPREADS) + 0.5) / N_SPREADS
    spread2 = (scale * uniform / (1.0 - uniform))[:, None] ** 2
    precision = 1.0 / (variance + spread2)
    total = precision.sum(axis=1, keepdims=True)
    common = (precision * estimate).sum(axis=1, keepdims=True) / total
    # All spreads have the same prior weight, so the likelihood alone is their posterior weight.
    log_weight = 0.5 * (
        np.log(precision).sum(axis=1)
        - np.log(total[:, 0])
        - (precision * (estimate - common) ** 2).sum(axis=1)
    )
    weight = softmax(log_weight)[:, None]
    pull = variance * precision
    mean = (1.0 - pull) * estimate + pull * common
    deviation = np.sqrt((1.0 - pull) * variance + pull**2 / total)
    ends = [_quantile(0.5 + sign * level / 2, mean, deviation, weight) for sign in (-1, 1)]
    return (weight * mean).sum(axis=0), *ends


def _quantile(
    wanted: float, mean: FloatArray, deviation: FloatArray, weight: FloatArray
) -> FloatArray:
    """Return a quantile of each column's mixture of normal distributions."""
    reach = REACH * deviation
    low, high = (mean - reach).min(axis=0), (mean + reach).max(axis=0)
    for _ in range(N_HALVINGS):
        middle = 0.5 * (low + high)
        is_below = (weight * ndtr((middle - mean) / deviation)).sum(axis=0) < wanted
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return 0.5 * (low + high)
