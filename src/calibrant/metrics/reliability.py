"""Reliability curves: observed frequency against predicted probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.binning import assign_bins, default_n_bins
from calibrant._core.records import Record
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import check_level
from calibrant.metrics._forecasts import Forecast, choose_forecast
from calibrant.metrics._proportions import wilson_interval
from calibrant.metrics._validation import check_count, check_predictions

N_HISTOGRAM_BINS = 20


@dataclass(frozen=True, eq=False)
class ReliabilityCurve(Record):
    """Observed frequency against predicted probability, in bins.

    Attributes
    ----------
    predicted : ndarray of shape (n_bins,)
        The mean predicted probability in each bin.
    observed : ndarray of shape (n_bins,)
        The observed frequency in each bin: the weighted fraction of its rows that belong to
        the predicted class.
    low, high : ndarray of shape (n_bins,)
        The confidence limits of the observed frequency.
    count : ndarray of shape (n_bins,)
        The number of rows in each bin. Rows of weight 0 are not counted.
    weight : ndarray of shape (n_bins,)
        The total weight of each bin.
    histogram : ndarray of shape (20,)
        The number of rows by predicted probability, in 20 intervals of equal width.
    level : float
        The confidence level of the limits.
    """

    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    count: IndexArray
    weight: FloatArray
    histogram: IndexArray
    level: float = 0.95

    def __str__(self) -> str:
        lines = ["predicted  observed  confidence limits  rows"]
        for predicted, observed, low, high, count in zip(
            self.predicted, self.observed, self.low, self.high, self.count, strict=True
        ):
            limits = f"{low:.3f} to {high:.3f}"
            lines.append(f"{predicted:9.3f}  {observed:8.3f}  {limits:>17}  {count:4d}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{self}</pre>"

    @property
    def calibration_error(self) -> float:
        """The expected calibration error with these bins."""
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
    r"""Compute a reliability curve with bins of equal weight.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    of : label, pair of labels or "top-label", default="top-label"
        The class whose probabilities are assessed. A pair means the first of two classes, given
        that the class is one of the two. "top-label" means the most probable class of each row.
    n_bins : int, default=None
        The number of bins. ``None`` means one bin per 20 rows, at most 10. Equal probabilities
        share a bin, so there may be fewer.
    level : float, default=0.95
        The confidence level of the limits of each observed frequency.

    Returns
    -------
    ReliabilityCurve
        The bins, in increasing order of predicted probability.

    Notes
    -----
    The limits are those of Wilson's score interval [1]_, whose coverage stays close to the
    nominal level even with few rows and at observed frequencies of 0 and 1 [2]_. With weights,
    the number of rows in a bin is replaced by the effective sample size
    :math:`(\sum_i w_i)^2 / \sum_i w_i^2`.

    The level holds for each bin separately. For calibrated probabilities in ten bins, about
    four curves in ten have a bin whose 95% interval misses the diagonal. For a single answer
    about all rows, use `calibration_test`.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical
           inference", Journal of the American Statistical Association 22, 1927.
    .. [2] L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial
           proportion", Statistical Science 16(2), 2001.

    Examples
    --------
    >>> from calibrant.metrics import reliability_curve
    >>> y, proba = [0] * 15 + [1] * 5 + [1] * 12 + [0] * 8, [0.1] * 20 + [0.7] * 20
    >>> print(reliability_curve(y, proba, of=1))
    predicted  observed  confidence limits  rows
        0.100     0.250     0.112 to 0.469    20
        0.700     0.600     0.387 to 0.781    20
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    return bin_forecast(choose_forecast(data, of), n_bins, level)


def bin_forecast(forecast: Forecast, n_bins: int | None, level: float = 0.95) -> ReliabilityCurve:
    """Compute the reliability curve of one forecast; see `reliability_curve`."""
    weight = forecast.weight
    if n_bins is None:
        n_bins = default_n_bins(len(weight))
    check_count("n_bins", n_bins, 1)
    bin_index = assign_bins(forecast.predicted, weight, n_bins)
    total = np.bincount(bin_index, weight).astype(np.float64)
    observed = np.bincount(bin_index, weight * forecast.outcome) / total
    effective_size = total**2 / np.bincount(bin_index, weight**2)
    low, high = wilson_interval(observed, effective_size, check_level(level))
    return ReliabilityCurve(
        predicted=np.bincount(bin_index, weight * forecast.predicted) / total,
        observed=observed,
        low=low,
        high=high,
        count=np.bincount(bin_index),
        weight=total,
        histogram=np.histogram(forecast.predicted, bins=N_HISTOGRAM_BINS, range=(0.0, 1.0))[0],
        level=level,
    )
