"""Proper scores: how good probabilities are, all in all."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.typing import FloatArray
from calibrant.metrics._validation import Predictions, check_predictions


def log_loss(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean negative log probability of the true class: the paper's LL.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        Class probabilities, columns in the order of the sorted labels; one dimension is
        the probability of the second of two classes.
    labels : array-like of shape (n_classes,), default=None
        The labels; None are those of ``y_true``.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        The log loss; 0 is best.

    Examples
    --------
    >>> from calibrant.metrics import log_loss
    >>> round(log_loss(["a", "b"], [[0.9, 0.1], [0.2, 0.8]]), 3)
    0.164
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    return float(np.average(row_log_loss(data), weights=data.weight))


def brier_score(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean squared distance of the probabilities to the true class: the paper's MSE.

    Summed over the classes, so between 0 and 2; twice the usual score for two classes.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.

    Returns
    -------
    float
        The Brier score; 0 is best.

    Examples
    --------
    >>> from calibrant.metrics import brier_score
    >>> round(brier_score(["a", "b"], [[0.9, 0.1], [0.2, 0.8]]), 3)
    0.05
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    return float(np.average(row_brier_score(data), weights=data.weight))


def row_log_loss(data: Predictions) -> FloatArray:
    """Negative log probability of each row's true class.

    A probability of 0 counts as the precision of the given numbers, as in scikit-learn.
    """
    return -np.log(np.maximum(data.proba[data.rows, data.true], data.precision))


def row_brier_score(data: Predictions) -> FloatArray:
    """Squared distance of each row's probabilities to its true class."""
    return ((data.proba - data.one_hot) ** 2).sum(axis=1)
