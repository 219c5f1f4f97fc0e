"""Checks of class labels and row weights at the door of the classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

FloatArray = NDArray[np.float64]


def check_labels(y: ArrayLike | None) -> NDArray[Any]:
    """One label a row, of one kind, none missing."""
    if y is None:
        raise ValueError(
            "y must hold one label for each row. CalibratedClassifier requires y to be passed, "
            "but the target y is None."
        )
    labels = column_or_1d(y, warn=True)
    missing = labels != labels if labels.dtype.kind in "fcO" else np.zeros(len(labels), bool)
    if labels.dtype == object:
        missing = missing | np.array([label is None for label in labels], dtype=bool)
    if missing.any():
        raise ValueError(
            f"y must not have missing labels. Input y contains NaN or None in {missing.sum()} of "
            f"{len(labels)} rows. Drop those rows."
        )
    check_classification_targets(labels)
    return labels


def check_classes(labels: NDArray[Any], known: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the sorted classes, of which there must be two, and more rows than classes.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        The labels of the rows that take part.
    known : ndarray of shape (n_classes,), default=None
        The classes of a model that is fitted already; the labels must be among them.

    Returns
    -------
    ndarray of shape (n_classes,)
        The classes, sorted.
    """
    try:
        classes = np.unique(labels)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"y must hold labels of one kind. Got {' and '.join(kinds)}. "
            "Convert them all to strings."
        ) from None
    if known is not None:
        unknown = np.setdiff1d(classes, known)
        if len(unknown):
            raise ValueError(
                f"y must hold classes that the frozen estimator knows, {known.tolist()}. "
                f"Got {unknown.tolist()} beside them. Drop those rows or refit the estimator."
            )
        classes = known
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes. Got one class: {classes.tolist()}. "
            "Add rows of another class."
        )
    if len(labels) <= len(classes):
        raise ValueError(
            f"y must have more rows than classes, so that some can be held out. Got {len(labels)} "
            f"rows and {len(classes)} classes. Add rows or merge classes."
        )
    return classes


def class_index(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Position of each label among the sorted classes.

    Labels that are not among them, which only rows of weight 0 can have, get any position.
    """
    return np.searchsorted(classes, labels).clip(max=len(classes) - 1)


def as_frequencies(sample_weight: FloatArray | None, n_rows: int) -> FloatArray:
    """Weights as numbers of rows; None is 1 for every row.

    Weights that sum to less than the number of rows they are on, such as shares that sum
    to 1, are scaled up to it: rows are evidence, whatever the unit of their weights.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    return sample_weight * max(1.0, np.count_nonzero(sample_weight) / sample_weight.sum())
