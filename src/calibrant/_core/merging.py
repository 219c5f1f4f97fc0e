"""The merges of the near-isotonic path: arrays in, arrays out.

The kernel is written twice. `merge_in_python` is the one to read: the specification, the
oracle of the tests, and what runs where no C compiler was at hand at installation.
``merging.c`` does the same operations on the same numbers in the same order, more than ten
times as fast, and gives the same result to the last bit. `KERNEL` says which is in use.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from calibrant._core.typing import FloatArray, IndexArray

try:
    from calibrant._core._merging import merge
except ImportError:
    merge = None  # type: ignore[assignment]

# Of all nodes start, stop, weight, mean and slope; of all merges parts and merged_at.
Forest = tuple[IndexArray, IndexArray, FloatArray, FloatArray, FloatArray, IndexArray, FloatArray]

# Two fitted values closer than this share of their size are equal: double precision
# cannot tell them apart after the sums behind them.
EQUAL_VALUES = 64 * np.finfo(np.float64).eps
# Two breakpoints closer than this share of their size are one breakpoint: exact
# ties come apart by rounding, and each distinct breakpoint is a model in ENIR.
EQUAL_LAMBDAS = 1e-12


def merge_leaves(
    first: IndexArray,
    end: IndexArray,
    leaf_weight: FloatArray,
    leaf_total: FloatArray,
    leaf_mean: FloatArray,
) -> Forest:
    """Merge groups of points as lambda grows, until no neighbors meet any more.

    Parameters
    ----------
    first, end : ndarray of shape (n_leaves,)
        The groups at lambda = 0: where they begin, and where the next ones begin.
    leaf_weight, leaf_total, leaf_mean : ndarray of shape (n_leaves,)
        Of each group the sum of weights, the weighted sum of values and their mean.

    Returns
    -------
    start, stop, weight, mean, slope : ndarray of shape (n_nodes,)
        The nodes, as in `calibrant.near_isotonic.NearIsotonicPath`.
    parts : ndarray of shape (n_merges, 2)
        The nodes that each merge made one.
    merged_at : ndarray of shape (n_merges,)
        The lambda of each merge, ascending.
    """
    return KERNELS[KERNEL](first, end, leaf_weight, leaf_total, leaf_mean)


def merge_in_python(
    first: IndexArray,
    end: IndexArray,
    leaf_weight: FloatArray,
    leaf_total: FloatArray,
    leaf_mean: FloatArray,
) -> Forest:
    """Do as `merge_leaves` says.

    A heap holds the next meeting of each pair of neighbors. Invariant: the live groups form
    a linked list (``left``, ``right``) in the order of the points. ``falls[g]`` says whether
    g lies above its right neighbor; it cannot change without the two meeting, and then they
    merge.
    """
    n_leaves = len(first)
    start, stop = first.tolist(), end.tolist()
    weight, total, mean = leaf_weight.tolist(), leaf_total.tolist(), leaf_mean.tolist()
    left = list(range(-1, n_leaves - 1))
    right = [*range(1, n_leaves), -1]
    falls = [mean[g] > mean[g + 1] for g in range(n_leaves - 1)] + [False]
    slope = [
        ((g > 0 and falls[g - 1]) - falls[g]) / weight[g]  # (s_{g-1} - s_g) / weight_g
        for g in range(n_leaves)
    ]
    parts: list[tuple[int, int]] = []
    merged_at: list[float] = []

    def meeting(a: int, b: int, lam: float) -> float:
        """Return the lambda at which neighbors a and b meet, lam if they do already."""
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
            continue  # one of them has merged with its other neighbor
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
    return (
        np.array(start),
        np.array(stop),
        np.array(weight),
        np.array(mean),
        np.array(slope),
        np.array(parts, dtype=np.intp).reshape(-1, 2),
        np.array(merged_at, dtype=np.float64),
    )


def merge_compiled(
    first: IndexArray,
    end: IndexArray,
    leaf_weight: FloatArray,
    leaf_total: FloatArray,
    leaf_mean: FloatArray,
) -> Forest:
    """Do as `merge_leaves` says, in C."""
    n_leaves = len(first)

    def with_room(leaves: NDArray) -> NDArray:
        return np.concatenate([leaves, np.empty(n_leaves - 1, dtype=leaves.dtype)])

    start, stop = with_room(first), with_room(end)
    weight, total, mean = with_room(leaf_weight), with_room(leaf_total), with_room(leaf_mean)
    slope = np.empty(2 * n_leaves - 1)
    parts, merged_at = np.empty((n_leaves - 1, 2), dtype=np.intp), np.empty(n_leaves - 1)
    n_merges = merge(
        start, stop, weight, total, mean, slope, parts, merged_at, EQUAL_VALUES, EQUAL_LAMBDAS
    )
    nodes = slice(n_leaves + n_merges)
    return (
        start[nodes],
        stop[nodes],
        weight[nodes],
        mean[nodes],
        slope[nodes],
        parts[:n_merges],
        merged_at[:n_merges],
    )


KERNELS = {"python": merge_in_python, "compiled": merge_compiled}
KERNEL = "python" if merge is None else "compiled"
