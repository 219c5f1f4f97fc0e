"""Means over groups of points with neighboring scores: the G of DGG."""

from __future__ import annotations

import numpy as np

from calibrant._core.typing import FloatArray, IndexArray

Points = tuple[FloatArray, FloatArray, FloatArray]


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


def _shares(
    target: FloatArray, weight: FloatArray, first: IndexArray
) -> tuple[FloatArray, FloatArray]:
    """Mean target and total weight of consecutive groups."""
    total = np.add.reduceat(weight, first)
    return np.clip(np.add.reduceat(weight * target, first) / total, 0.0, 1.0), total
