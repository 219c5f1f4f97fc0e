"""Discrimination: how well probabilities rank rows of different classes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.records import Interval, Record
from calibrant._core.typing import BoolArray, FloatArray
from calibrant._core.validation import check_level
from calibrant.metrics._forecasts import choose_forecast
from calibrant.metrics._proportions import wilson_interval
from calibrant.metrics._validation import Predictions, check_predictions


@dataclass(frozen=True)
class PairDiscrimination(Record):
    """How well two classes are told apart.

    Attributes
    ----------
    first, second : label
        The two classes.
    auc : Interval
        Hand and Till's measure: the mean of the AUC of the first class's probability and of the
        AUC of the second class's probability, among the rows of the two classes.
    conditional_auc : Interval
        The AUC of the probability of the first class, given that the class is one of the two.
    """

    first: Any
    second: Any
    auc: Interval
    conditional_auc: Interval


@dataclass(frozen=True)
class Discrimination(Record):
    """How well probabilities tell classes apart.

    Attributes
    ----------
    classes : tuple of labels
        The classes.
    by_class : tuple of Interval
        For each class, the AUC of its probability as opposed to all others.
    by_pair : tuple of PairDiscrimination
        The pairs of classes.
    m_index : Interval
        The mean of the AUCs of all pairs. Chance gives 0.5.
    polytomous_discrimination_index : Interval
        The probability that the member of a class has the highest probability of that class, among
        one row from each class. Chance gives 1 divided by the number of classes.
    """

    classes: tuple[Any, ...]
    by_class: tuple[Interval, ...]
    by_pair: tuple[PairDiscrimination, ...]
    m_index: Interval
    polytomous_discrimination_index: Interval

    def __str__(self) -> str:
        lines = [
            f"AUC, class {name} or another: {each}"
            for name, each in zip(self.classes, self.by_class, strict=True)
        ]
        lines += [f"AUC, class {each.first} or {each.second}: {each.auc}" for each in self.by_pair]
        lines.append(f"M-index: {self.m_index}")
        lines.append(f"Polytomous discrimination index: {self.polytomous_discrimination_index}")
        return "\n".join(lines)


def auc(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    of: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the area under the ROC curve (AUC, c-statistic) of one event.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    of : label, pair of labels or "top-label", default=None
        The event, as in `weak_calibration`. ``None`` means the second of two classes.

    Returns
    -------
    float
        The probability that a row with the event has a higher predicted probability than a row
        without it, where ties count one half. NaN means that all or no rows have the event.

    See Also
    --------
    measure_discrimination : AUCs of all classes and pairs, with intervals.

    Examples
    --------
    >>> from calibrant.metrics import auc
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    forecast = choose_forecast(data, of)
    is_event = forecast.outcome == 1.0
    return _highest(forecast.predicted, [is_event, ~is_event], forecast.weight).estimate


def m_index(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the M-index of Hand and Till.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`. Every class must have rows; otherwise the result is NaN.

    Returns
    -------
    float
        The mean of the AUCs of all pairs of classes. Chance gives 0.5; the best value is 1.

    See Also
    --------
    measure_discrimination : The same with an interval.

    Notes
    -----
    With :math:`A(i \mid j)` the AUC of the probability of class :math:`i` among the rows of classes
    :math:`i` and :math:`j`, the index is [1]_

    .. math:: M = \frac{2}{K (K - 1)} \sum_{i < j} \frac{A(i \mid j) + A(j \mid i)}{2} .

    It does not depend on the class frequencies.

    References
    ----------
    .. [1] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for
           multiple class classification problems", Machine Learning 45, 2001.

    Examples
    --------
    >>> from calibrant.metrics import m_index
    >>> m_index([0, 1, 2], [[0.6, 0.3, 0.1], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]])
    1.0
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    return _m_statistic(data).estimate


def polytomous_discrimination_index(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the polytomous discrimination index (PDI).

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`. Every class must have rows; otherwise the result is NaN.

    Returns
    -------
    float
        The index. Chance gives 1 divided by the number of classes; the best value is 1.

    See Also
    --------
    measure_discrimination : The same with an interval.

    Notes
    -----
    Draw one row from each class. The index is the probability that the row of class :math:`k` has
    the highest probability of class :math:`k` among them, averaged over :math:`k` [1]_; ties are
    shared equally. For two classes, it is the AUC.

    All :math:`\prod_k n_k` sets of rows are accounted for in a time of order :math:`n K^2 \log n`.
    Without ties, a row wins with the product over the other classes of the fraction of their rows
    below it. With ties, the index is the integral over :math:`t` from 0 to 1 of the product of the
    fraction below plus :math:`t` times the fraction tied, which a Gauss-Legendre rule gives
    exactly.

    References
    ----------
    .. [1] B. Van Calster, V. Van Belle, Y. Vergouwe, D. Timmerman, S. Van Huffel and E. W.
           Steyerberg, "Extending the c-statistic to nominal polytomous outcomes: the Polytomous
           Discrimination Index", Statistics in Medicine 31(23), 2012.

    Examples
    --------
    >>> from calibrant.metrics import polytomous_discrimination_index
    >>> proba = [[0.6, 0.3, 0.1], [0.3, 0.5, 0.2], [0.5, 0.2, 0.3], [0.2, 0.1, 0.7]]
    >>> round(polytomous_discrimination_index([0, 1, 2, 2], proba), 3)
    1.0
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    return _pdi_statistic(data).estimate


def measure_discrimination(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    level: float = 0.95,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Discrimination:
    r"""Measure how well probabilities tell classes apart, with intervals.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    level : float, default=0.95
        The confidence level of the intervals.

    Returns
    -------
    Discrimination
        AUCs by class and by pair, M-index and polytomous discrimination index. Measures of classes
        without rows are NaN.

    Notes
    -----
    All measures are U-statistics, and their standard errors are those of DeLong et al. [1]_: from
    the mean contribution of each row, class by class. The limits are those of Wilson's interval
    for a proportion :math:`a` with the same estimate and variance, where
    :math:`a (1 - a) / (m^2 s)` is added to the variance, :math:`m` is the size of the smallest
    class, and :math:`s` is 1 for an AUC, the number of pairs for the M-index, and the number of
    classes minus 1 for the polytomous discrimination index: if classes are small or almost
    separated, DeLong's variance alone is too small. An estimate of 1 is treated as a proportion of
    :math:`m` rows. Weights are numbers of rows.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or
           more correlated receiver operating characteristic curves: a nonparametric approach",
           Biometrics 44, 1988.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.metrics import measure_discrimination
    >>> model = GaussianNB().fit(*make_waveform(300, random_state=0))
    >>> X, y = make_waveform(300, random_state=1)
    >>> found = measure_discrimination(y, model.predict_proba(X))
    >>> print(found.m_index)
    0.9476 (95% CI 0.9285 to 0.9618)
    >>> print(found.polytomous_discrimination_index)
    0.903 (95% CI 0.8697 to 0.9285)
    """
    data = check_predictions(y_true, proba, labels, sample_weight).with_row_counts()
    check_level(level)
    names = data.labels.tolist()

    def interval(statistic: _Statistic) -> Interval:
        return statistic.interval(data, level)

    def by_pair(i: int, j: int) -> PairDiscrimination:
        total = data.proba[:, i] + data.proba[:, j]
        share = np.divide(data.proba[:, i], total, out=np.full_like(total, 0.5), where=total > 0)
        conditional = _highest(share, [data.y_index == i, data.y_index == j], data.weight)
        return PairDiscrimination(
            names[i], names[j], interval(_pair_statistic(data, i, j)), interval(conditional)
        )

    return Discrimination(
        classes=tuple(names),
        by_class=tuple(
            interval(
                _highest(data.proba[:, k], [data.y_index == k, data.y_index != k], data.weight)
            )
            for k in range(len(names))
        ),
        by_pair=tuple(by_pair(i, j) for i, j in combinations(range(len(names)), 2)),
        m_index=interval(_m_statistic(data)),
        polytomous_discrimination_index=interval(_pdi_statistic(data)),
    )


@dataclass(frozen=True, eq=False)
class _Statistic:
    """A U-statistic of rows from several samples.

    Attributes
    ----------
    estimate : float
        The value.
    contribution : ndarray of shape (n_samples,)
        The mean of the kernel over all sets of rows that include this row, which may differ by a
        constant between samples.
    samples : list of ndarray of shape (n_samples,)
        The members of each sample.
    n_averaged : int, default=1
        The number of statistics that it is the mean of, not counting repetitions.
    """

    estimate: float
    contribution: FloatArray
    samples: list[BoolArray]
    n_averaged: int = 1

    def interval(self, data: Predictions, level: float) -> Interval:
        """Return the estimate with its confidence interval."""
        if np.isnan(self.estimate):
            return Interval(np.nan, np.nan, np.nan, level)
        estimate = min(max(self.estimate, 0.0), 1.0)
        largest = estimate * (1.0 - estimate)
        sizes, variance = [], 0.0
        for sample in self.samples:
            weight, value = data.weight[sample], self.contribution[sample]
            size = float(weight.sum())
            sizes.append(size)
            spread = float(weight @ (value - np.average(value, weights=weight)) ** 2)
            variance += (spread / (size - 1.0) if size > 1.0 else largest) / size
        # Few rows underestimate small variances. At an estimate of 0 or 1, they show none at all.
        # What is missing is nearly independent between the statistics of a mean.
        variance += largest / min(sizes) ** 2 / self.n_averaged
        n_rows = largest / variance if largest > 0 else min(sizes)
        low, high = wilson_interval(np.array([estimate]), np.array([n_rows]), level)
        return Interval(self.estimate, float(low[0]), float(high[0]), level)


def _mean(
    statistics: list[_Statistic], samples: list[BoolArray], n_averaged: int = 1
) -> _Statistic:
    """Return the mean of statistics, as one of the given samples."""
    estimate = float(np.mean([each.estimate for each in statistics]))
    contribution = np.mean([each.contribution for each in statistics], axis=0)
    return _Statistic(estimate, contribution, samples, n_averaged)


def _members(data: Predictions) -> list[BoolArray]:
    return [data.y_index == k for k in range(len(data.labels))]


def _pair_statistic(data: Predictions, i: int, j: int) -> _Statistic:
    pair = [data.y_index == i, data.y_index == j]
    first = _highest(data.proba[:, i], pair, data.weight)
    second = _highest(data.proba[:, j], pair[::-1], data.weight)
    return _mean([first, second], pair)


def _m_statistic(data: Predictions) -> _Statistic:
    pairs = list(combinations(range(len(data.labels)), 2))
    each = [_pair_statistic(data, i, j) for i, j in pairs]
    return _mean(each, _members(data), len(pairs))


def _pdi_statistic(data: Predictions) -> _Statistic:
    members = _members(data)
    each = []
    for k, own in enumerate(members):
        others = [members[j] for j in range(len(members)) if j != k]
        each.append(_highest(data.proba[:, k], [own, *others], data.weight))
    # One of the probabilities follows from the others.
    return _mean(each, members, len(members) - 1)


def _highest(score: FloatArray, samples: list[BoolArray], weight: FloatArray) -> _Statistic:
    """Return the probability that, of one row per sample, that of the first scores highest."""
    contribution = np.zeros(len(score))
    own, *others = samples
    if not all(each.any() for each in samples):
        return _Statistic(np.nan, contribution, samples)
    # The integral of a polynomial of this degree is exact with half as many nodes.
    node, node_weight = np.polynomial.legendre.leggauss(len(others) // 2 + 1)
    node, node_weight = (node + 1.0) / 2.0, node_weight / 2.0
    own_weight = weight[own] / weight[own].sum()
    # One row per row of the first sample, one column per node.
    beaten = [
        below[:, None] + tied[:, None] * node
        for below, tied in (_fractions(score[own], score[other], weight[other]) for other in others)
    ]
    wins = np.prod(beaten, axis=0) @ node_weight
    contribution[own] = wins
    for j, other in enumerate(others):
        rest = np.prod(beaten[:j] + beaten[j + 1 :], axis=0) * np.ones_like(beaten[j])
        for q, share in enumerate(node_weight):
            amount = share * rest[:, q] * own_weight
            below, tied = _fractions(-score[other], -score[own], amount, normalize=False)
            contribution[other] += below + node[q] * tied
    # Rounding must not leave a perfect separation just below 1.
    return _Statistic(round(float(own_weight @ wins), 12), contribution, samples)


def _fractions(
    at: FloatArray, score: FloatArray, weight: FloatArray, *, normalize: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return the weight of the scores below, and tied with, each value."""
    order = np.argsort(score)
    cumulative = np.concatenate([[0.0], weight[order].cumsum()])
    if normalize:
        cumulative /= cumulative[-1]
    first = cumulative[np.searchsorted(score[order], at, side="left")]
    last = cumulative[np.searchsorted(score[order], at, side="right")]
    return first, last - first
