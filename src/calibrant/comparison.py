"""Statistical comparison of methods: paired tests, ranks and critical differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from calibrant._core.records import Interval, Record
from calibrant._core.typing import FloatArray
from calibrant._core.validation import check_alpha, check_level


@dataclass(frozen=True)
class Comparison(Record):
    """The result of a test that compares the losses of two methods.

    Attributes
    ----------
    difference : float
        The mean loss of the first method minus that of the second. Negative values favor the
        first.
    statistic : float
        The test statistic.
    p_value : float
        The two-sided p-value; 1 if the losses are equal.
    """

    difference: float
    statistic: float
    p_value: float

    def __str__(self) -> str:
        return f"Difference {self.difference:.4g}, p = {self.p_value:.3g}"

    def is_significant(self, alpha: float = 0.05) -> bool:
        """Return whether the p-value is below the significance level ``alpha``."""
        return self.p_value < check_alpha(alpha)


def paired_t_test(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Student's t-test of paired differences.

    This test reproduces the results of the paper. It treats folds as independent although their
    training sets overlap, so it finds too many differences significant. Use `corrected_t_test`
    for cross-validation.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        The losses of two methods on the same folds.

    Returns
    -------
    Comparison
        The result of the test.
    """
    return _t_test(*_check_pair(first, second), test_ratio=0.0)


def corrected_t_test(
    first: ArrayLike, second: ArrayLike, test_ratio: float | None = None
) -> Comparison:
    r"""Paired t-test corrected for overlapping training sets.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        The losses of two methods on the same folds or resamples.
    test_ratio : float, default=None
        The ratio of test rows to training rows in a fold. ``None`` means the ratio in k-fold
        cross-validation, ``1 / (k - 1)``.

    Returns
    -------
    Comparison
        The result of the test.

    Notes
    -----
    With :math:`\bar{d}` and :math:`s^2` the mean and variance of the :math:`J` differences and
    :math:`\rho` the test ratio, the statistic

    .. math:: t = \frac{\bar{d}}{\sqrt{(1 / J + \rho) \, s^2}}

    is compared with Student's t distribution with :math:`J - 1` degrees of freedom [1]_.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine
           Learning 52, 2003.
    """
    return _t_test(*_check_pair(first, second), test_ratio)


def corrected_interval(
    first: ArrayLike, second: ArrayLike, test_ratio: float | None = None, *, level: float = 0.95
) -> Interval:
    """Confidence interval for the mean difference, consistent with `corrected_t_test`.

    Parameters
    ----------
    first, second, test_ratio
        See `corrected_t_test`.
    level : float, default=0.95
        The confidence level.

    Returns
    -------
    Interval
        The mean difference and its confidence interval, which excludes 0 if and only if the
        difference is significant at ``alpha = 1 - level``.
    """
    difference = np.subtract(*_check_pair(first, second))
    quantile = stats.t.ppf((1.0 + check_level(level)) / 2, len(difference) - 1)
    half = quantile * _standard_error(difference, test_ratio)
    mean = difference.mean()
    return Interval(float(mean), float(mean - half), float(mean + half), level)


