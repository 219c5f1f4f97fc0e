"""Class labels: reading them from arrays of any kind, and checking them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from calibrant._core.typing import BoolArray, IndexArray


def check_labels(y: ArrayLike | None) -> NDArray[Any]:
    """Check that there is one label per row, all of one type and none missing."""
    if y is None:
        raise ValueError(
            "y must hold one label for each row. CalibratedClassifier requires y to be passed, "
            "but the target y is None."
        )
    labels = read_labels(y)
    if len(labels) == 0:
        raise ValueError("y must hold at least one label, got none. Pass rows to fit on.")
    with warnings.catch_warnings():
        # CalibratedClassifier warns about classes with few rows itself.
        warnings.filterwarnings("ignore", message="The number of unique classes is greater")
        check_classification_targets(labels)
    return labels


def read_labels(y: ArrayLike, name: str = "y") -> NDArray[Any]:
    """Return labels as an array of one type, after checking that none is missing.

    Integers stay integers, also those of nullable columns, which scikit-learn reads as floating
    point numbers, and those of lists, which NumPy may round.
    """
    labels = column_or_1d(_without_conversion(y), warn=True)
    for kind, found in (
        ("NaN or None", find_missing(labels)),
        ("infinity", _find_infinite(labels)),
    ):
        if np.any(found):
            raise ValueError(
                f"{name} must hold a label for every row. Input {name} contains {kind} in "
                f"{np.sum(found)} of {len(labels)} rows. Drop those rows."
            )
    return _of_one_type(labels, name)


def _without_conversion(y: Any) -> Any:
    """Return labels as objects if reading them as an array could change them."""
    if hasattr(y, "dtype"):
        return y if isinstance(y.dtype, np.dtype) else np.asarray(y, dtype=object)
    if isinstance(y, list | tuple) and np.asarray(y).dtype.kind in "fO" and np.ndim(y) == 1:
        return np.array(y, dtype=object)
    return y


def find_missing(labels: NDArray[Any]) -> BoolArray:
    """Return which labels are NaN, NaT, None or ``pandas.NA``."""
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind == "M":
        return np.isnat(labels)
    if labels.dtype != object:
        return np.zeros(len(labels), dtype=bool)
    return np.array([_is_missing(label) for label in labels], dtype=bool)


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)  # true for NaN
    except TypeError:  # pandas.NA cannot be compared
        return True


def _find_infinite(labels: NDArray[Any]) -> BoolArray:
    if labels.dtype != object:
        return np.isinf(labels) if labels.dtype.kind == "f" else np.zeros(len(labels), dtype=bool)
    return np.array([isinstance(label, float) and np.isinf(label) for label in labels], dtype=bool)


def _of_one_type(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Convert numbers stored as objects; reject labels that cannot be sorted."""
    if labels.dtype != object:
        return labels
    texts = [isinstance(label, str) for label in labels]
    if any(texts) and not all(texts):
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"{name} must hold labels of one type, got {' and '.join(kinds)}. "
            "Convert all labels to strings."
        )
    return labels if any(texts) else _as_numbers(labels.tolist(), name)


def _as_numbers(labels: list[Any], name: str) -> NDArray[Any]:
    """Return numbers as an array without rounding any integer."""
    values = np.asarray(labels)
    if values.dtype.kind not in "fO":
        return values
    integers = {label for label in labels if isinstance(label, int | np.integer)}
    if not integers:
        return values
    if len(integers) == len(set(labels)) and min(integers) >= 0 and max(integers) < 2**64:
        return np.array(labels, dtype=np.uint64)
    if values.dtype.kind == "O" or any(int(float(label)) != label for label in integers):
        raise ValueError(
            f"{name} must hold numbers of one 64-bit type, got integers from {min(integers)} to "
            f"{max(integers)}, which no such type represents exactly together with the other "
            "labels. Convert all labels to strings."
        )
    return values


def class_index(labels: NDArray[Any], classes: NDArray[Any]) -> IndexArray:
    """Return the position of each label among the sorted classes.

    Labels that are not among them, which only rows of weight 0 may have, get an arbitrary
    position.
    """
    return np.searchsorted(classes, labels).clip(max=len(classes) - 1)
