"""Groups and bins of neighboring scores."""

from __future__ import annotations

import numpy as np

from calibrant._core.typing import BoolArray, FloatArray, IndexArray

# Scores that are closer than this are tied: a slope between them could overflow.
SMALLEST_GAP = 1e-300
# The rounding error of the sum of the weights of many points, in proportion to the sum.
ROUNDING = 1e-9
# Scores, targets and weights.
Points = tuple[FloatArray, FloatArray, FloatArray]

# The default number of rows per bin and the default maximum number of bins.
ROWS_PER_BIN, MAX_BINS = 20, 10


def group_means(
    score: FloatArray, target: FloatArray, weight: FloatArray, first: IndexArray
) -> Points:
    """Average points in consecutive groups.

    This is the grouping step of DGG.

    Parameters
    ----------
    score, target, weight : ndarray of shape (n_points,)
        The points, sorted by score.
    first : ndarray of shape (n_groups,)
        The index of the first point of each group.

    Returns
    -------
    score, target, weight : ndarray of shape (n_groups,)
        The mean score, mean target and total weight of each group.
    """
    mean_target, total = pool_groups(target, weight, first)
    mean = np.add.reduceat(weight * score, first) / total
    last = np.concatenate([first[1:], [len(score)]]) - 1
    # Clipping makes the mean of tied scores exactly equal to them despite rounding.
    return np.minimum(np.maximum(mean, score[first]), score[last]), mean_target, total


def pool_ties(score: FloatArray, target: FloatArray, weight: FloatArray) -> Points:
    """Sort points by score and merge points whose scores are tied.

    Parameters
    ----------
    score, target, weight : ndarray of shape (n_points,)
        The points.

    Returns
    -------
    score, target, weight : ndarray of shape (n_distinct,)
        The smallest score, mean target and total weight of each set of tied points.
    """
    order = np.argsort(score, kind="stable")
    score, target, weight = score[order], target[order], weight[order]
    differs = score[1:] - score[:-1] > SMALLEST_GAP
    if differs.all():
        return score, target, weight
    first = run_starts(differs)
    return score[first], *pool_groups(target, weight, first)


def equal_weight_groups(weight: FloatArray, n_groups: int) -> IndexArray:
    """Divide points into consecutive groups of about equal weight.

    Parameters
    ----------
    weight : ndarray of shape (n_points,)
        Positive weights of the points.
    n_groups : int
        The largest number of groups.

    Returns
    -------
    ndarray of shape (n_groups,)
        The index of the first point of each group.
    """
    middle = (np.cumsum(weight) - weight / 2.0) / weight.sum()
    group = group_numbers(middle, n_groups)
    return run_starts(group[1:] > group[:-1])


def group_numbers(middle: FloatArray, n_groups: int | IndexArray) -> IndexArray:
    """Return the group of each point, given the share of the weight up to its middle.

    A point in the middle between two groups belongs to the second one, despite rounding.
    """
    return np.minimum((middle * n_groups + ROUNDING).astype(np.intp), n_groups - 1)


def run_starts(changes: BoolArray) -> IndexArray:
    """Return the index of the first element of each run.

    Parameters
    ----------
    changes : ndarray of shape (n - 1,)
        Whether each element but the first begins a run.

    Returns
    -------
    ndarray of shape (n_runs,)
        The indices.
    """
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def default_n_bins(n_rows: int) -> int:
    """Return the default number of bins for a given number of rows."""
    return int(np.clip(n_rows // ROWS_PER_BIN, 1, MAX_BINS))


def assign_bins(value: FloatArray, weight: FloatArray, n_bins: int) -> IndexArray:
    """Assign rows to bins of about equal weight.

    Parameters
    ----------
    value : ndarray of shape (n_rows,)
        The values to bin. Equal values go into the same bin.
    weight : ndarray of shape (n_rows,)
        Positive weights of the rows.
    n_bins : int
        The largest number of bins.

    Returns
    -------
    ndarray of shape (n_rows,)
        The bin of each row. Bins are numbered from 0 in increasing order of value, and none is
        empty.
    """
    distinct, place = np.unique(value, return_inverse=True)
    total = np.bincount(place, weight).astype(np.float64, copy=False)
    first = equal_weight_groups(total, n_bins)
    return (np.searchsorted(first, np.arange(len(distinct)), side="right") - 1)[place]


def pool_groups(
    target: FloatArray, weight: FloatArray, first: IndexArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mean target and total weight of consecutive groups, given their first points.

    The mean of targets up to 1 is at most 1, since rounding is monotonic.
    """
    total = np.add.reduceat(weight, first)
    return np.add.reduceat(weight * target, first) / total, total