def welch_t_test(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Welch's t-test of two independent samples with unequal variances.

    The paper reports a "Student's paired t-test with unequal variance assumption and the Welch
    modification to the degrees of freedom", which mixes two tests: a paired test has one sample
    of differences and hence no second variance. This function implements Welch's test,
    which ignores the pairing of the folds; `paired_t_test` reproduces the published counts.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        The losses of two methods on the same folds.

    Returns
    -------
    Comparison
        The result of the test.
    """
    a, b = _check_pair(first, second)
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return _constant_difference(a - b)
    statistic, p_value = stats.ttest_ind(a, b, equal_var=False)
    return Comparison(float((a - b).mean()), float(statistic), float(p_value))


def wilcoxon_test(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Wilcoxon's signed-rank test.

    Parameters
    ----------
    first, second : array-like of shape (n_data_sets,)
        The losses of two methods on the same data sets.

    Returns
    -------
    Comparison
        The result of the test. Zero differences are included in the ranking (Pratt's method),
        which makes the test more conservative.
    """
    a, b = _check_pair(first, second)
    if np.array_equal(a, b):
        return _constant_difference(a - b)
    result = stats.wilcoxon(a, b, zero_method="pratt")
    return Comparison(float((a - b).mean()), float(result.statistic), float(result.pvalue))


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values for multiple testing by Holm's step-down method.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        The p-values.

    Returns
    -------
    ndarray of shape (n_tests,)
        The adjusted p-values, to be compared with the significance level of a single test.

    Examples
    --------
    >>> from calibrant.comparison import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def effect(comparisons: Sequence[Comparison], alpha: float = 0.05) -> str:
    """Summarize comparisons by several metrics, as in Table 3 of the paper.

    The paper does not state its rule. Applied to the published values, this one gives the
    published counts.

    Parameters
    ----------
    comparisons : sequence of Comparison
        The comparisons of a new method with an old one, one per metric.
    alpha : float, default=0.05
        The significance level.

    Returns
    -------
    {"improved", "neutral", "impaired"}
        "improved" if the new method is significantly better by some metric and not worse by
        any, "impaired" if it is significantly worse by some metric and not better by any,
        "neutral" otherwise.
    """
    check_alpha(alpha)
    significant = [each.difference for each in comparisons if each.is_significant(alpha)]
    if min(significant, default=0) < 0 and all(each.difference <= 0 for each in comparisons):
        return "improved"
    if max(significant, default=0) > 0 and all(each.difference >= 0 for each in comparisons):
        return "impaired"
    return "neutral"


@dataclass(frozen=True, eq=False)
class RankComparison(Record):
    """The comparison of several methods by their ranks on several data sets.

    Attributes
    ----------
    mean_rank : ndarray of shape (n_methods,)
        The mean rank of each method. The best rank is 1.
    statistic, p_value : float
        Friedman's test of the hypothesis that all methods perform equally well.
    critical_difference : float
        Nemenyi's critical difference: methods whose mean ranks differ by more than this differ
        significantly.
    """

    mean_rank: FloatArray
    statistic: float
    p_value: float
    critical_difference: float

    def cliques(self) -> list[tuple[int, ...]]:
        """Return the maximal sets of methods without significant differences, best first."""
        order = np.argsort(self.mean_rank, kind="stable")
        ranks = self.mean_rank[order]
        cliques: list[tuple[int, ...]] = []
        reached = 0
        for start in range(len(order)):
            end = int(np.searchsorted(ranks, ranks[start] + self.critical_difference, "right"))
            if end > max(reached, start + 1):
                cliques.append(tuple(int(method) for method in order[start:end]))
                reached = end
        return cliques


def compare_ranks(losses: ArrayLike, alpha: float = 0.05) -> RankComparison:
    r"""Friedman's test and Nemenyi's critical difference.

    Parameters
    ----------
    losses : array-like of shape (n_data_sets, n_methods)
        The loss of each method on each data set, for at least three methods.
    alpha : float, default=0.05
        The significance level of the critical difference.

    Returns
    -------
    RankComparison
        The mean ranks, the test result and the critical difference.

    See Also
    --------
    calibrant.plots.ComparisonDisplay : The critical-difference diagram.

    Notes
    -----
    Methods are ranked on each data set; tied methods get their mean rank. The critical
    difference of :math:`k` methods on :math:`N` data sets is [1]_

    .. math:: \mathrm{CD} = \frac{q_\alpha}{\sqrt{2}} \sqrt{\frac{k (k + 1)}{6 N}} ,

    where :math:`q_\alpha` is the upper quantile of the studentized range of :math:`k` groups
    with infinite degrees of freedom.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets",
           JMLR 7, 2006.
    """
    check_alpha(alpha)
    table = np.asarray(losses, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3:
        raise ValueError(
            "losses must have at least two rows (data sets) and three columns (methods), "
            f"got shape {table.shape}. Use wilcoxon_test to compare two methods."
        )
    _check_no_nan(table)
    n_sets, n_methods = table.shape
    if (table == table[:, :1]).all():
        statistic, p_value = 0.0, 1.0
    else:
        statistic, p_value = stats.friedmanchisquare(*table.T)
    quantile = stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    return RankComparison(
        mean_rank=stats.rankdata(table, axis=1).mean(axis=0),
        statistic=float(statistic),
        p_value=float(p_value),
        critical_difference=float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets))),
    )


def _t_test(a: FloatArray, b: FloatArray, test_ratio: float | None) -> Comparison:
    difference = a - b
    if np.ptp(difference) == 0:
        return _constant_difference(difference)
    statistic = difference.mean() / _standard_error(difference, test_ratio)
    p_value = 2.0 * stats.t.sf(abs(statistic), len(difference) - 1)
    return Comparison(float(difference.mean()), float(statistic), float(p_value))


def _standard_error(difference: FloatArray, test_ratio: float | None) -> float:
    """Return the standard error of the mean difference, corrected for overlapping folds."""
    n_folds = len(difference)
    ratio = 1.0 / (n_folds - 1) if test_ratio is None else test_ratio
    return float(np.sqrt((1.0 / n_folds + ratio) * difference.var(ddof=1)))


def _constant_difference(difference: FloatArray) -> Comparison:
    """Return the result for losses that differ by the same amount on every fold."""
    mean = float(difference.mean())
    if mean == 0:
        return Comparison(0.0, 0.0, 1.0)
    return Comparison(mean, float(np.copysign(np.inf, mean)), 0.0)


def _check_pair(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise ValueError(
            "first and second must be one-dimensional and of the same length, at least 2, "
            f"got shapes {a.shape} and {b.shape}. Pass one loss per fold or data set."
        )
    _check_no_nan(a, b)
    return a, b


def _check_no_nan(*losses: FloatArray) -> None:
    if any(np.isnan(values).any() for values in losses):
        raise ValueError("Losses must be numbers, got NaN. Leave out failed runs.")
