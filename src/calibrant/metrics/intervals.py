"""Bootstrap confidence intervals for metrics and for differences between metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d

from calibrant._core.records import Interval
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import check_level
from calibrant.metrics._validation import Predictions, check_count, check_predictions
from calibrant.metrics.scores import brier_score, log_loss, row_brier_scores, row_log_losses

Metric = Callable[..., float]

# Values that differ by less than this proportion are ties broken by rounding.
ROUNDING = 1e-12

# For means over rows, resampling the loss of each row replaces one metric call per resample.
ROW_LOSSES: dict[Metric, Callable[[Predictions], FloatArray]] = {
    log_loss: row_log_losses,
    brier_score: row_brier_scores,
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
    """Bootstrap confidence interval for a metric.

    Parameters
    ----------
    metric : callable
        A function ``metric(y_true, proba, *, labels, sample_weight)``, from this module or
        elsewhere.
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    level : float, default=0.95
        The confidence level.
    n_resamples : int, default=1000
        The number of bootstrap resamples, at least 100.
    groups : array-like of shape (n_samples,), default=None
        The group of each row. Rows in the same group are not independent: they belong to the
        same patient, for example, or are predictions for the same row in repeated
        cross-validation. Groups are resampled as a whole. ``None`` means independent rows.
    random_state : int, RandomState or None, default=None
        Seeds the resampling.

    Returns
    -------
    Interval
        The metric on all rows and its confidence interval.

    See Also
    --------
    bootstrap_difference : Compare two predictions for the same rows.

    Notes
    -----
    The interval is bias-corrected and accelerated (BCa) [1]_, which accounts for the skewness
    of losses. Rows are resampled regardless of their class, so class frequencies vary as they
    would between samples. Resamples are passed to the metric as sample weights.

    A confidence interval does not remove the bias of a metric. `expected_calibration_error` and
    `smooth_calibration_error` are biased upward, and if the true error is small, their
    intervals lie above it. Use `squared_calibration_error` or `calibration_test` instead.

    References
    ----------
    .. [1] B. Efron, "Better bootstrap confidence intervals", Journal of the American
           Statistical Association 82, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics import bootstrap_interval, log_loss
    >>> y, proba = np.tile([0, 0, 0, 1], 25), np.tile([0.8, 0.2], (100, 1))
    >>> print(bootstrap_interval(log_loss, y, proba, random_state=0))
    0.5697 (95% CI 0.4588 to 0.7083)
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    resamples = _draw_resamples(y_true, data, groups, n_resamples, random_state)
    return _bca_interval(resamples.evaluate(metric, data), level)


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
    """Bootstrap confidence interval for the difference between two predictions.

    Parameters
    ----------
    metric, y_true, level, n_resamples, groups, random_state, labels, sample_weight
        See `bootstrap_interval`.
    first, second : array-like of shape (n_samples, n_classes) or (n_samples,)
        Two predictions for the same rows.

    Returns
    -------
    Interval
        The metric of ``first`` minus that of ``second``, and its confidence interval. For a
        loss, negative values favor ``first``.

    See Also
    --------
    bootstrap_interval : A description of the method.

    Notes
    -----
    Both predictions are evaluated on the same resamples. Whatever makes a row hard for both of
    them cancels out, so the interval is narrower than the intervals of the two metrics suggest.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics import bootstrap_difference, log_loss
    >>> y = np.tile([0, 0, 0, 1], 25)
    >>> calibrated, overconfident = np.tile([0.75, 0.25], (100, 1)), np.tile([0.99, 0.01], (100, 1))
    >>> print(bootstrap_difference(log_loss, y, calibrated, overconfident, random_state=0))
    -0.5965 (95% CI -0.9461 to -0.3168)
    """
    data = check_predictions(y_true, first, labels, sample_weight)
    other = check_predictions(y_true, second, labels, sample_weight)
    resamples = _draw_resamples(y_true, data, groups, n_resamples, random_state)
    difference = resamples.evaluate(metric, data) - resamples.evaluate(metric, other)
    return _bca_interval(difference, level)


