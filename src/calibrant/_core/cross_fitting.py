"""Cross-fitting: predicting each fold with a model fitted on the others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibrant._core.splits import make_folds
from calibrant._core.typing import BoolArray, FloatArray, IndexArray

N_FOLDS = 5


def fold_of_points(
    y: IndexArray, group: IndexArray, n_folds: int, rng: np.random.RandomState
) -> IndexArray:
    """Assign points to folds, keeping groups together.

    Parameters
    ----------
    y : ndarray of shape (n_points,)
        Class indices.
    group : ndarray of shape (n_points,)
        The index of the group of each point. A group is a row that was scored several times or
        several rows that belong together.
    n_folds : int
        The number of folds. Fewer are used if there are fewer groups or if the largest class
        has fewer rows.
    rng : RandomState
        The source of randomness.

    Returns
    -------
    ndarray of shape (n_points,)
        The fold of each point; -1 for points that are never held out.
    """
    _, first = np.unique(group, return_index=True)
    n_folds = min(n_folds, len(first), int(np.bincount(y).max(initial=0)))
    fold = np.full(len(y), -1, dtype=np.intp)
    if n_folds < 2:
        return fold
    if np.array_equal(y[first][group], y):
        # All points of a group have the same class, so groups can be treated as rows.
        for number, held_out in enumerate(make_folds(y[first], None, n_folds, rng)):
            fold[held_out[group]] = number
    else:
        for number, held_out in enumerate(make_folds(y, group, n_folds, rng)):
            fold[held_out] = number
    return fold


def cross_fit(
    fold: IndexArray, predict: Callable[[BoolArray, BoolArray], FloatArray], n_columns: int
) -> FloatArray:
    """Predict the points of each fold with a model fitted on the other points.

    Parameters
    ----------
    fold : ndarray of shape (n_points,)
        The fold of each point; -1 for points that are never held out.
    predict : callable
        Takes masks of the training and test points, fits a model on the former and returns
        predictions for the latter, of shape (n_test_points, n_columns).
    n_columns : int
        The number of columns.

    Returns
    -------
    ndarray of shape (n_points, n_columns)
        The predictions; NaN for points that are never held out.
    """
    predicted = np.full((len(fold), n_columns), np.nan)
    for number in np.unique(fold[fold >= 0]):
        test = fold == number
        predicted[test] = predict(~test, test)
    return predicted


def true_class_proba(proba: FloatArray, y: IndexArray) -> FloatArray:
    """Return the probability of the true class of each row."""
    return proba[np.arange(len(proba)), y]
