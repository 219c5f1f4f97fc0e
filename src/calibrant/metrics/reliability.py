"""Predicted probability against observed frequency, in bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant.metrics.inputs import FloatArray, Predictions, check_predictions


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """What was predicted and what was true, in bins of predicted probability.

    Attributes
    ----------
    predicted : ndarray of shape (n_bins,)
        The mean predicted probability in each bin that is not empty.
    observed : ndarray of shape (n_bins,)
        The share of rows of the bin for which the prediction came true.
    weight : ndarray of shape (n_bins,)
        The weight of the rows in the bin.
    """

    predicted: FloatArray
    observed: FloatArray
    weight: FloatArray

    @property
    def calibration_error(self) -> float:
        """Mean distance of predicted and observed, over rows."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.weight))


def reliability_curve(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    of: Any = "top-label",
    n_bins: int = 10,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ReliabilityCurve:
    """Predicted probability against observed frequency, in bins of equal weight.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.
    of : label or "top-label", default="top-label"
        The class whose probability is looked at; or, for each row, the most probable
        class.
    n_bins : int, default=10
        The number of bins. Equal probabilities always share a bin, so there may be fewer.

    Returns
    -------
    ReliabilityCurve
        The points of the curve, by rising probability.
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    if isinstance(of, str) and of == "top-label":
        return top_label_curve(data, n_bins)
    if of not in data.labels:
        raise ValueError(
            f"of must be 'top-label' or one of {data.labels.tolist()}. Got {of!r}. "
            "Leave it out for the most probable class."
        )
    return class_curve(data, int(np.flatnonzero(data.labels == of)[0]), n_bins)


def top_label_curve(data: Predictions, n_bins: int) -> ReliabilityCurve:
    """Reliability curve of each row's most probable class."""
    top = data.proba.argmax(axis=1)
    return _bin(data.proba[data.rows, top], top == data.true, data.weight, n_bins)


def class_curve(data: Predictions, column: int, n_bins: int) -> ReliabilityCurve:
    """Reliability curve of the class of one column."""
    return _bin(data.proba[:, column], data.true == column, data.weight, n_bins)


def _bin(
    predicted: FloatArray, came_true: NDArray[np.bool_], weight: FloatArray, n_bins: int
) -> ReliabilityCurve:
    """Cut into bins of equal weight; equal predictions share a bin."""
    if not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number, at least 1. Got {n_bins}. Use about 10.")
    # The share of the weight up to and with each distinct prediction, less half its own,
    # says which bin it falls in.
    _, place = np.unique(predicted, return_inverse=True)
    own = np.bincount(place, weights=weight)
    middle = (np.cumsum(own) - own / 2) / weight.sum()
    place = np.minimum((middle * n_bins).astype(np.intp), n_bins - 1)[place]
    total = np.bincount(place, weights=weight).astype(np.float64)
    used = total > 0
    return ReliabilityCurve(
        predicted=np.bincount(place, weights=weight * predicted)[used] / total[used],
        observed=np.bincount(place, weights=weight * came_true)[used] / total[used],
        weight=total[used],
    )
