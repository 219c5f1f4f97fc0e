"""How good probabilities are: proper scores, and how far off they are on average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy
from sklearn.utils import check_array, check_consistent_length, column_or_1d

FloatArray = NDArray[np.float64]

# Logarithms of probabilities below this are taken at this, in the paper's tables. The log
# loss itself takes scikit-learn's limit, the precision of the given numbers.
PUBLISHED_SMALLEST_PROBABILITY = 1e-15
# Rows may differ from a sum of 1 by rounding, in single precision too.
SUM_TOLERANCE = 1e-5


def log_loss(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean negative log probability of the true class: the paper's LL.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        Class probabilities, columns in the order of the sorted labels; one dimension is
        the probability of the second of two classes.
    labels : array-like of shape (n_classes,), default=None
        The labels; None are those of ``y_true``.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        The log loss; 0 is best.

    Examples
    --------
    >>> from calibrant.metrics import log_loss
    >>> round(log_loss(["a", "b"], [[0.9, 0.1], [0.2, 0.8]]), 3)
    0.164
    """
    data = _check(y_true, proba, labels, sample_weight)
    given = np.asarray(proba).dtype
    smallest = np.finfo(given if given.kind == "f" else np.float64).eps
    own = np.maximum(data.proba[data.rows, data.true], smallest)
    return float(np.average(-np.log(own), weights=data.weight))


def brier_score(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean squared distance of the probabilities to the true class: the paper's MSE.

    Summed over the classes, so between 0 and 2; twice the usual score for two classes.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.

    Returns
    -------
    float
        The Brier score; 0 is best.

    Examples
    --------
    >>> from calibrant.metrics import brier_score
    >>> round(brier_score(["a", "b"], [[0.9, 0.1], [0.2, 0.8]]), 3)
    0.05
    """
    data = _check(y_true, proba, labels, sample_weight)
    return float(np.average(((data.proba - data.one_hot) ** 2).sum(axis=1), weights=data.weight))


def published_log_loss(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """LL as in the tables of the paper: binary log losses, summed over the classes.

    The published numbers do not follow the published equation, which is `log_loss`. Rows
    need not be probabilities: some behind the published tables are not.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.

    Returns
    -------
    float
        The sum over classes of the mean binary log loss; 0 is best.

    Examples
    --------
    >>> from calibrant.metrics import published_log_loss
    >>> round(published_log_loss(["a", "b"], [[0.9, 0.1], [0.2, 0.8]]), 3)
    0.329
    """
    data = _check(y_true, proba, labels, sample_weight, proper=False)
    smallest = PUBLISHED_SMALLEST_PROBABILITY
    clipped = np.clip(data.proba, smallest, 1.0 - smallest)
    loss = -xlogy(data.one_hot, clipped) - xlogy(1.0 - data.one_hot, 1.0 - clipped)
    return float(np.average(loss.sum(axis=1), weights=data.weight))


def published_mse(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """MSE as in the tables of the paper: `brier_score` divided by the number of classes.

    Rows need not be probabilities: some behind the published tables are not.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.

    Returns
    -------
    float
        The mean squared error; 0 is best.
    """
    data = _check(y_true, proba, labels, sample_weight, proper=False)
    return float(np.average(((data.proba - data.one_hot) ** 2).mean(axis=1), weights=data.weight))


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
    data = _check(y_true, proba, labels, sample_weight)
    if isinstance(of, str) and of == "top-label":
        return _top_label_curve(data, n_bins)
    if of not in data.labels:
        raise ValueError(
            f"of must be 'top-label' or one of {data.labels.tolist()}. Got {of!r}. "
            "Leave it out for the most probable class."
        )
    return _class_curve(data, int(np.flatnonzero(data.labels == of)[0]), n_bins)


def expected_calibration_error(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    kind: str = "top-label",
    n_bins: int = 10,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean distance between predicted probability and observed frequency.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.
    kind : {"top-label", "classwise"}, default="top-label"
        Whether to look at the probability of the most probable class, or at every class
        by itself and to average over the classes.
    n_bins : int, default=10
        The number of bins of equal weight.

    Returns
    -------
    float
        The calibration error; 0 is best. It is biased upward when rows are few.

    Examples
    --------
    >>> from calibrant.metrics import expected_calibration_error
    >>> proba = [[0.75, 0.25]] * 4
    >>> expected_calibration_error([0, 0, 0, 1], proba)
    0.0
    >>> expected_calibration_error([0, 0, 1, 1], proba, kind="classwise")
    0.25
    """
    if kind not in ("top-label", "classwise"):
        raise ValueError(
            f"kind must be 'top-label' or 'classwise'. Got {kind!r}. "
            "Leave it out for the most probable class."
        )
    data = _check(y_true, proba, labels, sample_weight)
    if kind == "top-label":
        return _top_label_curve(data, n_bins).calibration_error
    curves = [_class_curve(data, column, n_bins) for column in range(len(data.labels))]
    return float(np.mean([curve.calibration_error for curve in curves]))


@dataclass(frozen=True, eq=False)
class _Data:
    """Checked input of a metric."""

    true: NDArray[np.intp]
    proba: FloatArray
    labels: NDArray[Any]
    weight: FloatArray

    @property
    def rows(self) -> NDArray[np.intp]:
        return np.arange(len(self.true))

    @property
    def one_hot(self) -> FloatArray:
        return np.eye(self.proba.shape[1])[self.true]


def _check(
    y_true: ArrayLike,
    proba: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    proper: bool = True,
) -> _Data:
    truth = column_or_1d(y_true)
    if any(label is None or label != label for label in truth.tolist()):
        raise ValueError(
            "y_true must hold a label for every row. Got NaN or None. Drop those rows."
        )
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
            "Rows of proba must be non-negative and sum to 1. "
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
    return _Data(np.searchsorted(names, truth), values, names, weight)


def _top_label_curve(data: _Data, n_bins: int) -> ReliabilityCurve:
    top = data.proba.argmax(axis=1)
    return _bin(data.proba[data.rows, top], top == data.true, data.weight, n_bins)


def _class_curve(data: _Data, column: int, n_bins: int) -> ReliabilityCurve:
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
