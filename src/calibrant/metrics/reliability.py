"""Predicted probability against observed frequency, in bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.metrics._validation import (
    Forecast,
    check_level,
    check_predictions,
    class_forecast,
    top_label_forecast,
)

# Where the number of bins is not given: as many rows to a bin, and no more bins than these.
ROWS_A_BIN = 20
MOST_BINS = 10
# The parts of [0, 1] in which predictions are counted.
N_CELLS = 20


@dataclass(frozen=True, eq=False)
class ReliabilityCurve(Record):
    """What was predicted and what was true, in bins of predicted probability.

    Attributes
    ----------
    predicted : ndarray of shape (n_bins,)
        The mean predicted probability in each bin that is not empty.
    observed : ndarray of shape (n_bins,)
        The share of rows of the bin for which the prediction came true.
    low, high : ndarray of shape (n_bins,)
        The interval of the observed share.
    count : ndarray of shape (n_bins,)
        The number of rows in the bin, those of weight 0 left out.
    weight : ndarray of shape (n_bins,)
        The weight of the rows in the bin.
    histogram : ndarray of shape (20,)
        The number of rows whose predicted probability lies in each twentieth of [0, 1].
    """

    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    count: IndexArray
    weight: FloatArray
    histogram: IndexArray

    @property
    def calibration_error(self) -> float:
        """Mean distance of predicted and observed, over rows."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.weight))


def reliability_curve(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    of: Any = "top-label",
    n_bins: int | None = None,
    level: float = 0.95,
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
    n_bins : int, default=None
        The number of bins; None is one for every 20 rows, at most 10. Equal probabilities
        always share a bin, so there may be fewer.
    level : float, default=0.95
        The confidence of the interval of each observed frequency.

    Returns
    -------
    ReliabilityCurve
        The points of the curve, by rising probability.

    Notes
    -----
    The intervals are Wilson's [1]_, which hold their level with few rows and at frequencies
    of 0 and 1 [2]_. Where weights differ, a bin counts as so many rows as would say as much
    (sum squared, over sum of squares). They are intervals of each bin by itself: of ten bins
    of a perfect forecast, one misses the diagonal about four times in ten. `calibration_test`
    asks about all at once.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical
           inference", Journal of the American Statistical Association 22, 1927.
    .. [2] L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial
           proportion", Statistical Science 16(2), 2001.

    Examples
    --------
    >>> from calibrant.metrics import reliability_curve
    >>> curve = reliability_curve([0] * 15 + [1] * 5, [[0.9, 0.1]] * 20)
    >>> curve.predicted.round(2), curve.observed, curve.count
    (array([0.9]), array([0.75]), array([20]))
    >>> curve.low.round(2), curve.high.round(2)
    (array([0.53]), array([0.89]))
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    if isinstance(of, str) and of == "top-label":
        return curve_of(top_label_forecast(data), n_bins, level)
    if of not in data.labels:
        raise ValueError(
            f"of must be 'top-label' or one of {data.labels.tolist()}. Got {of!r}. "
            "Leave it out for the most probable class."
        )
    column = int(np.flatnonzero(data.labels == of)[0])
    return curve_of(class_forecast(data, column), n_bins, level)


def curve_of(forecast: Forecast, n_bins: int | None, level: float = 0.95) -> ReliabilityCurve:
    """Reliability curve of one forecast."""
    weight = forecast.weight
    if n_bins is None:
        n_bins = int(np.clip(len(weight) // ROWS_A_BIN, 1, MOST_BINS))
    place = assign_bins(forecast.predicted, weight, n_bins)
    total = np.bincount(place, weight).astype(np.float64)
    observed = np.bincount(place, weight * forecast.came_true) / total
    low, high = _wilson_interval(
        observed, total**2 / np.bincount(place, weight**2), check_level(level)
    )
    return ReliabilityCurve(
        predicted=np.bincount(place, weight * forecast.predicted) / total,
        observed=observed,
        low=low,
        high=high,
        count=np.bincount(place),
        weight=total,
        histogram=np.histogram(forecast.predicted, bins=N_CELLS, range=(0.0, 1.0))[0],
    )


def assign_bins(predicted: FloatArray, weight: FloatArray, n_bins: int) -> IndexArray:
    """Cut into bins of equal weight; equal predictions share a bin, and no bin is empty.

    Parameters
    ----------
    predicted : ndarray of shape (n_samples,)
        Predicted probabilities.
    weight : ndarray of shape (n_samples,)
        Weights of the rows, positive.
    n_bins : int
        The number of bins.

    Returns
    -------
    ndarray of shape (n_samples,)
        The bin of each row, counted from 0 without gaps.
    """
    if not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number, at least 1. Got {n_bins}. Use about 10.")
    # The share of the weight up to and with each distinct prediction, less half its own,
    # says which bin it falls in.
    _, place = np.unique(predicted, return_inverse=True)
    own = np.bincount(place, weight)
    middle = (np.cumsum(own) - own / 2) / weight.sum()
    bins = np.minimum((middle * n_bins).astype(np.intp), n_bins - 1)
    return np.unique(bins, return_inverse=True)[1][place]


def _wilson_interval(
    share: FloatArray, n_rows: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Interval of a share of so many rows."""
    z2 = ndtri(0.5 + level / 2) ** 2
    center = (share + z2 / (2 * n_rows)) / (1 + z2 / n_rows)
    half = np.sqrt(z2 / n_rows * (share * (1 - share) + z2 / (4 * n_rows))) / (1 + z2 / n_rows)
    # At shares of 0 and 1 the ends are 0 and 1 but for rounding.
    return np.clip(center - half, 0.0, share), np.clip(center + half, share, 1.0)
