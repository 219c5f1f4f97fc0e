"""Forecasts of one event per row, the input of calibration errors and reliability curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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


def top_label_forecast(data: Predictions) -> Forecast:
    """Forecast that each row belongs to its most probable class."""
    correct = (data.top_label == data.y_index).astype(np.float64)
    return Forecast(data.proba.max(axis=1), correct, data.weight)


def class_forecast(data: Predictions, column: int) -> Forecast:
    """Forecast that each row belongs to the class of one column."""
    outcome = (data.y_index == column).astype(np.float64)
    return Forecast(data.proba[:, column], outcome, data.weight)


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
