"""Means over groups of points with neighboring scores: the G of DGG."""

from __future__ import annotations

import numpy as np

from calibrant._core.typing import FloatArray, IndexArray

Points = tuple[FloatArray, FloatArray, FloatArray]

ROWS_PER_BIN, MAX_BINS = 20, 10


def group_means(
    score: FloatArray, target: FloatArray, weight: FloatArray, first: IndexArray
) -> Points:
    """Average points in consecutive groups.

    Parameters
    ----------
    score, target, weight : ndarray of shape (n_points,)
        The points, sorted by score.
    first : ndarray of shape (n_groups,)
        Where each group begins.

    Returns
    -------
    score, target, weight : ndarray of shape (n_groups,)
        Mean score, mean target and total weight of each group.
    """
    last = np.r_[first[1:], len(score)] - 1
    share, total = _shares(target, weight, first)
    # Rounding must not bring apart what is tied: a mean lies within its group.
    mean = np.clip(np.add.reduceat(weight * score, first) / total, score[first], score[last])
    return mean, share, total


def pool_ties(
    score: FloatArray, target: FloatArray, weight: FloatArray, gap: float = 0.0
) -> Points:
    """Sort by score, and give scores no further apart than ``gap`` one point."""
    order = np.argsort(score, kind="stable")
    score, target, weight = score[order], target[order], weight[order]
    first = np.flatnonzero(np.r_[True, np.diff(score) > gap])
    return score[first], *_shares(target, weight, first)


def equal_weight_groups(weight: FloatArray, n_groups: int) -> IndexArray:
    """Where groups of about equal weight begin, at most ``n_groups`` of them."""
    middle = (np.cumsum(weight) - weight / 2.0) / weight.sum()
    group = np.minimum((middle * n_groups).astype(np.intp), n_groups - 1)
    return np.flatnonzero(np.r_[True, np.diff(group) > 0])


def default_n_bins(n_rows: int) -> int:
    """Return a number of bins with about 20 rows each, at most 10."""
    return int(np.clip(n_rows // ROWS_PER_BIN, 1, MAX_BINS))


def assign_bins(value: FloatArray, weight: FloatArray, n_bins: int) -> IndexArray:
    """Assign rows to bins of about equal weight.

    Parameters
    ----------
    value : ndarray of shape (n_rows,)
        The values to bin. Equal values share a bin.
    weight : ndarray of shape (n_rows,)
        Positive weights of the rows.
    n_bins : int
        The largest number of bins.

    Returns
    -------
    ndarray of shape (n_rows,)
        The bin of each row. Bins are numbered from 0 by increasing value, and none is empty.
    """
    distinct, place = np.unique(value, return_inverse=True)
    total = np.bincount(place, weight).astype(np.float64, copy=False)
    first = equal_weight_groups(total, n_bins)
    return (np.searchsorted(first, np.arange(len(distinct)), side="right") - 1)[place]


def _shares(
    target: FloatArray, weight: FloatArray, first: IndexArray
) -> tuple[FloatArray, FloatArray]:
    """Mean target and total weight of consecutive groups."""
    total = np.add.reduceat(weight, first)
    return np.clip(np.add.reduceat(weight * target, first) / total, 0.0, 1.0), total
