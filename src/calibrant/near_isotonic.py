"""Near-isotonic regression for all penalties at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.binning import run_starts
from calibrant._core.merging import Leaves, merge_leaves
from calibrant._core.records import Record
from calibrant._core.typing import FloatArray, IndexArray

# Sums and reciprocals of weights and values outside this range could overflow.
SMALLEST, LARGEST = 1e-100, 1e100


@dataclass(frozen=True, eq=False)
class NearIsotonicPath(Record):
    """The solution path of near-isotonic regression.

    The path is stored as a forest of binary trees. A node is a group of consecutive points with
    the common fitted value ``mean + lambda * slope``; it exists from the merge that forms it to
    the merge that consumes it. The groups at a given lambda partition the points. There are
    fewer than 2 n nodes, so the path takes O(n) memory.

    Attributes
    ----------
    lambdas : ndarray of shape (n_breakpoints,)
        The breakpoints, in ascending order. At the first one, 0, the solution is ``y``. From
        the last one on, it is the isotonic regression of ``y``.
    n_groups : ndarray of shape (n_breakpoints,)
        The number of groups at each breakpoint.
    start, stop : ndarray of shape (n_nodes,)
        A node contains the points ``start`` to ``stop - 1``. The leaves, which are runs of
        equal values in ``y``, come first, followed by the merged nodes in order of the merges.
    weight, mean : ndarray of shape (n_nodes,)
        The total weight and the weighted mean of ``y`` over the points of a node.
    slope : ndarray of shape (n_nodes,)
        The derivative of the fitted value of a node with respect to lambda.
    parts : ndarray of shape (n_merges, 2)
        The two nodes that each merge joins.
    merged_at : ndarray of shape (n_merges,)
        The lambda of each merge, in ascending order.
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
        """The number of leaves. Merge m forms the node ``n_leaves + m``."""
        return len(self.start) - len(self.parts)

    def groups(self, lam: float) -> IndexArray:
        """Return the groups at a given penalty, in the order of the points.

        Parameters
        ----------
        lam : float
            The penalty, at least 0.

        Returns
        -------
        ndarray of shape (n_groups,)
            Indices into the node arrays.
        """
        if not lam >= 0:
            raise ValueError(f"lam must be at least 0, got {lam}. Pass one of path.lambdas.")
        latest_breakpoint = np.searchsorted(self.lambdas, lam, side="right") - 1
        nodes, _ = self.memberships(np.array([latest_breakpoint]))
        return nodes[np.argsort(self.start[nodes])]

    def memberships(self, breakpoints: IndexArray) -> tuple[IndexArray, IndexArray]:
        """Return the groups at several breakpoints.

        Takes time linear in the number of groups returned.

        Parameters
        ----------
        breakpoints : ndarray of shape (n,)
            Indices into ``lambdas``, ascending.

        Returns
        -------
        nodes : ndarray of shape (n_memberships,)
            Indices into the node arrays, one for each breakpoint at which a node is a group.
        position : ndarray of shape (n_memberships,)
            The position of that breakpoint in ``breakpoints``.
        """
        n_merges, n_last = len(self.parts), len(self._last_nodes)
        n_merged = self.n_leaves - self.n_groups[breakpoints]
        # A group that exists at or after the first breakpoint is consumed by a later merge or
        # by none. It exists from the merge that forms it until then.
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
        """The groups at the end of the path."""
        is_last = np.ones(len(self.start), dtype=bool)
        is_last[self.parts] = False
        return np.flatnonzero(is_last)

    def values(self, nodes: IndexArray, lam: float | FloatArray) -> FloatArray:
        """Return the fitted values of groups.

        Parameters
        ----------
        nodes : ndarray of shape (n,)
            Indices into the node arrays.
        lam : float or ndarray of shape (n,)
            The penalty at which the nodes are groups, or one penalty per node.

        Returns
        -------
        ndarray of shape (n,)
            The fitted values.
        """
        return self.mean[nodes] + lam * self.slope[nodes]

    def solution(self, lam: float) -> FloatArray:
        """Return the fitted values of all points.

        Parameters
        ----------
        lam : float
            The penalty, at least 0. It need not be a breakpoint; infinity gives the isotonic
            regression.

        Returns
        -------
        ndarray of shape (n_points,)
            The minimizer of the near-isotonic problem.
        """
        nodes = self.groups(lam)
        lam = min(lam, self.lambdas[-1])  # from there on, the solution is constant
        return np.repeat(self.values(nodes, lam), self.stop[nodes] - self.start[nodes])


