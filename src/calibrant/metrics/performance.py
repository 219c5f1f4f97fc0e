"""The performance of class probabilities on held-out rows, as a record to compare with later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d

from calibrant._core.binning import default_n_bins
from calibrant._core.plain_values import read_class_count, read_count, read_number
from calibrant._core.records import Record
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.metrics._validation import check_predictions
from calibrant.metrics.calibration_errors import squared_calibration_error
from calibrant.metrics.scores import row_brier_scores, row_log_losses


@dataclass(frozen=True)
class Mean(Record):
    """A mean over independent rows with its standard error.

    Attributes
    ----------
    estimate : float
        The mean. NaN means that there are no rows.
    standard_error : float
        Its standard error. NaN means that there are fewer than two independent rows.
    n_rows : int
        The number of independent rows, or of groups of rows.
    """

    estimate: float
    standard_error: float
    n_rows: int

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the mean that `to_dict` was called on."""
        return cls(
            _number(content["estimate"]),
            _number(content["standard_error"]),
            read_count(content["n_rows"]),
        )


@dataclass(frozen=True)
class Performance(Record):
    """The performance of class probabilities on held-out rows.

    Attributes
    ----------
    n_rows : int
        The number of rows: the sum of their weights.
    class_count : tuple of float
        The number of rows of each class.
    log_loss, brier_score, accuracy : Mean
        The scores.
    confidence : Mean
        The mean probability of the most probable class.
    overconfidence : Mean
        The mean difference between the probability of the most probable class and whether it is
        the true one: the confidence minus the accuracy.
    calibration_error : float
        The calibration error of the most probable class, as in the report: the square root of
        `squared_calibration_error`, or 0 if that is negative. It uses the first row of each group.
    by_class : tuple of Mean
        For the rows of each class, the mean probability of that class.

    See Also
    --------
    measure_performance : Computes this record.
    """

    n_rows: int
    class_count: tuple[float, ...]
    log_loss: Mean
    brier_score: Mean
    accuracy: Mean
    confidence: Mean
    overconfidence: Mean
    calibration_error: float
    by_class: tuple[Mean, ...]

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the record that `to_dict` was called on.

        Parameters
        ----------
        content : mapping
            What `to_dict` returned, or the same after a round trip through JSON.

        Returns
        -------
        Performance
            An equal record.
        """
        means = ("log_loss", "brier_score", "accuracy", "confidence", "overconfidence")
        return cls(
            n_rows=read_count(content["n_rows"]),
            class_count=read_class_count(content["class_count"]),
            calibration_error=_number(content["calibration_error"]),
            by_class=tuple(Mean.from_dict(each) for each in content["by_class"]),
            **{name: Mean.from_dict(content[name]) for name in means},
        )


def measure_performance(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Performance:
    r"""Summarize how well class probabilities predict held-out rows.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    groups : array-like of shape (n_samples,), default=None
        The group of each row. Rows of one group are not independent: they belong to the same
        patient, for example, or are predictions for the same row. ``None`` means independent rows.

    Returns
    -------
    Performance
        The scores with their standard errors.

    Notes
    -----
    With :math:`v_i` the value of row :math:`i`, such as its log loss, :math:`w_i` its weight and
    :math:`\bar{v}` the weighted mean, the squared standard error is

    .. math:: \frac{G}{G - 1} \cdot
        \frac{\sum_g \bigl( \sum_{i \in g} w_i (v_i - \bar{v}) \bigr)^2}{{(\sum_i w_i)}^2}

    with the sum over the :math:`G` groups.

    Examples
    --------
    >>> from calibrant.metrics import measure_performance
    >>> found = measure_performance(["a", "b"] * 50, [[0.8, 0.2], [0.4, 0.6]] * 50)
    >>> found.accuracy.estimate, round(found.overconfidence.estimate, 2)
    (1.0, -0.3)
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    group = np.arange(len(data.y_index))
    if groups is not None:
        check_consistent_length(y_true, groups)
        group = np.unique(column_or_1d(groups)[data.position], return_inverse=True)[1]
    columns = np.arange(data.proba.shape[1])
    is_correct = (data.top_label == data.y_index).astype(np.float64)
    confidence = data.proba.max(axis=1)
    true_proba = data.proba[np.arange(len(group)), data.y_index]

    def mean(values: FloatArray) -> Mean:
        return grouped_mean(values, data.weight, group)

    def mean_of_class(k: int) -> Mean:
        chosen = data.y_index == k
        return grouped_mean(true_proba[chosen], data.weight[chosen], group[chosen])

    # Products of residuals are unbiased only for rows that are independent of each other.
    _, first = np.unique(group, return_index=True)
    squared_error = squared_calibration_error(
        data.y_index[first],
        data.proba[first],
        n_bins=default_n_bins(len(first)),
        labels=columns,
        sample_weight=data.weight[first],
    )
    class_count = np.bincount(data.y_index, data.weight, len(columns))
    return Performance(
        n_rows=round(float(data.weight.sum())),
        class_count=tuple(class_count.tolist()),
        log_loss=mean(row_log_losses(data)),
        brier_score=mean(row_brier_scores(data)),
        accuracy=mean(is_correct),
        confidence=mean(confidence),
        overconfidence=mean(confidence - is_correct),
        calibration_error=float(np.sqrt(max(squared_error, 0.0))),
        by_class=tuple(map(mean_of_class, columns.tolist())),
    )


def grouped_mean(values: FloatArray, weight: FloatArray, group: IndexArray) -> Mean:
    """Return the weighted mean with a standard error that accounts for groups.

    Parameters
    ----------
    values, weight : ndarray of shape (n_rows,)
        The value and the weight of each row.
    group : ndarray of shape (n_rows,)
        The group of each row, as an index.

    Returns
    -------
    Mean
        The mean. The notes of `measure_performance` have the formula of the standard error.
    """
    n_groups = len(np.unique(group))
    if n_groups == 0:
        return Mean(np.nan, np.nan, 0)
    estimate = float(np.average(values, weights=weight))
    if n_groups == 1:
        return Mean(estimate, np.nan, 1)
    deviation = np.bincount(group, weight * (values - estimate))
    variance = n_groups / (n_groups - 1) * float(deviation @ deviation) / float(weight.sum()) ** 2
    return Mean(estimate, variance**0.5, n_groups)


def _number(value: Any) -> float:
    """Return a number; None, as NaN becomes in JSON, means NaN."""
    return np.nan if value is None else read_number(value)
