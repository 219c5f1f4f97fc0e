"""Forecasts of one event per row, the input of calibration errors and reliability curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from calibrant._core.rowwise import normalize_rows
from calibrant._core.typing import FloatArray
from calibrant.metrics._validation import Predictions


@dataclass(frozen=True, eq=False)
class Forecast:
    """Predicted probabilities of one event per row, and its outcomes.

    Attributes
    ----------
    predicted : ndarray of shape (n_samples,)
        The predicted probabilities.
    outcome : ndarray of shape (n_samples,)
        1 where the event occurred, 0 elsewhere.
    weight : ndarray of shape (n_samples,)
        Positive weights of the rows.
    """

    predicted: FloatArray
    outcome: FloatArray
    weight: FloatArray

    @property
    def residual(self) -> FloatArray:
        """The outcome minus its predicted probability."""
        return self.outcome - self.predicted

    def log_odds(self, eps: float) -> FloatArray:
        """Return the predicted log odds, of probabilities clipped to eps and 1 - eps."""
        return np.asarray(logit(np.clip(self.predicted, eps, 1.0 - eps)))


def choose_forecast(data: Predictions, of: Any) -> Forecast:
    """Return the forecast that a user asked for.

    Parameters
    ----------
    data : Predictions
        The validated input.
    of : label, pair of labels, "top-label" or None
        The class; the first of two classes, given that the class is one of the two; the most
        probable class. ``None`` means the second of two classes.

    Returns
    -------
    Forecast
        The forecast. That of a pair has only the rows of the two classes.
    """
    if of is None:
        if len(data.labels) != 2:
            raise ValueError(
                f"of must be given for more than two classes, got {len(data.labels)} classes. "
                f"Pass one of the labels {data.labels.tolist()}, a pair of them, or 'top-label'."
            )
        return class_forecast(data, 1)
    if isinstance(of, str) and of == "top-label":
        return top_label_forecast(data)
    wanted = of if isinstance(of, tuple) else (of,)
    columns = [np.flatnonzero(data.labels == each) for each in wanted]
    if any(len(each) != 1 for each in columns) or not 1 <= len(set(wanted)) == len(wanted) <= 2:
        raise ValueError(
            f"of must be 'top-label', one of the labels {data.labels.tolist()} or a pair of them, "
            f"got {of!r}. Pass one of these."
        )
    first, *second = (int(each[0]) for each in columns)
    return pair_forecast(data, first, second[0]) if second else class_forecast(data, first)


def top_label_forecast(data: Predictions) -> Forecast:
    """Forecast that each row belongs to its most probable class."""
    correct = (data.top_label == data.y_index).astype(np.float64)
    return Forecast(data.proba.max(axis=1), correct, data.weight)


def class_forecast(data: Predictions, column: int) -> Forecast:
    """Forecast that each row belongs to the class of one column."""
    outcome = (data.y_index == column).astype(np.float64)
    return Forecast(data.proba[:, column], outcome, data.weight)


def pair_forecast(data: Predictions, first: int, second: int) -> Forecast:
    """Forecast the first of two classes for the rows of both, given that it is one of them."""
    pair = [first, second]
    rows = data.take(np.flatnonzero(np.isin(data.y_index, pair)))
    if len(rows.y_index) == 0:
        names = data.labels[pair].tolist()
        raise ValueError(
            f"y_true must have rows of one of the classes {names}, got none. Choose other classes."
        )
    outcome = (rows.y_index == first).astype(np.float64)
    return Forecast(normalize_rows(rows.proba[:, pair])[:, 0], outcome, rows.weight)


def make_forecasts(data: Predictions, kind: str) -> list[Forecast]:
    """Return the forecasts over which a calibration error is averaged.

    Parameters
    ----------
    data : Predictions
        The validated input.
    kind : {"top-label", "classwise"}
        Whether to forecast the most probable class or each class in turn.

    Returns
    -------
    list of Forecast
        One forecast for "top-label", one per class for "classwise".
    """
    if kind == "top-label":
        return [top_label_forecast(data)]
    if kind == "classwise":
        return [class_forecast(data, column) for column in range(len(data.labels))]
    raise ValueError(
        f"kind must be 'top-label' or 'classwise', got {kind!r}. Omit it to use 'top-label'."
    )
