"""Labels drawn from class probabilities."""

from __future__ import annotations

import numpy as np

from calibrant._core.typing import FloatArray, IndexArray


def draw_labels(proba: FloatArray, n_vectors: int, rng: np.random.RandomState) -> IndexArray:
    """Draw label vectors from class probabilities.

    A draw is the first class whose cumulative probability exceeds a uniform number below the
    sum of the row, so a class of probability 0 is never drawn.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        The probabilities.
    n_vectors : int
        The number of label vectors.
    rng : RandomState
        The source of randomness.

    Returns
    -------
    ndarray of shape (n_vectors, n_samples)
        Column numbers of the drawn classes.
    """
    cumulative = proba.cumsum(axis=1)
    uniform = rng.uniform(size=(n_vectors, len(proba))) * cumulative[:, -1]
    return np.asarray((uniform[:, :, None] >= cumulative[:, :-1]).sum(axis=2))