def near_isotonic_path(y: ArrayLike, sample_weight: ArrayLike | None = None) -> NearIsotonicPath:
    r"""Compute the solution path of near-isotonic regression.

    Parameters
    ----------
    y : array-like of shape (n_points,)
        The sequence to fit.
    sample_weight : array-like of shape (n_points,), default=None
        Positive weights of the points. ``None`` means equal weights of 1.

    Returns
    -------
    NearIsotonicPath
        The breakpoints, and the solution at every penalty.

    Notes
    -----
    Near-isotonic regression [1]_ penalizes decreases instead of forbidding them:

    .. math:: \min_b \; \frac{1}{2} \sum_{i=1}^n w_i (y_i - b_i)^2
        + \lambda \sum_{i=1}^{n-1} \max(b_i - b_{i+1}, 0).

    The solution is piecewise linear in :math:`\lambda`, and neighbors that become equal stay
    equal [1]_, so the path is a sequence of merges of neighboring groups. Between merges, the
    value of group g is

    .. math:: b_g(\lambda) = \bar{y}_g + \lambda \, \frac{\sigma_{g-1} - \sigma_g}{W_g},

    where :math:`\bar{y}_g` is the weighted mean of the group, :math:`W_g` its total weight, and
    :math:`\sigma_g` is 1 if the group lies above its right neighbor and 0 otherwise. The
    :math:`\lambda` at which two neighbors meet follows from their means and slopes alone, so
    rounding errors do not accumulate along the path.

    The path takes O(n log n) time and O(n) memory.

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
            f"y must be one-dimensional and have at least one point, got shape {values.shape}. "
            "Pass a single sequence."
        )
    weights = np.ones_like(values) if sample_weight is None else np.array(sample_weight, np.float64)
    if weights.shape != values.shape:
        raise ValueError(
            f"sample_weight must have the same shape as y, {values.shape}, got {weights.shape}. "
            "Pass one weight for each point."
        )
    if not np.abs(values).max() <= LARGEST:  # true for NaN as well
        raise ValueError(
            f"y must be finite and within +-{LARGEST:.0e}, got values from {values.min():g} to "
            f"{values.max():g}. Drop missing values and rescale extreme ones."
        )
    if not (weights.min() >= SMALLEST and weights.max() <= LARGEST):
        raise ValueError(
            f"sample_weight must be between {SMALLEST:.0e} and {LARGEST:.0e}, "
            f"got values from {weights.min():g} to {weights.max():g}. "
            "Drop points of weight 0 and rescale extreme weights."
        )
    # The leaves are runs of equal values, which stay equal. Their mean is set to that value rather
    # than to total / weight, so that the solution at lambda = 0 is exactly y.
    first = run_starts(values[1:] != values[:-1])
    forest = merge_leaves(
        Leaves(
            start=first,
            stop=np.concatenate([first[1:], [len(values)]]),
            weight=np.add.reduceat(weights, first),
            total=np.add.reduceat(weights * values, first),
            mean=values[first],
        )
    )
    # A merge at which lambda increases starts a breakpoint; the groups of the previous breakpoint
    # are those that remain after all earlier merges.
    lambdas = np.concatenate([[0.0], forest.merged_at])
    breakpoints = run_starts(lambdas[1:] > lambdas[:-1])
    return NearIsotonicPath(
        lambdas=lambdas[breakpoints],
        n_groups=len(first) - np.concatenate([breakpoints[1:], [len(lambdas)]]) + 1,
        **forest._asdict(),
    )
