"""How far a metric, or the difference of two, may be off by chance: bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d

from calibrant._core.records import Interval
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.metrics._validation import (
    Predictions,
    check_count,
    check_level,
    check_predictions,
)
from calibrant.metrics.scores import brier_score, log_loss, row_brier_score, row_log_loss

Metric = Callable[..., float]

# Metrics that are means over rows need not be computed anew for every resample.
ROW_LOSSES: dict[Metric, Callable[[Predictions], FloatArray]] = {
    log_loss: row_log_loss,
    brier_score: row_brier_score,
}


def bootstrap_interval(
    metric: Metric,
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Interval:
    """Confidence interval of a metric, by the bootstrap.

    Parameters
    ----------
    metric : callable
        A metric ``f(y_true, proba, *, labels, sample_weight)``, of this package or another.
    y_true, proba, labels, sample_weight
        As for `log_loss`.
    level : float, default=0.95
        The confidence of the interval.
    n_resamples : int, default=1000
        The number of resamples.
    groups : array-like of shape (n_samples,), default=None
        Groups of rows that belong together, such as those of one patient, or the predictions
        of one row in several repeats of cross-validation. They are resampled as a whole.
        None: every row stands alone.
    random_state : int, RandomState or None, default=None
        Seeds the resampling.

    Returns
    -------
    Interval
        The metric of the given rows, and the interval.

    Notes
    -----
    Bias-corrected and accelerated intervals [1]_, which allow for the skewness of losses.
    IndexArray are drawn regardless of their class: other rows would come with other class counts,
    and that is part of the chance. A resample is handed to the metric as sample weights.

    The interval is that of a number without bias. `expected_calibration_error` and
    `smooth_calibration_error` are biased upward where the true error is small; no interval of
    theirs reaches down to it. Use `squared_calibration_error` there, or `calibration_test`.

    References
    ----------
    .. [1] B. Efron, "Better bootstrap confidence intervals", Journal of the American
           Statistical Association 82, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics import bootstrap_interval, log_loss
    >>> y, proba = np.tile([0, 0, 0, 1], 25), np.tile([0.8, 0.2], (100, 1))
    >>> found = bootstrap_interval(log_loss, y, proba, random_state=0)
    >>> f"{found.estimate:.2f}, {found.low:.2f} to {found.high:.2f}"
    '0.57, 0.46 to 0.69'
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    resamples = _draw_groups(y_true, data.given, groups, n_resamples, random_state)
    return _interval(*resamples.values(metric, data), level)


def bootstrap_difference(
    metric: Metric,
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Interval:
    """Confidence interval of the difference of a metric between two predictions, paired.

    Parameters
    ----------
    metric, y_true, level, n_resamples, groups, random_state, labels, sample_weight
        As for `bootstrap_interval`.
    first, second : array-like of shape (n_samples, n_classes) or (n_samples,)
        Two predictions of the same rows.

    Returns
    -------
    Interval
        The metric of the first less that of the second, and the interval: of a loss, below 0
        if the first is better. Both are taken of the same resamples, so that what is hard
        for both cancels out.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics import bootstrap_difference, log_loss
    >>> y = np.tile([0, 0, 0, 1], 25)
    >>> calibrated, overconfident = np.tile([0.75, 0.25], (100, 1)), np.tile([0.99, 0.01], (100, 1))
    >>> found = bootstrap_difference(log_loss, y, calibrated, overconfident, random_state=0)
    >>> f"{found.estimate:.2f}, {found.low:.2f} to {found.high:.2f}"
    '-0.60, -0.98 to -0.35'
    """
    one = check_predictions(y_true, first, labels, sample_weight)
    other = check_predictions(y_true, second, labels, sample_weight)
    resamples = _draw_groups(y_true, one.given, groups, n_resamples, random_state)
    estimate, drawn, left_out = resamples.values(metric, one)
    other_estimate, other_drawn, other_left_out = resamples.values(metric, other)
    return _interval(
        estimate - other_estimate, drawn - other_drawn, left_out - other_left_out, level
    )


@dataclass(frozen=True, eq=False)
class _Resamples:
    """Resamples of rows in groups.

    Attributes
    ----------
    group : ndarray of shape (n_samples,)
        The number of each row's group.
    times_drawn : ndarray of shape (n_resamples, n_groups)
        How often each group is in each resample.
    """

    group: IndexArray
    times_drawn: FloatArray

    def values(self, metric: Metric, data: Predictions) -> tuple[float, FloatArray, FloatArray]:
        """Metric of all rows, of each resample, and of all groups but one."""
        n_groups = self.times_drawn.shape[1]
        if metric in ROW_LOSSES:
            weight = np.bincount(self.group, data.weight, n_groups)
            loss = np.bincount(self.group, data.weight * ROW_LOSSES[metric](data), n_groups)
            return (
                loss.sum() / weight.sum(),
                (self.times_drawn @ loss) / (self.times_drawn @ weight),
                (loss.sum() - loss) / (weight.sum() - weight),
            )
        y_true = data.labels[data.true]

        def value(times_taken: FloatArray) -> float:
            weight = data.weight * times_taken[self.group]
            return metric(y_true, data.proba, labels=data.labels, sample_weight=weight)

        return (
            value(np.ones(n_groups)),
            np.array([value(times) for times in self.times_drawn]),
            np.array([value(times) for times in 1.0 - np.eye(n_groups)]),
        )


def _draw_groups(
    y_true: ArrayLike,
    given: IndexArray,
    groups: ArrayLike | None,
    n_resamples: int,
    random_state: int | np.random.RandomState | None,
) -> _Resamples:
    """Draw groups with replacement, as many as there are."""
    check_count("n_resamples", n_resamples, 100)
    if groups is not None:
        check_consistent_length(y_true, groups)
    names = given if groups is None else column_or_1d(groups)[given]
    group = np.unique(names, return_inverse=True)[1]
    n_groups = group.max() + 1
    if n_groups < 2:
        raise ValueError(
            "There must be two groups of rows or more, for groups are what is drawn. "
            f"Got {n_groups} of positive weight. Leave groups out where rows stand alone."
        )
    drawn = check_random_state(random_state).randint(n_groups, size=(n_resamples, n_groups))
    drawn += n_groups * np.arange(n_resamples)[:, None]
    times = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
    return _Resamples(group, times.astype(np.float64))


def _interval(estimate: float, drawn: FloatArray, left_out: FloatArray, level: float) -> Interval:
    """Bias-corrected and accelerated interval.

    Parameters
    ----------
    estimate : float
        The number.
    drawn : ndarray of shape (n_resamples,)
        The same of each resample.
    left_out : ndarray of shape (n_groups,)
        The same without each of the groups.
    level : float
        The confidence of the interval.

    Returns
    -------
    Interval
        The interval.
    """
    tail = (1.0 - check_level(level)) / 2.0
    # The bias is the share of resamples below the estimate, equals counted half, as a normal
    # quantile: kept finite by half a resample.
    below = np.mean(drawn < estimate) + 0.5 * np.mean(drawn == estimate)
    bias = ndtri(np.clip(below, 0.5 / len(drawn), 1.0 - 0.5 / len(drawn)))
    influence = left_out.mean() - left_out
    spread = np.sum(influence**2)
    acceleration = np.sum(influence**3) / (6.0 * spread**1.5) if spread > 0 else 0.0
    normal = bias + ndtri([tail, 1.0 - tail])
    low, high = np.quantile(drawn, ndtr(bias + normal / (1.0 - acceleration * normal)))
    return Interval(float(estimate), float(low), float(high), level)
