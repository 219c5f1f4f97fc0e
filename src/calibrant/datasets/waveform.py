"""Breiman's waveform generator: three classes and 21 noisy features."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from calibrant._core.typing import FloatArray, IndexArray


def make_waveform(
    n_samples: int = 300, *, random_state: int | np.random.RandomState | None = None
) -> tuple[FloatArray, IndexArray]:
    """Draw samples from Breiman's waveform generator.

    A sample is a random convex combination of two of three triangular waves, measured at 21
    points with Gaussian noise of unit variance. Its class tells which two waves are combined
    [1]_.

    Parameters
    ----------
    n_samples : int, default=300
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seeds the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
        The features.
    y : ndarray of shape (n_samples,)
        The classes 0, 1 and 2, which are equally likely.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and
           Regression Trees", Wadsworth, 1984, pp. 49-55.

    Examples
    --------
    >>> from calibrant.datasets import make_waveform
    >>> X, y = make_waveform(5, random_state=0)
    >>> X.shape, y
    ((5, 21), array([0, 1, 0, 1, 1]))
    """
    if n_samples < 1:
        raise ValueError(
            f"n_samples must be at least 1, got {n_samples}. Omit it to draw 300 samples."
        )
    rng = check_random_state(random_state)
    y = rng.randint(3, size=n_samples)
    mixing = rng.uniform(size=(n_samples, 1))
    noise = rng.standard_normal((n_samples, 21))

    points = np.arange(1, 22)
    waves = np.maximum(6.0 - np.abs(points - np.array([[7], [15], [11]])), 0.0)
    # Class 0 combines the first wave with the second, class 1 the first with the third, and
    # class 2 the second with the third.
    first, second = waves[[0, 0, 1]], waves[[1, 2, 2]]
    return mixing * first[y] + (1.0 - mixing) * second[y] + noise, y
