"""Validation of labels and predicted probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from calibrant._core.labels import read_labels
from calibrant._core.phrases import count
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import as_row_counts, check_weight

# Allows for the rounding of single-precision probabilities; half precision gets more.
SUM_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Predictions:
    """Validated input of a metric, without rows of weight 0.

    Attributes
    ----------
    y_index : ndarray of shape (n_samples,)
        The column of each row's true class.
    proba : ndarray of shape (n_samples, n_classes)
        Class probabilities.
    labels : ndarray of shape (n_classes,)
        The sorted labels of the columns.
    weight : ndarray of shape (n_samples,)
        Positive weights of the rows.
    position : ndarray of shape (n_samples,)
        The position of each row in the input.
    eps : float
        The machine epsilon of the floating-point type in which the probabilities were passed.
    """

    y_index: IndexArray
    proba: FloatArray
    labels: NDArray[Any]
    weight: FloatArray
    position: IndexArray
    eps: float

    @property
    def one_hot(self) -> FloatArray:
        """Indicator matrix of the true classes."""
        return np.eye(self.proba.shape[1])[self.y_index]

    @property
    def top_label(self) -> IndexArray:
        """The column of each row's most probable class, the first one among ties."""
        return self.proba.argmax(axis=1)

    def take(self, rows: IndexArray) -> Predictions:
        """Return a subset of the rows."""
        return replace(
            self,
            y_index=self.y_index[rows],
            proba=self.proba[rows],
            weight=self.weight[rows],
            position=self.position[rows],
        )

    def with_row_counts(self) -> Predictions:
        """Return the input with weights as numbers of rows; see `as_row_counts`."""
        return replace(self, weight=as_row_counts(self.weight, len(self.weight)))

    def mean(self, row_values: FloatArray) -> float:
        """Return the weighted mean of one value per row."""
        return float(np.average(row_values, weights=self.weight))


def check_predictions(
    y_true: ArrayLike,
    proba: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    normalized: bool = True,
) -> Predictions:
    """Validate labels, probabilities and weights.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    normalized : bool, default=True
        Whether rows of ``proba`` must be non-negative and sum to 1.

    Returns
    -------
    Predictions
        The validated input.
    """
    truth = read_labels(y_true, "y_true")
    dtype = np.asarray(proba).dtype
    eps = float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)
    values = _two_dimensional(
        check_array(proba, dtype=np.float64, ensure_2d=False, input_name="proba")
    )
    check_consistent_length(truth, values)
    truth, names = _check_names(truth, values, labels)
    if normalized:
        _check_normalized(values, max(SUM_TOLERANCE, 4.0 * eps))
    weight = check_weight(sample_weight, values)
    position = np.flatnonzero(weight)
    y_index = np.searchsorted(names, truth[position])
    return Predictions(y_index, values[position], names, weight[position], position, eps)


def check_count(name: str, value: int, minimum: int) -> None:
    """Check that a parameter is an integer and not below its minimum."""
    if not isinstance(value, int | np.integer) or value < minimum:
        raise ValueError(
            f"{name} must be an integer of at least {minimum}, got {value!r}. "
            "Omit it to use the default."
        )


def _two_dimensional(values: FloatArray) -> FloatArray:
    """Expand the probability of the second of two classes to both classes."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    return np.column_stack([1.0 - values, values]) if values.ndim == 1 else values


def _check_names(
    truth: NDArray[Any], values: FloatArray, labels: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the true and the sorted labels after checking that they match rows and columns."""
    names = np.unique(truth)
    if labels is not None:
        given = read_labels(labels, "labels")
        names = np.unique(given)
        if not np.array_equal(given, names):
            raise ValueError(
                f"labels must be sorted and distinct, got {given.tolist()}. Sort them, and the "
                "columns of proba with them: proba[:, np.argsort(labels)]."
            )
    if {truth.dtype.kind, names.dtype.kind} == {"i", "u"}:
        # NumPy would compare them as floating point numbers.
        truth, names = truth.astype(object), names.astype(object)
    if len(names) != values.shape[1]:
        raise ValueError(
            f"proba must have {count(len(names), 'column')}, one for each label, "
            f"got {values.shape[1]}. Pass the labels of all columns as labels."
        )
    unknown = np.setdiff1d(truth, names)
    if len(unknown):
        raise ValueError(
            f"y_true must contain only the given labels {names.tolist()}, "
            f"got {unknown.tolist()}. Drop those rows or extend labels."
        )
    return truth, names


def _check_normalized(values: FloatArray, tolerance: float) -> None:
    deviation = np.abs(values.sum(axis=1) - 1.0).max()
    if values.min() < 0 or deviation > tolerance:
        raise ValueError(
            "Each row of proba must be non-negative and sum to 1, got a smallest value of "
            f"{values.min():g} and a sum that differs from 1 by {deviation:.3g}. "
            "Normalize the rows."
        )
