"""What comes in at the door of a metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from calibrant._core.typing import FloatArray, IndexArray

# IndexArray may differ from a sum of 1 by rounding, in single precision too.
SUM_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Predictions:
    """Checked input of a metric; rows of weight 0 are left out.

    Attributes
    ----------
    true : ndarray of shape (n_samples,)
        The column of each row's true class.
    proba : ndarray of shape (n_samples, n_classes)
        Class probabilities.
    labels : ndarray of shape (n_classes,)
        The labels of the columns, sorted.
    weight : ndarray of shape (n_samples,)
        Weights of the rows, positive.
    given : ndarray of shape (n_samples,)
        The position of each row among those that were given.
    precision : float
        The smallest step between the numbers that the probabilities were given in.
    """

    true: IndexArray
    proba: FloatArray
    labels: NDArray[Any]
    weight: FloatArray
    given: IndexArray
    precision: float

    def take(self, rows: IndexArray) -> Predictions:
        """Return some of the rows."""
        return replace(
            self,
            true=self.true[rows],
            proba=self.proba[rows],
            weight=self.weight[rows],
            given=self.given[rows],
        )

    @property
    def rows(self) -> IndexArray:
        """The numbers of the rows."""
        return np.arange(len(self.true))

    @property
    def one_hot(self) -> FloatArray:
        """1 in the column of the true class, 0 elsewhere."""
        return np.eye(self.proba.shape[1])[self.true]

    @property
    def top(self) -> IndexArray:
        """The column of each row's most probable class; of equals, the first."""
        return self.proba.argmax(axis=1)


def check_predictions(
    y_true: ArrayLike,
    proba: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    proper: bool = True,
) -> Predictions:
    """Check that there is a label and a row of probabilities for every row.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.
    proper : bool, default=True
        Whether rows must be probabilities.

    Returns
    -------
    Predictions
        The checked input.
    """
    truth = column_or_1d(y_true)
    may_miss = truth.dtype.kind not in "biuSU"
    if may_miss and any(label is None or label != label for label in truth.tolist()):
        raise ValueError(
            "y_true must hold a label for every row. Got NaN or None. Drop those rows."
        )
    kind = np.asarray(proba).dtype
    precision = float(np.finfo(kind if kind.kind == "f" else np.float64).eps)
    values = check_array(proba, dtype=np.float64, ensure_2d=False, input_name="proba")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 1:
        values = np.column_stack([1.0 - values, values])
    check_consistent_length(truth, values, sample_weight)
    names = np.unique(truth if labels is None else labels)
    if len(names) != values.shape[1]:
        raise ValueError(
            f"proba must have one column for each of the {len(names)} labels. "
            f"Got {values.shape[1]} columns. Pass all labels with labels=..."
        )
    unknown = np.setdiff1d(truth, names)
    if len(unknown):
        raise ValueError(
            f"y_true must hold only the given labels, {names.tolist()}. Got {unknown.tolist()}. "
            "Drop rows without a label, and name all others with labels=..."
        )
    off = np.abs(values.sum(axis=1) - 1.0).max()
    if proper and (values.min() < 0 or off > SUM_TOLERANCE):
        raise ValueError(
            "IndexArray of proba must be non-negative and sum to 1. "
            f"Got a smallest value of {values.min():g} and a sum that is off by {off:.3g}. "
            "Normalize them first."
        )
    weight = np.ones(len(truth)) if sample_weight is None else column_or_1d(sample_weight)
    weight = check_array(weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight")
    if weight.min() < 0 or weight.sum() == 0:
        raise ValueError(
            "sample_weight must not be negative, and positive for some row. Got a smallest of "
            f"{weight.min():g} and a sum of {weight.sum():g}. Pass None to weight rows alike."
        )
    given = np.flatnonzero(weight)
    true = np.searchsorted(names, truth[given])
    return Predictions(true, values[given], names, weight[given], given, precision)


def check_level(level: float) -> float:
    """Check that a confidence lies between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1. Got {level}. Use 0.95.")
    return level


def check_count(name: str, value: int, least: int) -> None:
    """Check that a number of things is whole and not too small."""
    if not isinstance(value, int | np.integer) or value < least:
        raise ValueError(
            f"{name} must be a whole number, at least {least}. Got {value}. Use the default."
        )


@dataclass(frozen=True, eq=False)
class Forecast:
    """One predicted probability a row, and whether what was predicted came true.

    Attributes
    ----------
    predicted : ndarray of shape (n_samples,)
        Probabilities.
    came_true : ndarray of shape (n_samples,)
        1 where it came true, else 0.
    weight : ndarray of shape (n_samples,)
        Weights of the rows, positive.
    """

    predicted: FloatArray
    came_true: FloatArray
    weight: FloatArray

    @property
    def residual(self) -> FloatArray:
        """What happened less what was predicted."""
        return self.came_true - self.predicted


def top_label_forecast(data: Predictions) -> Forecast:
    """Forecast that each row is of its most probable class."""
    top = data.top
    hit = (top == data.true).astype(np.float64)
    return Forecast(data.proba[data.rows, top], hit, data.weight)


def class_forecast(data: Predictions, column: int) -> Forecast:
    """Forecast that each row is of the class of one column."""
    return Forecast(data.proba[:, column], data.one_hot[:, column], data.weight)


def forecasts(data: Predictions, kind: str) -> list[Forecast]:
    """Forecasts that a calibration error of a kind is the mean over.

    Parameters
    ----------
    data : Predictions
        Checked input.
    kind : {"top-label", "classwise"}
        One forecast, of the most probable class, or one for each class.

    Returns
    -------
    list of Forecast
        The forecasts.
    """
    if kind == "top-label":
        return [top_label_forecast(data)]
    if kind == "classwise":
        return [class_forecast(data, column) for column in range(len(data.labels))]
    raise ValueError(
        f"kind must be 'top-label' or 'classwise'. Got {kind!r}. "
        "Leave it out for the most probable class."
    )
