"""Is one method better than another? Paired tests, ranks and critical differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from calibrant._core.records import Interval, Record
from calibrant._core.typing import FloatArray


@dataclass(frozen=True)
class Comparison(Record):
    """The result of comparing the losses of two methods.

    Attributes
    ----------
    difference : float
        The mean loss of the first minus that of the second; negative if the first is
        better.
    statistic : float
        The test statistic.
    p_value : float
        The two-sided p-value; 1 where the losses do not differ at all.
    """

    difference: float
    statistic: float
    p_value: float

    def is_significant(self, alpha: float = 0.05) -> bool:
        """Whether the difference is statistically significant at level ``alpha``."""
        return self.p_value < alpha


def welch_t_test(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Welch's t-test of unequal variances, with the folds not paired.

    The paper names "Student's paired t-test with unequal variance assumption and the Welch
    modification to the degrees of freedom", which is two tests: a paired test has one
    sample, of differences, and no second variance to be unequal to. This is the reading
    as Welch's test, which ignores that the folds are the same. `paired_t_test` is the other
    one, and the one that gives the published counts of effects.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Losses of the two methods on the same folds.

    Returns
    -------
    Comparison
        The result.
    """
    a, b = _check_pair(first, second)
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return _without_spread(a, b)
    statistic, p_value = stats.ttest_ind(a, b, equal_var=False)
    return Comparison(float((a - b).mean()), float(statistic), float(p_value))


def paired_t_test(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Student's t-test of the differences fold by fold: the paper's test, by its results.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Losses of the two methods on the same folds.

    Returns
    -------
    Comparison
        The result. It takes folds for independent, which they are not: their training
        parts overlap. See `corrected_t_test`.
    """
    return _t_test_of_differences(*_check_pair(first, second), variance_factor=None)


def corrected_t_test(
    first: ArrayLike, second: ArrayLike, test_share: float | None = None
) -> Comparison:
    """Paired t-test corrected for the overlap of training parts.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Losses of the two methods on the same folds or resamples.
    test_share : float, default=None
        The number of test rows divided by the number of training rows of a fold. None is
        that of k-fold cross-validation, 1 / (k - 1).

    Returns
    -------
    Comparison
        The result.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine
           Learning 52, 2003.
    """
    a, b = _check_pair(first, second)
    share = 1.0 / (len(a) - 1) if test_share is None else test_share
    return _t_test_of_differences(a, b, variance_factor=1.0 / len(a) + share)


def corrected_interval(
    first: ArrayLike,
    second: ArrayLike,
    test_share: float | None = None,
    *,
    level: float = 0.95,
) -> Interval:
    """Confidence interval of the mean difference, to go with `corrected_t_test`.

    Parameters
    ----------
    first, second, test_share
        As for `corrected_t_test`.
    level : float, default=0.95
        The confidence level.

    Returns
    -------
    Interval
        The mean difference with its interval, which excludes 0 if and only if the test is
        significant at ``1 - level``.
    """
    a, b = _check_pair(first, second)
    share = 1.0 / (len(a) - 1) if test_share is None else test_share
    difference = a - b
    half = stats.t.ppf((1.0 + level) / 2, len(a) - 1) * np.sqrt(
        (1.0 / len(a) + share) * difference.var(ddof=1)
    )
    mean = difference.mean()
    return Interval(float(mean), float(mean - half), float(mean + half), level)


def wilcoxon_test(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Wilcoxon's signed-rank test.

    Parameters
    ----------
    first, second : array-like of shape (n_data_sets,)
        Losses of the two methods on the same data sets.

    Returns
    -------
    Comparison
        The result.
    """
    a, b = _check_pair(first, second)
    if np.array_equal(a, b):
        return _without_spread(a, b)
    # Zeros are ranked with the rest (Pratt), so that ties count against a difference.
    result = stats.wilcoxon(a, b, zero_method="pratt")
    return Comparison(float((a - b).mean()), float(result.statistic), float(result.pvalue))


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values for the number of tests made, by Holm's step-down rule.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        The p-values.

    Returns
    -------
    ndarray of shape (n_tests,)
        Adjusted p-values, to be held against the level as they are.

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


@dataclass(frozen=True, eq=False)
class RankComparison(Record):
    """Several methods on several data sets.

    Attributes
    ----------
    mean_rank : ndarray of shape (n_methods,)
        The mean rank of each method; 1 is best.
    statistic, p_value : float
        Friedman's test that all methods are alike.
    critical_difference : float
        Methods whose mean ranks differ by more differ significantly (Nemenyi).
    """

    mean_rank: FloatArray
    statistic: float
    p_value: float
    critical_difference: float

    def cliques(self) -> list[tuple[int, ...]]:
        """Largest sets of methods, best first, of which no two differ significantly."""
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
    """Friedman's test with Nemenyi's critical difference.

    Parameters
    ----------
    losses : array-like of shape (n_data_sets, n_methods)
        The loss of each method on each data set; at least three methods.
    alpha : float, default=0.05
        The significance level.

    Returns
    -------
    RankComparison
        Mean ranks, the test, and the critical difference.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets",
           JMLR 7, 2006.
    """
    table = np.asarray(losses, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3:
        raise ValueError(
            "losses must have at least two rows (data sets) and three columns (methods). "
            f"Got shape {table.shape}. Use wilcoxon_test for two methods."
        )
    if np.isnan(table).any():
        raise ValueError("losses must be numbers. Got NaN. Leave out methods that failed.")
    n_sets, n_methods = table.shape
    ranks = stats.rankdata(table, axis=1).mean(axis=0)
    if (table == table[:, :1]).all():
        statistic, p_value = 0.0, 1.0
    else:
        statistic, p_value = stats.friedmanchisquare(*table.T)
    quantile = stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    difference = quantile * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets))
    return RankComparison(ranks, float(statistic), float(p_value), float(difference))


