"""The points of many binary problems, laid end to end so that each operation covers all of them.

Taken one by one, small problems spend most of their time on the fixed costs of array operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from calibrant._core.binning import (
    SMALLEST_GAP,
    Points,
    group_means,
    group_numbers,
    pool_groups,
    run_starts,
)
from calibrant._core.typing import BoolArray, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class PointBatch:
    """The points of several binary problems.

    Attributes
    ----------
    score, target, weight : ndarray of shape (n_points,)
        The points of all problems.
    first : ndarray of shape (n_problems,)
        The index of the first point of each problem.
    """

    score: FloatArray
    target: FloatArray
    weight: FloatArray
    first: IndexArray

    @classmethod
    def join(cls, problems: Sequence[Points]) -> PointBatch:
        """Lay the points of several problems end to end."""
        score, target, weight = (np.concatenate(arrays) for arrays in zip(*problems, strict=True))
        size = np.array([len(points[0]) for points in problems])
        return cls(score, target, weight, np.cumsum(size) - size)

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[Points]:
        for begin, end in self._bounds:
            yield self.score[begin:end], self.target[begin:end], self.weight[begin:end]

    @cached_property
    def problem(self) -> IndexArray:
        """The problem of each point."""
        return np.repeat(np.arange(len(self)), np.diff(self.first, append=len(self.score)))

    @property
    def _bounds(self) -> Iterator[tuple[int, int]]:
        return pairwise([*self.first.tolist(), len(self.score)])

    def total_weights(self) -> FloatArray:
        """Return the total weight of each problem."""
        return np.array([self.weight[begin:end].sum() for begin, end in self._bounds])

    def pool_ties(self) -> PointBatch:
        """Do what `calibrant._core.binning.pool_ties` does, for each problem."""
        if len(self._starts(np.diff(self.score) > SMALLEST_GAP)) == len(self.score):
            return self  # sorted and without ties
        order = np.empty(len(self.score), dtype=np.intp)
        for begin, end in self._bounds:
            order[begin:end] = self.score[begin:end].argsort(kind="stable")
            order[begin:end] += begin
        score, target, weight = self.score[order], self.target[order], self.weight[order]
        starts = self._starts(score[1:] - score[:-1] > SMALLEST_GAP)
        if len(starts) < len(score):
            score, (target, weight) = score[starts], pool_groups(target, weight, starts)
        return PointBatch(score, target, weight, np.searchsorted(starts, self.first))

    def group_neighbors(self, n_groups: IndexArray) -> PointBatch:
        """Average sorted points in about equally heavy groups, up to a number for each problem."""
        cumulative = np.empty_like(self.weight)
        for begin, end in self._bounds:
            np.cumsum(self.weight[begin:end], out=cumulative[begin:end])
        middle = (cumulative - self.weight / 2.0) / self.total_weights()[self.problem]
        group = group_numbers(middle, n_groups[self.problem])
        starts = self._starts(group[1:] > group[:-1])
        points = group_means(self.score, self.target, self.weight, starts)
        return PointBatch(*points, np.searchsorted(starts, self.first))

    def _starts(self, changes: BoolArray) -> IndexArray:
        """Return the first point of each run; problems start runs."""
        changes[self.first[1:] - 1] = True
        return run_starts(changes)
