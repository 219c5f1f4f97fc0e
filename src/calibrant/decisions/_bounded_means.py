"""Confidence intervals for means of bounded values, such as costs and benefits of decisions."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from calibrant._core.records import Interval
from calibrant._core.typing import FloatArray

# Half a row with the smallest and half a row with the largest possible value are added to the
# variance, but not to the mean. Without them, a few rows may by chance all have the same value.
PSEUDO_COUNT = 0.5


def bounded_mean(
    values: FloatArray, weight: FloatArray, bounds: tuple[float, float], level: float
) -> Interval:
    """Return the mean of bounded values with its confidence interval.

    Parameters
    ----------
    values, weight : ndarray of shape (n_rows,)
        The value of each row, and its weight as a number of rows.
    bounds : tuple of float
        The smallest and the largest possible value.
    level : float
        The confidence level.

    Returns
    -------
    Interval
        The mean, with limits of Student's t.
    """
    n_rows = float(weight.sum())
    mean = float(weight @ values) / n_rows
    extended = np.concatenate([values, bounds])
    counts = np.concatenate([weight, [PSEUDO_COUNT] * 2])
    total = n_rows + 2 * PSEUDO_COUNT
    center = float(counts @ extended) / total
    variance = float(counts @ (extended - center) ** 2) / total / (total - 1.0)
    quantile = float(stdtrit(max(n_rows - 1.0, 1.0), 0.5 + level / 2))
    half = quantile * variance**0.5
    return Interval(mean, max(mean - half, bounds[0]), min(mean + half, bounds[1]), level)