def effect(comparisons: list[Comparison], alpha: float = 0.05) -> str:
    """Sum up the comparisons of two methods by several metrics, as in the paper's Table 3.

    Parameters
    ----------
    comparisons : list of Comparison
        The new method against the old one, one comparison a metric.
    alpha : float, default=0.05
        The significance level.

    Returns
    -------
    {"improved", "neutral", "impaired"}
        Improved if a metric is significantly better and none is worse at all; impaired the
        other way round; neutral otherwise. This rule gives the published counts from the
        published values.
    """
    significant = [c.difference for c in comparisons if c.is_significant(alpha)]
    if any(d < 0 for d in significant) and all(c.difference <= 0 for c in comparisons):
        return "improved"
    if any(d > 0 for d in significant) and all(c.difference >= 0 for c in comparisons):
        return "impaired"
    return "neutral"


def _t_test_of_differences(
    a: FloatArray, b: FloatArray, variance_factor: float | None
) -> Comparison:
    difference = a - b
    if np.ptp(difference) == 0:
        return _without_spread(a, b)
    factor = 1.0 / len(a) if variance_factor is None else variance_factor
    statistic = difference.mean() / np.sqrt(factor * difference.var(ddof=1))
    p_value = 2.0 * stats.t.sf(abs(statistic), len(a) - 1)
    return Comparison(float(difference.mean()), float(statistic), float(p_value))


def _without_spread(a: FloatArray, b: FloatArray) -> Comparison:
    """Losses that differ by the same on every fold, perhaps by nothing."""
    difference = float((a - b).mean())
    if difference == 0:
        return Comparison(0.0, 0.0, 1.0)
    return Comparison(difference, float(np.copysign(np.inf, difference)), 0.0)


def _check_pair(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise ValueError(
            "Losses must be two sequences of the same length, at least 2. "
            f"Got shapes {a.shape} and {b.shape}. Pass one loss for each fold."
        )
    if np.isnan(a).any() or np.isnan(b).any():
        raise ValueError("Losses must be numbers. Got NaN. Leave out folds that failed in both.")
    return a, b
