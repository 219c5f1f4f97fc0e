"""Net benefit and decision curves: what a decision at a threshold is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from calibrant._core.records import Interval, Record
from calibrant._core.typing import BoolArray, FloatArray
from calibrant._core.validation import check_level
from calibrant.decisions._bounded_means import bounded_mean
from calibrant.metrics._forecasts import Forecast, choose_forecast
from calibrant.metrics._validation import check_predictions

DEFAULT_THRESHOLDS = np.arange(1, 100) / 100


@dataclass(frozen=True, eq=False)
class DecisionCurve(Record):
    """Net benefit of acting on the probabilities of a class, by threshold.

    Net benefit is in units of rows that are rightly treated, per row. That of treating no row is 0.

    Attributes
    ----------
    threshold : ndarray of shape (n_thresholds,)
        The probability from which on a row is treated.
    net_benefit : ndarray of shape (n_thresholds,)
        The net benefit of treating the rows whose probability reaches the threshold.
    low, high : ndarray of shape (n_thresholds,)
        Its pointwise confidence limits.
    treat_all : ndarray of shape (n_thresholds,)
        The net benefit of treating every row.
    advantage : ndarray of shape (n_thresholds,)
        The net benefit minus that of treating every row or no row, whichever is better.
    advantage_low, advantage_high : ndarray of shape (n_thresholds,)
        Its pointwise confidence limits.
    prevalence : float
        The fraction of rows of the class.
    level : float
        The confidence level of the limits.
    """

    threshold: FloatArray
    net_benefit: FloatArray
    low: FloatArray
    high: FloatArray
    treat_all: FloatArray
    advantage: FloatArray
    advantage_low: FloatArray
    advantage_high: FloatArray
    prevalence: float
    level: float = 0.95


def net_benefit(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    threshold: float,
    of: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the net benefit of treating rows whose probability reaches a threshold.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `calibrant.metrics.log_loss`.
    threshold : float
        The threshold, between 0 and 1.
    of : label, pair of labels or "top-label", default=None
        The class to treat, or another event, as in `calibrant.metrics.weak_calibration`. ``None``
        means the second of two classes.

    Returns
    -------
    float
        The net benefit, at most the frequency of the class. Treating no row has a net benefit of 0.

    See Also
    --------
    decision_curve : Net benefit for many thresholds, with intervals.

    Notes
    -----
    A threshold :math:`t` says that treating a row of another class costs :math:`t / (1 - t)` times
    what treating a row of the class gains. With the numbers of rightly and wrongly treated rows,
    the net benefit is [1]_

    .. math:: \frac{\mathrm{TP}}{n} - \frac{\mathrm{FP}}{n} \cdot \frac{t}{1 - t} .

    References
    ----------
    .. [1] A. J. Vickers and E. B. Elkin, "Decision curve analysis: a novel method for evaluating
           prediction models", Medical Decision Making 26(6), 2006.

    Examples
    --------
    >>> from calibrant.decisions import net_benefit
    >>> round(net_benefit([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], threshold=0.2), 4)
    0.4375
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    _check_thresholds(np.array([threshold]))
    forecast = choose_forecast(data, of)
    benefit = _row_benefit(forecast, forecast.predicted >= threshold, threshold)
    return float(np.average(benefit, weights=forecast.weight))


def decision_curve(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    of: Any = None,
    thresholds: ArrayLike | None = None,
    level: float = 0.95,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> DecisionCurve:
    r"""Compute a decision curve: net benefit by threshold, with treat all and treat none.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `calibrant.metrics.log_loss`.
    of : label, pair of labels or "top-label", default=None
        The class to treat, as in `net_benefit`. ``None`` means the second of two classes.
    thresholds : array-like of shape (n_thresholds,), default=None
        The thresholds. ``None`` means 0.01, 0.02, ..., 0.99.
    level : float, default=0.95
        The confidence level of the intervals.

    Returns
    -------
    DecisionCurve
        The curve.

    See Also
    --------
    cost_curve : The same for any cost matrix.
    calibrant.plots.DecisionCurveDisplay : Draws the curve.

    Notes
    -----
    Net benefit is a mean over rows, and the limits are those of Student's t. Half a row with the
    smallest and half a row with the largest possible benefit are added to the variance, because
    with few rows, all rows may by chance have the same benefit. Weights are numbers of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.decisions import decision_curve
    >>> rng = np.random.RandomState(0)
    >>> proba = rng.uniform(size=500)
    >>> y = (rng.uniform(size=500) < proba).astype(int)
    >>> curve = decision_curve(y, proba, thresholds=[0.2, 0.5])
    >>> curve.net_benefit.round(3).tolist(), curve.treat_all.round(3).tolist()
    ([0.422, 0.26], [0.392, 0.028])
    """
    data = check_predictions(y_true, proba, labels, sample_weight).with_row_counts()
    check_level(level)
    chosen = DEFAULT_THRESHOLDS
    if thresholds is not None:
        chosen = np.asarray(column_or_1d(thresholds), dtype=np.float64)
    _check_thresholds(chosen)
    forecast = choose_forecast(data, of)
    everyone = np.ones(len(forecast.weight), dtype=bool)
    benefits, treat_all, advantages = [], [], []
    for threshold in chosen.tolist():
        odds = threshold / (1.0 - threshold)
        rows = _row_benefit(forecast, forecast.predicted >= threshold, threshold)
        rows_of_all = _row_benefit(forecast, everyone, threshold)
        benefit = bounded_mean(rows, forecast.weight, (-odds, 1.0), level)
        of_all = float(np.average(rows_of_all, weights=forecast.weight))
        if of_all > 0:  # treating all is better than treating none
            advantage = bounded_mean(rows - rows_of_all, forecast.weight, (-1.0, odds), level)
        else:
            advantage = benefit
        benefits.append(benefit)
        treat_all.append(of_all)
        advantages.append(advantage)
    benefit_columns, advantage_columns = as_columns(benefits), as_columns(advantages)
    return DecisionCurve(
        threshold=chosen,
        net_benefit=benefit_columns[0],
        low=benefit_columns[1],
        high=benefit_columns[2],
        treat_all=np.array(treat_all),
        advantage=advantage_columns[0],
        advantage_low=advantage_columns[1],
        advantage_high=advantage_columns[2],
        prevalence=float(np.average(forecast.outcome, weights=forecast.weight)),
        level=level,
    )


def as_columns(intervals: list[Interval]) -> FloatArray:
    """Return the estimates, the lower and the upper limits of intervals, as three rows."""
    return np.array([[each.estimate, each.low, each.high] for each in intervals]).T


def _row_benefit(forecast: Forecast, is_treated: BoolArray, threshold: float) -> FloatArray:
    """Return the benefit of each row: 1 if rightly treated, minus the odds if wrongly treated."""
    harm = threshold / (1.0 - threshold)
    return np.where(is_treated, np.where(forecast.outcome == 1.0, 1.0, -harm), 0.0)


def _check_thresholds(thresholds: FloatArray) -> None:
    if not np.all((thresholds >= 0) & (thresholds < 1)):
        raise ValueError(
            "Thresholds must be at least 0 and below 1, got values from "
            f"{thresholds.min():g} to {thresholds.max():g}. Pass probabilities."
        )
