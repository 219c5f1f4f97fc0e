"""Prediction sets with a given coverage for each class."""

from __future__ import annotations

import numpy as np

from calibrant._core.typing import BoolArray, FloatArray, IndexArray

# More probabilities per class would only enlarge model files.
MOST_PER_CLASS = 1000
# Counts are compared with products such as 0.1 times 10.
ROUNDING = 1e-9


def sort_by_class(true_proba: FloatArray, y: IndexArray, n_classes: int) -> list[FloatArray]:
    """Return the sorted held-out probabilities of the true class of the rows of each class.

    Parameters
    ----------
    true_proba : ndarray of shape (n_rows,)
        The held-out probability of the true class of each row.
    y : ndarray of shape (n_rows,)
        Class indices.
    n_classes : int
        The number of classes.

    Returns
    -------
    list of ndarray
        One array per class, with evenly spaced order statistics if there are many rows.
    """
    by_class = []
    for k in range(n_classes):
        ordered = np.sort(true_proba[y == k])
        if len(ordered) > MOST_PER_CLASS:
            ordered = ordered[np.linspace(0, len(ordered) - 1, MOST_PER_CLASS).astype(np.intp)]
        by_class.append(ordered)
    return by_class


def predict_sets(proba: FloatArray, by_class: list[FloatArray], coverage: float) -> BoolArray:
    r"""Return the classes that cannot be excluded.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_classes)
        Probabilities.
    by_class : list of ndarray
        The sorted held-out probabilities of the rows of each class.
    coverage : float
        The proportion of the rows of each class whose set is to contain it.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Whether each class is in the set.

    Notes
    -----
    Class k is excluded if :math:`1 + c \le (1 - \text{coverage}) (n_k + 1)`, where :math:`c` is the
    number of its :math:`n_k` held-out rows whose probability of class k is at most that of the row.
    A class with :math:`n_k + 1 < 1 / (1 - \text{coverage})` is never excluded. The most probable
    class is always in the set.
    """
    is_kept = np.zeros(proba.shape, dtype=np.bool_)
    for k, scores in enumerate(by_class):
        count = 1 + np.searchsorted(scores, proba[:, k], side="right")
        is_kept[:, k] = count > (1.0 - coverage) * (len(scores) + 1) + ROUNDING
    is_kept[np.arange(len(proba)), proba.argmax(axis=1)] = True
    return is_kept
