"""Confidence limits of proportions."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from calibrant._core.typing import FloatArray


def wilson_interval(
    frequency: FloatArray, n_rows: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of Wilson's score interval.

    Parameters
    ----------
    frequency : ndarray
        Observed frequencies.
    n_rows : ndarray
        The number of independent rows behind each, which need not be an integer.
    level : float
        The confidence level.

    Returns
    -------
    low, high : ndarray
        The limits.
    """
    z2 = ndtri(0.5 + level / 2) ** 2
    scale = 1 + z2 / n_rows
    center = (frequency + z2 / (2 * n_rows)) / scale
    half = np.sqrt(z2 / n_rows * (frequency * (1 - frequency) + z2 / (4 * n_rows))) / scale
    # Rounding must not push a limit past the frequency.
    return np.clip(center - half, 0.0, frequency), np.clip(center + half, frequency, 1.0)
