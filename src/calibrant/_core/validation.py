"""Checks of class labels and row weights at the door of the classifier."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from calibrant._core.probability_floor import RARE_CLASS_SIZE
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.exceptions import CalibrationWarning


def check_labels(y: ArrayLike | None) -> NDArray[Any]:
    """One label a row, of one kind, none missing."""
    if y is None:
        raise ValueError(
            "y must hold one label for each row. CalibratedClassifier requires y to be passed, "
            "but the target y is None."
        )
    labels = column_or_1d(y, warn=True)
    if len(labels) == 0:
        raise ValueError("y must hold at least one label. Got none. Pass rows to fit on.")
    for name, found in (
        ("NaN or None", _missing(labels)),
        ("infinity", labels.dtype.kind == "f" and np.isinf(labels)),
    ):
        if np.any(found):
            raise ValueError(
                f"y must hold a label for every row. Input y contains {name} in {np.sum(found)} "
                f"of {len(labels)} rows. Drop those rows."
            )
    labels = _of_one_kind(labels)
    with warnings.catch_warnings():
        # Many classes for few rows are reported by the classifier, in its own words.
        warnings.filterwarnings("ignore", message="The number of unique classes is greater")
        check_classification_targets(labels)
    return labels


def _missing(labels: NDArray[Any]) -> BoolArray:
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind == "M":
        return np.isnat(labels)
    if labels.dtype != object:
        return np.zeros(len(labels), dtype=bool)
    return np.array([_is_missing(label) for label in labels], dtype=bool)


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)  # only NaN differs from itself
    except TypeError:  # pandas' NA refuses to be compared
        return True


def _of_one_kind(labels: NDArray[Any]) -> NDArray[Any]:
    """Return numbers kept as objects as numbers; refuse labels that cannot be sorted."""
    if labels.dtype != object:
        return labels
    texts = [isinstance(label, str) for label in labels]
    if any(texts) and not all(texts):
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"y must hold labels of one kind. Got {' and '.join(kinds)}. "
            "Convert them all to strings."
        )
    return labels if any(texts) else np.asarray(labels.tolist())


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
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes. Got one class: {classes.tolist()}. "
            "Add rows of another class."
        )
    if known is not None:
        if not np.array_equal(known, np.unique(known)):
            raise ValueError(
                f"The classes of a frozen estimator must be sorted. Got {known.tolist()}. "
                "Refit it with a scikit-learn classifier, or sort its columns."
            )
        unknown = np.setdiff1d(classes, known)
        if len(unknown):
            raise ValueError(
                f"y must hold classes that the frozen estimator knows, {known.tolist()}. "
                f"Got {unknown.tolist()} beside them. Drop those rows or refit the estimator."
            )
        classes = known
    if len(labels) <= len(classes):
        raise ValueError(
            f"y must have more rows than classes, so that some can be held out. Got {len(labels)} "
            f"rows and {len(classes)} classes. Add rows or merge classes."
        )
    return classes


def check_groups(groups: ArrayLike) -> NDArray[Any]:
    """One group a row, none missing."""
    names = column_or_1d(groups)
    missing = _missing(names)
    if missing.any():
        raise ValueError(
            f"groups must name a group for every row. Got NaN or None in {missing.sum()} of "
            f"{len(names)} rows. Give rows that stand alone a group each."
        )
    return names


def class_index(labels: NDArray[Any], classes: NDArray[Any]) -> IndexArray:
    """Position of each label among the sorted classes.

    Labels that are not among them, which only rows of weight 0 can have, get any position.
    """
    return np.searchsorted(classes, labels).clip(max=len(classes) - 1)


def as_row_counts(sample_weight: FloatArray | None, n_rows: int) -> FloatArray:
    """Weights as numbers of rows; None is 1 for every row.

    Weights that sum to less than the number of rows they are on, such as shares that sum
    to 1, are scaled up to it: rows are evidence, whatever the unit of their weights.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    return sample_weight * max(1.0, np.count_nonzero(sample_weight) / sample_weight.sum())


def warn_about_rare_classes(
    classes: NDArray[Any],
    row_count: IndexArray,
    n_constant: int,
    n_problems: int,
    *,
    keeps_scores: bool,
) -> None:
    """Say once which classes are rare, and what was done about it.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels of the classes.
    row_count : ndarray of shape (n_classes,)
        The number of rows of each.
    n_constant : int
        The number of problems that could not be calibrated.
    n_problems : int
        The number of all problems.
    keeps_scores : bool
        Whether scores stay as they are where nothing could be calibrated.
    """
    said = []
    rare = np.flatnonzero(row_count < RARE_CLASS_SIZE)
    if len(rare):
        names = ", ".join(f"{classes[k]} ({row_count[k]})" for k in rare)
        said.append(
            f"Classes with fewer than {RARE_CLASS_SIZE} rows: {names}. None of them gets probability 0, "
            "but what they get rests on next to nothing: merge them or add rows."
        )
    if n_constant:
        said.append(
            f"No scores of held-out rows on both sides for {n_constant} of the {n_problems} "
            "problems (classes that are never held out, or rows without a score): "
            + (
                "the estimator's own probabilities are kept."
                if keeps_scores
                else "the share of each side is predicted."
            )
        )
    if said:
        warnings.warn(" ".join(said), CalibrationWarning, stacklevel=3)
