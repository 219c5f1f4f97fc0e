"""The near-isotonic solution path, kept as a tree of merging groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.merging import merge_leaves
from calibrant._core.typing import FloatArray, IndexArray

# Beyond these, sums and reciprocals of weights and values could overflow.
SMALLEST, LARGEST = 1e-100, 1e100


@dataclass(frozen=True, eq=False)
class NearIsotonicPath:
    """All near-isotonic fits of one sequence, from the data to isotonic regression.

    The path is a forest of binary trees. A node is a group of consecutive points that
    share one fitted value, ``mean + lambda * slope``, from its own merge to the next one.
    The groups at one lambda are a partition of the points. There are fewer than ``2 n``
    nodes, so the whole path takes memory linear in the number of points.

    Attributes
    ----------
    lambdas : ndarray of shape (n_breakpoints,)
        The breakpoints, ascending. The first is 0, where the solution is ``y``;
        from the last one on it is the isotonic regression of ``y``.
    n_groups : ndarray of shape (n_breakpoints,)
        The number of groups of equal fitted values at each breakpoint.
    start, stop : ndarray of shape (n_nodes,)
        A node holds the points ``start`` to ``stop - 1``. The first nodes are the leaves:
        runs of equal neighbors in ``y``. Those that merges made follow, in their order.
    weight, mean : ndarray of shape (n_nodes,)
        The sum of weights and the weighted mean of ``y`` over a node's points.
    slope : ndarray of shape (n_nodes,)
        The change of a node's value for a unit of lambda.
    parts : ndarray of shape (n_merges, 2)
        The two nodes that each merge made one.
    merged_at : ndarray of shape (n_merges,)
        The lambda of each merge, ascending.
    """

    lambdas: FloatArray
    n_groups: IndexArray
    start: IndexArray
    stop: IndexArray
    weight: FloatArray
    mean: FloatArray
    slope: FloatArray
    parts: IndexArray
    merged_at: FloatArray

    @property
    def n_leaves(self) -> int:
        """The number of leaves; the node that merge m made is number ``n_leaves + m``."""
        return len(self.start) - len(self.parts)

    def groups(self, lam: float) -> IndexArray:
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
        breakpoint_before = np.searchsorted(self.lambdas, lam, side="right") - 1
        nodes, _ = self.memberships(np.array([breakpoint_before]))
        return nodes[np.argsort(self.start[nodes])]

    def memberships(self, breakpoints: IndexArray) -> tuple[IndexArray, IndexArray]:
        """All groups at several breakpoints, in time that grows with their number only.

        Parameters
        ----------
        breakpoints : ndarray of shape (n,)
            Indices into ``lambdas``, ascending.

        Returns
        -------
        nodes, position : ndarray of shape (n_memberships,)
            A node, and the position in ``breakpoints`` of one at which it is a group.
        """
        n_merges, n_last = len(self.parts), len(self._last_nodes)
        n_merged = self.n_leaves - self.n_groups[breakpoints]
        # Whatever is a group from here on is part of a later merge, or of none.
        nodes = np.concatenate([self.parts[n_merged[0] :].ravel(), self._last_nodes])
        until = np.concatenate(
            [np.repeat(np.arange(n_merged[0], n_merges), 2), np.full(n_last, n_merges)]
        )
        first = np.searchsorted(n_merged, nodes - self.n_leaves, side="right")
        count = np.maximum(np.searchsorted(n_merged, until, side="right") - first, 0)
        skipped = np.cumsum(count) - count
        position = np.arange(count.sum()) + np.repeat(first - skipped, count)
        return np.repeat(nodes, count), position

    @cached_property
    def _last_nodes(self) -> IndexArray:
        """Nodes that are groups at the end of the path."""
        is_last = np.ones(len(self.start), dtype=bool)
        is_last[self.parts] = False
        return np.flatnonzero(is_last)

    def values(self, nodes: IndexArray, lam: float | FloatArray) -> FloatArray:
        """Fitted values at ``lam`` of the groups ``nodes``."""
        return self.mean[nodes] + lam * self.slope[nodes]

    def solution(self, lam: float) -> FloatArray:
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
    slopes alone, and rounding does not add up along the path (`calibrant._core.merging`).

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
    # The leaves: runs of equal neighbors, which stay together from lambda = 0 on. Their
    # mean is the value itself, not total / weight: the solution at 0 is y to the last bit.
    first = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    start, stop, weight, mean, slope, parts, merged_at = merge_leaves(
        first,
        np.append(first[1:], len(values)),
        np.add.reduceat(weights, first),
        np.add.reduceat(weights * values, first),
        values[first],
    )
    # Where lambda rises, a model ends; those before have the merges so far.
    rises = np.flatnonzero(np.diff(merged_at, prepend=0.0) > 0)
    return NearIsotonicPath(
        lambdas=np.append(0.0, merged_at[rises]),
        n_groups=len(first) - np.append(rises, len(merged_at)),
        start=start,
        stop=stop,
        weight=weight,
        mean=mean,
        slope=slope,
        parts=parts,
        merged_at=merged_at,
    )
