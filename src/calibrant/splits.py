"""Ways to hold out rows such that every class stays in the training part."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

HeldOut = NDArray[np.bool_]


def stratified_draws(
    y: NDArray[np.intp], test_size: float, rng: np.random.RandomState
) -> Iterator[HeldOut]:
    """Draw rows to hold out, stratified, without end; at least one a class stays.

    The number of rows held out of a class is rounded up or down at random (systematic
    sampling), so that small classes are held out in their right share on average and
    the total is the same in every draw.
    """
    count = np.bincount(y)
    # A class of one row stays in every training part; the others share what is held out.
    quota = np.where(count > 1, count, 0)
    total = max(1, int(test_size * quota.sum()))
    edges = np.r_[0.0, np.cumsum(quota) * total / max(quota.sum(), 1)]
    edges[-1] = total
    while True:
        number = np.diff(np.floor(edges + rng.uniform())).astype(np.intp)
        yield _rank_in_class(y, rng) < np.minimum(number, np.maximum(count - 1, 0))[y]


def stratified_folds(
    y: NDArray[np.intp], n_folds: int, rng: np.random.RandomState
) -> Iterator[HeldOut]:
    """Deal the rows of each class to the folds in turn; lone rows are never held out.

    Classes are dealt in the order of their first rows, whatever they are called.
    """
    if n_folds > len(y):
        raise ValueError(
            f"cv must be at most the number of rows, {len(y)}. Got {n_folds}. Use fewer folds."
        )
    _, first, y = np.unique(y, return_index=True, return_inverse=True)
    y = np.argsort(np.argsort(first))[y]
    count = np.bincount(y)
    position = (np.cumsum(count) - count)[y] + _rank_in_class(y, rng)
    alone = count[y] == 1
    for fold in range(n_folds):
        yield (position % n_folds == fold) & ~alone


def group_draws(
    y: NDArray[np.intp], groups: NDArray[Any], test_size: float, rng: np.random.RandomState
) -> Iterator[HeldOut]:
    """Draw whole groups to hold out, without end; each class keeps one at least."""
    names, group = np.unique(groups, return_inverse=True)
    _check_several(names)
    size = np.bincount(group)
    while True:
        order = rng.permutation(len(names))
        # As many groups as bring the number of rows nearest to the share to hold out.
        excess = np.abs(np.cumsum(size[order[:-1]]) - test_size * len(y))
        yield _keep_classes(np.isin(group, order[: int(excess.argmin()) + 1]), y, group, rng)


def group_folds(
    y: NDArray[np.intp], groups: NDArray[Any], n_folds: int, rng: np.random.RandomState
) -> Iterator[HeldOut]:
    """Deal whole groups to the folds, stratified as well as they allow; each class keeps one."""
    names, group = np.unique(groups, return_inverse=True)
    _check_several(names)
    if n_folds > len(names):
        raise ValueError(
            f"cv must be at most the number of groups, {len(names)}. Got {n_folds}. "
            "Use fewer folds."
        )
    splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1))
    with warnings.catch_warnings():
        # Rare classes are reported by the classifier, in its own words.
        warnings.filterwarnings("ignore", message="The least populated class in y")
        folds = [test for _, test in splitter.split(y, y, group)]
    for rows in folds:
        test = np.zeros(len(y), dtype=bool)
        test[rows] = True
        yield _keep_classes(test, y, group, rng)


def _check_several(names: NDArray[Any]) -> None:
    if len(names) < 2:
        raise ValueError(
            f"groups must name at least two groups. Got {len(names)}. "
            "Leave groups out if the rows are independent."
        )


def _keep_classes(
    test: HeldOut, y: NDArray[np.intp], group: NDArray[np.intp], rng: np.random.RandomState
) -> HeldOut:
    """Put groups back into training until every class is there."""
    while len(lost := np.setdiff1d(y, y[~test])):
        test = test & (group != rng.choice(group[test & (y == lost[0])]))
    return test


def _rank_in_class(y: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[np.intp]:
    """Give the rows of each class the numbers 0, 1, ... in random order."""
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    count = np.bincount(y)
    rank = np.empty(len(y), dtype=np.intp)
    rank[order] = np.arange(len(y)) - np.repeat(np.cumsum(count) - count, count)
    return rank
