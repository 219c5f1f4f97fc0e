"""The numeric kernel of the near-isotonic path, which merges neighboring groups.

There are two implementations with bit-identical results. `merge_in_python` is the reference and is
used if the extension module is not built. `merge_compiled` calls ``merging.c``, which performs the
same floating-point operations in the same order and is more than ten times as fast. `KERNEL` names
the implementation in use.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calibrant._core.typing import FloatArray, IndexArray

try:
    from calibrant._core._merging import merge
except ImportError:
    merge = None  # type: ignore[assignment]

# Fitted values that differ by less than this, relative to the size of their terms, are equal: the
# rounding errors of the underlying sums are of this order.
EQUAL_VALUES = 64 * np.finfo(np.float64).eps
# Breakpoints whose relative difference is below this are the same. Rounding separates exact ties,
# and ENIR has one model per distinct breakpoint.
EQUAL_LAMBDAS = 1e-12


class Leaves(NamedTuple):
    """The groups of points at lambda = 0, as arrays of shape (n_leaves,).

    A leaf contains the points ``start`` to ``stop - 1``. ``weight`` is the sum of their weights,
    ``total`` the weighted sum of their values, and ``mean`` the weighted mean.
    """

    start: IndexArray
    stop: IndexArray
    weight: FloatArray
    total: FloatArray
    mean: FloatArray


class Forest(NamedTuple):
    """The merges, with fields as in `calibrant.near_isotonic.NearIsotonicPath`."""

    start: IndexArray
    stop: IndexArray
    weight: FloatArray
    mean: FloatArray
    slope: FloatArray
    parts: IndexArray
    merged_at: FloatArray


def merge_leaves(leaves: Leaves) -> Forest:
    """Merge neighboring groups as lambda grows until no more of them meet.

    Parameters
    ----------
    leaves : Leaves
        The groups at lambda = 0.

    Returns
    -------
    Forest
        All groups along the path, and the merges that formed them.
    """
    return KERNELS[KERNEL](leaves)


def merge_in_python(leaves: Leaves) -> Forest:
    """Merge groups using a heap of the next meetings of neighbors.

    Invariants: the current groups form a linked list (``left``, ``right``) in the order of the
    points; ``falls[g]`` says whether the value of g is above that of its right neighbor, which
    cannot change before the two meet and merge.
    """
    start, stop, weight, total, mean = (array.tolist() for array in leaves)
    n_leaves = len(start)
    left = list(range(-1, n_leaves - 1))
    right = [*range(1, n_leaves), -1]
    falls = [mean[g] > mean[g + 1] for g in range(n_leaves - 1)] + [False]
    # (s_{g-1} - s_g) / w_g, where the last group, and so falls[-1], has no right neighbor.
    slope = [(falls[g - 1] - falls[g]) / weight[g] for g in range(n_leaves)]
    parts: list[tuple[int, int]] = []
    merged_at: list[float] = []

    def meeting(a: int, b: int, lam: float) -> float:
        """Return the lambda at which neighbors a and b meet; lam if they are already equal."""
        move_a, move_b = lam * slope[a], lam * slope[b]
        size = abs(mean[a]) + abs(mean[b]) + abs(move_a) + abs(move_b)
        if lam > 0.0 and abs(mean[a] + move_a - mean[b] - move_b) <= EQUAL_VALUES * size:
            return lam
        closing = slope[a] - slope[b]
        return (mean[b] - mean[a]) / closing if closing != 0.0 else np.inf

    heap = [(meeting(g, g + 1, 0.0), g, g + 1) for g in range(n_leaves - 1)]
    heap = [event for event in heap if event[0] < np.inf]
    heapq.heapify(heap)

    lam = 0.0
    while heap:
        meets, a, b = heapq.heappop(heap)
        if right[a] != b or left[b] != a:
            continue  # outdated: a or b has merged with its other neighbor
        if meets > lam * (1 + EQUAL_LAMBDAS):
            lam = meets
        merged = len(start)
        before, after = left[a], right[b]
        start.append(start[a])
        stop.append(stop[b])
        weight.append(weight[a] + weight[b])
        total.append(total[a] + total[b])
        mean.append(total[merged] / weight[merged])
        slope.append(((before >= 0 and falls[before]) - falls[b]) / weight[merged])
        left.append(before)
        right.append(after)
        falls.append(falls[b])
        parts.append((a, b))
        merged_at.append(lam)
        if before >= 0:
            right[before] = merged
            meets = meeting(before, merged, lam)
            if meets < np.inf:
                heapq.heappush(heap, (meets, before, merged))
        if after >= 0:
            left[after] = merged
            meets = meeting(merged, after, lam)
            if meets < np.inf:
                heapq.heappush(heap, (meets, merged, after))
    return Forest(
        np.array(start),
        np.array(stop),
        np.array(weight),
        np.array(mean),
        np.array(slope),
        np.array(parts, dtype=np.intp).reshape(-1, 2),
        np.array(merged_at, dtype=np.float64),
    )


def merge_compiled(leaves: Leaves) -> Forest:
    """Merge as `merge_in_python` does, in C."""
    n_leaves = len(leaves.start)
    # Space for the leaves and for the groups formed by merges.
    start, stop = indices = np.empty((2, 2 * n_leaves - 1), dtype=np.intp)
    weight, total, mean, slope = numbers = np.empty((4, 2 * n_leaves - 1))
    indices[:, :n_leaves] = leaves.start, leaves.stop
    numbers[:3, :n_leaves] = leaves.weight, leaves.total, leaves.mean
    parts, merged_at = np.empty((n_leaves - 1, 2), dtype=np.intp), np.empty(n_leaves - 1)
    n_merges = merge(
        start, stop, weight, total, mean, slope, parts, merged_at, EQUAL_VALUES, EQUAL_LAMBDAS
    )
    nodes = slice(n_leaves + n_merges)
    return Forest(
        start[nodes],
        stop[nodes],
        weight[nodes],
        mean[nodes],
        slope[nodes],
        parts[:n_merges],
        merged_at[:n_merges],
    )


KERNELS: dict[str, Callable[[Leaves], Forest]] = {
    "python": merge_in_python,
    "compiled": merge_compiled,
}
KERNEL = "python" if merge is None else "compiled"
