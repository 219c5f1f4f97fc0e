"""Losses of individual rows."""

from __future__ import annotations

import numpy as np

from calibrant._core.typing import FloatArray, IndexArray


def row_log_loss(
    y: IndexArray, proba: FloatArray, smallest: float = float(np.finfo(np.float64).eps)
) -> FloatArray:
    """Return the negative log probability of the true class of each row.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Column indices of the true classes.
    proba : ndarray of shape (n_samples, n_classes)
        Class probabilities.
    smallest : float, default=machine epsilon
        Smaller probabilities are raised to this, so that the loss stays finite.

    Returns
    -------
    ndarray of shape (n_samples,)
        The losses.
    """
    return -np.log(np.maximum(proba[np.arange(len(y)), y], smallest))


def row_brier_score(y: IndexArray, proba: FloatArray) -> FloatArray:
    """Return the squared distance between the probabilities and the true class of each row.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Column indices of the true classes.
    proba : ndarray of shape (n_samples, n_classes)
        Class probabilities.

    Returns
    -------
    ndarray of shape (n_samples,)
        The distances, summed over the classes: between 0 and 2.
    """
    return ((proba - np.eye(proba.shape[1])[y]) ** 2).sum(axis=1)
