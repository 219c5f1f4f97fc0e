"""Splits that keep every class in the training rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._core.phrases import count
from calibrant._core.typing import BoolArray, IndexArray, Split


def make_draws(
    y: IndexArray, groups: NDArray[Any] | None, test_size: float, rng: np.random.RandomState
) -> Iterator[BoolArray]:
    """Draw rows to hold out, indefinitely, keeping any groups together.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Class indices.
    groups : ndarray of shape (n_samples,) or None
        The group of each row; None means ungrouped.
    test_size : float
        The proportion of rows to hold out.
    rng : RandomState
        The source of randomness.

    Returns
    -------
    iterator of ndarray of shape (n_samples,)
        For each draw, whether each row is held out. Every class keeps at least one training
        row.
    """
    if groups is None:
        return stratified_draws(y, test_size, rng)
    return group_draws(y, groups, test_size, rng)


def stratified_draws(
    y: IndexArray, test_size: float, rng: np.random.RandomState
) -> Iterator[BoolArray]:
    """Draw rows to hold out, stratified by class.

    The number of rows held out of each class is rounded up or down at random (systematic
    sampling), so that it is right on average even for small classes, while the total is the
    same in every draw.
    """
    y = _in_order_of_first_rows(y)
    count = np.bincount(y)
    # The only row of a class is never held out.
    quota = np.where(count > 1, count, 0)
    total = max(1, int(test_size * quota.sum()))
    edges = np.r_[0.0, np.cumsum(quota) * total / max(quota.sum(), 1)]
    edges[-1] = total
    most = np.maximum(count - 1, 0)
    # The rank of each row within its class when rows are sorted by class.
    rank = np.arange(len(y)) - np.repeat(np.cumsum(count) - count, count)
    while True:
        number = np.minimum(np.diff(np.floor(edges + rng.uniform())), most)
        test = np.zeros(len(y), dtype=bool)
        test[_shuffle_in_class(y, rng)[rank < np.repeat(number, count)]] = True
        yield test


def resample_rows(rows: IndexArray, y: IndexArray, rng: np.random.RandomState) -> IndexArray:
    """Double the rows of each class: each row once, and as many again drawn with replacement.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Row numbers.
    y : ndarray of shape (n_samples,)
        Class indices of all rows.
    rng : RandomState
        The source of randomness.

    Returns
    -------
    ndarray of shape (2 * n_rows,)
        Row numbers.
    """
    label = _in_order_of_first_rows(y[rows])
    drawn = [rng.choice(rows[label == k], n) for k, n in enumerate(np.bincount(label))]
    return np.concatenate([rows, *drawn])


def make_folds(
    y: IndexArray, groups: NDArray[Any] | None, n_folds: int, rng: np.random.RandomState
) -> Iterator[BoolArray]:
    """Assign rows to folds, keeping any groups together.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Class indices.
    groups : ndarray of shape (n_samples,) or None
        The group of each row; None means ungrouped.
    n_folds : int
        The number of folds.
    rng : RandomState
        The source of randomness.

    Returns
    -------
    iterator of ndarray of shape (n_samples,)
        For each fold, whether each row is held out. Every class keeps at least one
        training row.
    """
    if groups is None:
        return stratified_folds(y, n_folds, rng)
    return group_folds(y, groups, n_folds, rng)


def stratified_folds(
    y: IndexArray, n_folds: int, rng: np.random.RandomState
) -> Iterator[BoolArray]:
    """Assign the rows of each class to the folds in turn.

    The only row of a class is never held out.
    """
    if n_folds > len(y):
        raise ValueError(
            f"cv must be at most the number of rows, {len(y)}, got {n_folds}. Use fewer folds."
        )
    y = _in_order_of_first_rows(y)
    count = np.bincount(y)
    position = np.empty(len(y), dtype=np.intp)
    position[_shuffle_in_class(y, rng)] = np.arange(len(y))
    alone = count[y] == 1
    for fold in range(n_folds):
        yield (position % n_folds == fold) & ~alone


def group_draws(
    y: IndexArray, groups: NDArray[Any], test_size: float, rng: np.random.RandomState
) -> Iterator[BoolArray]:
    """Draw whole groups to hold out such that each class keeps at least one."""
    names, group = np.unique(groups, return_inverse=True)
    _check_several(names)
    y = _in_order_of_first_rows(y)
    size = np.bincount(group)
    while True:
        order = rng.permutation(len(names))
        # Hold out the number of groups that brings the number of rows closest to test_size.
        excess = np.abs(np.cumsum(size[order[:-1]]) - test_size * len(y))
        yield _keep_classes(np.isin(group, order[: int(excess.argmin()) + 1]), y, group, rng)


def group_folds(
    y: IndexArray, groups: NDArray[Any], n_folds: int, rng: np.random.RandomState
) -> Iterator[BoolArray]:
    """Assign whole groups to the folds, stratified by class as far as possible.

    Each class keeps at least one group in the training rows.
    """
    names, group = np.unique(groups, return_inverse=True)
    _check_several(names)
    if n_folds > len(names):
        raise ValueError(
            f"cv must be at most the number of groups, {len(names)}, got {n_folds}. "
            "Use fewer folds."
        )
    largest = int(np.bincount(y).max())
    if n_folds > largest:
        raise ValueError(
            f"cv must be at most the size of the largest class, {largest}, got {n_folds}. "
            "Use fewer folds."
        )
    y = _in_order_of_first_rows(y)
    fold = _fold_of_groups(y, group, n_folds, np.random.RandomState(rng.randint(2**31 - 1)))
    for number in range(n_folds):
        yield _keep_classes(fold[group] == number, y, group, rng)


def _fold_of_groups(
    y: IndexArray, group: IndexArray, n_folds: int, rng: np.random.RandomState
) -> IndexArray:
    """Assign each group to the fold that then differs least from the others.

    The folds are those of scikit-learn's ``StratifiedGroupKFold``, which takes several times as
    long. Groups with the least even distribution of classes come first. Folds differ by the mean,
    over classes, of the standard deviation of the proportion of the class that is in each fold.
    """
    n_classes, n_groups = int(y.max()) + 1, int(group.max()) + 1
    count = np.bincount(group * n_classes + y, minlength=n_groups * n_classes)
    count = count.reshape(n_groups, n_classes).astype(np.float64)
    class_count = count.sum(axis=0)
    order = np.arange(n_groups)
    rng.shuffle(order)
    order = order[np.argsort(-count[order].std(axis=1), kind="stable")]

    fold = np.empty(n_groups, dtype=np.intp)
    of_fold = np.zeros((n_folds, n_classes))
    tried = np.empty((n_folds, n_folds, n_classes))  # the first axis: where the group is tried
    tried_fold = np.einsum("iij->ij", tried)  # a view
    for number in order:
        tried[:] = of_fold
        tried_fold += count[number]
        # The mean of numpy.std, with the same rounding.
        tried /= class_count
        tried -= np.add.reduce(tried, axis=1, keepdims=True) / n_folds
        tried *= tried
        deviation = np.sqrt(np.add.reduce(tried, axis=1) / n_folds)
        best = _best_fold(
            (np.add.reduce(deviation, axis=1) / n_classes).tolist(),
            np.add.reduce(of_fold, axis=1).tolist(),
        )
        fold[number] = best
        of_fold[best] += count[number]
    return fold


def _best_fold(differences: list[float], sizes: list[float]) -> int:
    """Return the fold with the smallest difference; of nearly equal ones, the smallest fold."""
    best = 0
    for k in range(1, len(sizes)):
        least = differences[best]
        is_close = abs(differences[k] - least) <= 1e-8 + 1e-5 * least
        if differences[k] < least or (is_close and sizes[k] < sizes[best]):
            best = k
    return best


def _in_order_of_first_rows(y: IndexArray) -> IndexArray:
    """Return class indices that do not depend on the labels of the classes."""
    _, first, index = np.unique(y, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[index]


def _check_several(names: NDArray[Any]) -> None:
    if len(names) < 2:
        raise ValueError(
            f"groups must contain at least two groups, got {len(names)}. "
            "If the rows are independent, omit groups."
        )


def check_split(split: Any, n_rows: int, groups: NDArray[Any] | None) -> Split:
    """Check that no row or group is in both the training and the test rows of a split."""
    if not isinstance(split, tuple | list) or len(split) != 2:
        raise ValueError(
            f"cv must yield (train, test) pairs of row numbers, got {split!r}. "
            "Pass a list of such pairs or a splitter."
        )
    train, test = (_row_numbers(part, n_rows) for part in split)
    if len(np.intersect1d(train, test)):
        raise ValueError(
            "Training and test rows must be disjoint, got a split with "
            f"{count(len(np.intersect1d(train, test)), 'row')} in both. Use another splitter."
        )
    if groups is not None and len(both := np.intersect1d(groups[train], groups[test])):
        raise ValueError(
            "cv must keep groups together, got a split with training and test rows of group "
            f"{both[0]!r}. "
            "Use a group-aware splitter such as GroupKFold, a number of folds, or 'monte-carlo'."
        )
    return train, test


def _row_numbers(part: Any, n_rows: int) -> IndexArray:
    """Convert row numbers or a mask, given as an array or a list, to row numbers."""
    numbers = np.asarray(part)
    if numbers.dtype == bool and len(numbers) == n_rows:
        return np.flatnonzero(numbers)
    if numbers.size == 0:
        return np.empty(0, dtype=np.intp)
    are_numbers = numbers.dtype.kind in "iu" and numbers.ndim == 1
    if not are_numbers or numbers.min() < 0 or numbers.max() >= n_rows:
        raise ValueError(
            f"cv must yield (train, test) pairs of row numbers from 0 to {n_rows - 1}, "
            f"got {part!r}. Pass splits of the rows passed to fit."
        )
    return numbers.astype(np.intp)


def _keep_classes(
    test: BoolArray, y: IndexArray, group: IndexArray, rng: np.random.RandomState
) -> BoolArray:
    """Move groups back to the training rows until these contain every class."""
    while len(lost := np.setdiff1d(y, y[~test])):
        test = test & (group != rng.choice(group[test & (y == lost[0])]))
    return test


def _shuffle_in_class(y: IndexArray, rng: np.random.RandomState) -> IndexArray:
    """Sort rows by class, in random order within each class."""
    order = rng.permutation(len(y))
    return order[np.argsort(y[order], kind="stable")]