@dataclass(frozen=True, eq=False)
class _BootstrapValues:
    """A metric on all rows, on the resamples, and on the jackknife samples.

    Attributes
    ----------
    estimate : float
        The metric on all rows.
    resampled : ndarray of shape (n_resamples,)
        The metric on each resample.
    jackknife : ndarray of shape (n_groups,)
        The metric without each group in turn.
    """

    estimate: float
    resampled: FloatArray
    jackknife: FloatArray

    def __sub__(self, other: _BootstrapValues) -> _BootstrapValues:
        return _BootstrapValues(
            self.estimate - other.estimate,
            self.resampled - other.resampled,
            self.jackknife - other.jackknife,
        )


@dataclass(frozen=True, eq=False)
class _Resamples:
    """Bootstrap resamples of groups of rows.

    Attributes
    ----------
    group : ndarray of shape (n_samples,)
        The index of each row's group.
    times_drawn : ndarray of shape (n_resamples, n_groups)
        The number of times that each group occurs in each resample.
    """

    group: IndexArray
    times_drawn: FloatArray

    def evaluate(self, metric: Metric, data: Predictions) -> _BootstrapValues:
        n_groups = self.times_drawn.shape[1]
        if metric in ROW_LOSSES:
            weight = np.bincount(self.group, data.weight, n_groups)
            loss = np.bincount(self.group, data.weight * ROW_LOSSES[metric](data), n_groups)
            return _BootstrapValues(
                loss.sum() / weight.sum(),
                (self.times_drawn @ loss) / (self.times_drawn @ weight),
                (loss.sum() - loss) / (weight.sum() - weight),
            )
        y_true = data.labels[data.y_index]

        def value(group_count: FloatArray) -> float:
            weight = data.weight * group_count[self.group]
            return metric(y_true, data.proba, labels=data.labels, sample_weight=weight)

        return _BootstrapValues(
            value(np.ones(n_groups)),
            np.array([value(group_count) for group_count in self.times_drawn]),
            np.array([value(group_count) for group_count in 1.0 - np.eye(n_groups)]),
        )


def _draw_resamples(
    y_true: ArrayLike,
    data: Predictions,
    groups: ArrayLike | None,
    n_resamples: int,
    random_state: int | np.random.RandomState | None,
) -> _Resamples:
    """Draw resamples of the groups with replacement, each with the original number of groups."""
    check_count("n_resamples", n_resamples, 100)
    if groups is not None:
        check_consistent_length(y_true, groups)
    names = data.position if groups is None else column_or_1d(groups)[data.position]
    group = np.unique(names, return_inverse=True)[1]
    n_groups = group.max() + 1
    if n_groups < 2:
        raise ValueError(
            f"At least two groups must have positive weight, got {n_groups}, because groups are "
            "resampled. If rows are independent, omit groups."
        )
    drawn = check_random_state(random_state).randint(n_groups, size=(n_resamples, n_groups))
    drawn += n_groups * np.arange(n_resamples)[:, None]
    times_drawn = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
    return _Resamples(group, times_drawn.astype(np.float64))


def _bca_interval(values: _BootstrapValues, level: float) -> Interval:
    """Return the bias-corrected and accelerated interval.

    With z0 the bias and a the acceleration, the end at normal quantile z is the quantile
    Phi(z0 + (z0 + z) / (1 - a (z0 + z))) of the resampled values.
    """
    tail = (1.0 - check_level(level)) / 2.0
    resampled, n_resamples = values.resampled, len(values.resampled)
    # z0 is the normal quantile of the fraction of resamples below the estimate, with ties
    # counting half. Clipping the fraction keeps the quantile finite.
    is_tied = np.isclose(resampled, values.estimate, rtol=ROUNDING, atol=0.0)
    below = np.mean((resampled < values.estimate) & ~is_tied) + 0.5 * np.mean(is_tied)
    bias = ndtri(np.clip(below, 0.5 / n_resamples, 1.0 - 0.5 / n_resamples))
    influence = values.jackknife.mean() - values.jackknife
    spread = np.sum(influence**2)
    acceleration = np.sum(influence**3) / (6.0 * spread**1.5) if spread > 0 else 0.0
    normal = bias + ndtri([tail, 1.0 - tail])
    low, high = np.quantile(resampled, ndtr(bias + normal / (1.0 - acceleration * normal)))
    return Interval(float(values.estimate), float(low), float(high), level)
