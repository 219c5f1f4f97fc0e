"""The near-isotonic solution path, kept as a tree of merging groups."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Two fitted values closer than this share of their size are equal: double precision
# cannot tell them apart after the sums behind them.
EQUAL_VALUES = 64 * np.finfo(np.float64).eps
# Two breakpoints closer than this share of their size are one breakpoint: exact
# ties come apart by rounding, and each distinct breakpoint is a model in ENIR.
EQUAL_LAMBDAS = 1e-12
# Beyond these, sums and reciprocals of weights and values could overflow.
SMALLEST, LARGEST = 1e-100, 1e100


@dataclass(frozen=True, eq=False)
class NearIsotonicPath:
    """All near-isotonic fits of one sequence, from the data to isotonic regression.

    The path is a binary tree. A node is a group of consecutive points that share
    one fitted value while ``born <= lambda < died``; that value is
    ``mean + lambda * slope``. The groups alive at one lambda are a partition of
    the points. The tree has fewer than ``2 n`` nodes, so the whole path takes
    memory linear in the number of points.

    Attributes
    ----------
    lambdas : ndarray of shape (n_breakpoints,)
        The breakpoints, ascending. The first is 0, where the solution is ``y``;
        from the last one on it is the isotonic regression of ``y``.
    n_groups : ndarray of shape (n_breakpoints,)
        The number of groups of equal fitted values at each breakpoint.
    start, stop : ndarray of shape (n_nodes,)
        A node holds the points ``start`` to ``stop - 1``.
    weight, mean : ndarray of shape (n_nodes,)
        The sum of weights and the weighted mean of ``y`` over a node's points.
    slope : ndarray of shape (n_nodes,)
        The change of a node's value for a unit of lambda.
    born, died : ndarray of shape (n_nodes,)
        The range of lambda in which the node is a group of its own.
    """

    lambdas: NDArray[np.float64]
    n_groups: NDArray[np.intp]
    start: NDArray[np.intp]
    stop: NDArray[np.intp]
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    slope: NDArray[np.float64]
    born: NDArray[np.float64]
    died: NDArray[np.float64]

    def groups(self, lam: float) -> NDArray[np.intp]:
        """Nodes that are groups at ``lam``, from the first point to the last.

        Parameters
        ----------
        lam : float
            The penalty, 0 or more.

        Returns
        -------
        ndarray of shape (n_groups,)
            Indices into the node arrays.
        """
        if not lam >= 0:
            raise ValueError(f"lam must be 0 or more. Got {lam}. Pass a penalty from path.lambdas.")
        alive = np.flatnonzero((self.born <= lam) & (lam < self.died))
        return alive[np.argsort(self.start[alive])]

    def values(self, nodes: NDArray[np.intp], lam: float) -> NDArray[np.float64]:
        """Fitted values at ``lam`` of the groups ``nodes``."""
        return self.mean[nodes] + lam * self.slope[nodes]

    def solution(self, lam: float) -> NDArray[np.float64]:
        """Fitted values of all points.

        Parameters
        ----------
        lam : float
            The penalty, 0 or more; any value, not only a breakpoint.

        Returns
        -------
        ndarray of shape (n_points,)
            The minimizer at ``lam``.
        """
        nodes = self.groups(lam)
        return np.repeat(self.values(nodes, lam), self.stop[nodes] - self.start[nodes])


def near_isotonic_path(y: ArrayLike, sample_weight: ArrayLike | None = None) -> NearIsotonicPath:
    """Solve near-isotonic regression for every penalty at once.

    Minimizes ``1/2 sum w_i (y_i - b_i)^2 + lambda sum max(b_i - b_{i+1}, 0)``
    over b, for all ``lambda >= 0``, in O(n log n) time and O(n) memory.

    Parameters
    ----------
    y : array-like of shape (n_points,)
        The sequence to fit, in order.
    sample_weight : array-like of shape (n_points,), default=None
        Positive weights. None is a weight of 1 for every point.

    Returns
    -------
    NearIsotonicPath
        The breakpoints and the solution for any lambda.

    Notes
    -----
    Neighbors that become equal stay equal for all larger lambda [1]_, so the path
    is a sequence of merges. While the groups stay the same, stationarity gives the
    value of group g in closed form, with s_g = 1 if its value is above that of its
    right neighbor and 0 otherwise:

        b_g = mean_g + lambda (s_{g-1} - s_g) / weight_g

    Hence the lambda at which two neighbors meet follows from their means and
    slopes alone, and rounding does not add up along the path. A heap holds the
    next meeting of each pair of neighbors.

    References
    ----------
    .. [1] R. J. Tibshirani, H. Hoefling and R. Tibshirani, "Nearly-isotonic
           regression", Technometrics 53(1), 2011.

    Examples
    --------
    >>> from calibrant.near_isotonic import near_isotonic_path
    >>> path = near_isotonic_path([0.0, 1.0, 0.0, 1.0])
    >>> path.lambdas
    array([0. , 0.5])
    >>> path.solution(0.25)
    array([0.  , 0.75, 0.25, 1.  ])
    >>> path.solution(0.5)
    array([0. , 0.5, 0.5, 1. ])
    """
    values = np.array(y, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"y must be one-dimensional with at least one point. Got shape {values.shape}. "
            "Pass one sequence, in the order of its scores."
        )
    weights = np.ones_like(values) if sample_weight is None else np.array(sample_weight, np.float64)
    if weights.shape != values.shape:
        raise ValueError(
            f"sample_weight must have the shape of y, {values.shape}. Got {weights.shape}. "
            "Pass one weight for each point."
        )
    if not np.abs(values).max() <= LARGEST:  # true for NaN as well
        raise ValueError(
            f"y must be finite and within +-{LARGEST:.0e}. Got {values.min():g} to "
            f"{values.max():g}. Drop points without a value, and rescale extreme ones."
        )
    if not (weights.min() >= SMALLEST and weights.max() <= LARGEST):
        raise ValueError(
            f"sample_weight must be from {SMALLEST:.0e} to {LARGEST:.0e}. "
            f"Got {weights.min():g} to {weights.max():g}. "
            "Drop the points of weight 0, and rescale extreme weights."
        )
    return _assemble(*_merge_tree(values, weights))


def _merge_tree(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[list, ...]:
    """Grow the tree: arrays in, one list per node attribute out.

    Invariant: the live groups form a linked list (``left``, ``right``) in the order
    of the points. ``falls[g]`` says whether g lies above its right neighbor; it
    cannot change without the two meeting, and then they merge.
    """
    # The leaves: runs of equal neighbors, which stay together from lambda = 0 on.
    first = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    start = first.tolist()
    stop = [*start[1:], len(values)]
    weight = np.add.reduceat(weights, first).tolist()
    total = np.add.reduceat(weights * values, first).tolist()
    # The value itself, not total / weight: the solution at 0 is y to the last bit.
    mean = values[first].tolist()

    n_leaves = len(start)
    left = list(range(-1, n_leaves - 1))
    right = [*range(1, n_leaves), -1]
    falls = [mean[g] > mean[g + 1] for g in range(n_leaves - 1)] + [False]
    slope = [
        ((g > 0 and falls[g - 1]) - falls[g]) / weight[g]  # (s_{g-1} - s_g) / weight_g
        for g in range(n_leaves)
    ]
    born = [0.0] * n_leaves
    died = [np.inf] * n_leaves

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
        if died[a] < np.inf or died[b] < np.inf:
            continue
        if meets > lam * (1 + EQUAL_LAMBDAS):
            lam = meets
        merged = len(start)
        before, after = left[a], right[b]
        start.append(start[a])
        stop.append(stop[b])
        weight.append(weight[a] + weight[b])
        total.append(total[a] + total[b])
        mean.append(total[merged] / weight[merged])
        left.append(before)
        right.append(after)
        falls.append(falls[b])
        slope.append(((before >= 0 and falls[before]) - falls[b]) / weight[merged])
        born.append(lam)
        died.append(np.inf)
        died[a] = died[b] = lam
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
    return start, stop, weight, mean, slope, born, died


def _assemble(
    start: list, stop: list, weight: list, mean: list, slope: list, born: list, died: list
) -> NearIsotonicPath:
    births = np.array(born)
    lambdas = np.unique(births)
    n_leaves = (len(born) + np.count_nonzero(np.isinf(died))) // 2
    n_merged = np.searchsorted(births[n_leaves:], lambdas, side="right")
    return NearIsotonicPath(
        lambdas=lambdas,
        n_groups=n_leaves - n_merged,
        start=np.array(start),
        stop=np.array(stop),
        weight=np.array(weight),
        mean=np.array(mean),
        slope=np.array(slope),
        born=births,
        died=np.array(died),
    )
