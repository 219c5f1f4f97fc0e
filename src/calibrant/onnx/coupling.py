"""Coupling of pairwise probabilities, as graphs.

ONNX has no operator that solves linear systems. All couplings but one need a single system per
row, which is solved by elimination, unrolled into one step per class. Unlike a fixed number of
iterations, this is as accurate as `numpy.linalg.solve` whatever the pairwise probabilities are.
Neither of the two eliminations needs pivoting, which a graph could hardly do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibrant._core.bradley_terry import SMALLEST_PROBA
from calibrant._core.typing import FloatArray
from calibrant.onnx.graphs import Tensor


def couple_pairs(proba: Tensor, class_count: FloatArray, method: str) -> Tensor:
    """Combine the probabilities of one binary problem per pair of classes.

    Parameters
    ----------
    proba : Tensor
        The probability of the first class of each pair, of shape (n_rows, n_pairs), in the order
        of ``numpy.triu_indices(n_classes, 1)``.
    class_count : ndarray of shape (n_classes,)
        The number of training rows in each class.
    method : str
        The coupling method.

    Returns
    -------
    Tensor
        Class probabilities of shape (n_rows, n_classes).
    """
    if method not in COUPLINGS:
        raise ValueError(
            f"coupling must be one of {', '.join(COUPLINGS)} to be exported to ONNX, got "
            f"{method!r}. Fit the model with one of these."
        )
    n_classes = len(class_count)
    coupled = COUPLINGS[method](_as_pairwise(proba, n_classes), n_classes)
    positive = coupled.op("Max", 0.0)
    return positive / positive.sum(1)


def _as_pairwise(proba: Tensor, n_classes: int) -> Tensor:
    """Build r_ij of shape (n_rows, n_classes, n_classes), with zeros on the diagonal."""
    graph = proba.graph
    first, second = np.triu_indices(n_classes, 1)
    n_pairs = len(first)
    place = np.full((n_classes, n_classes), 2 * n_pairs)
    place[first, second] = np.arange(n_pairs)
    place[second, first] = np.arange(n_pairs) + n_pairs
    zeros = proba.slice(0, 1, 1) * 0.0
    values = graph.op("Concat", proba, 1.0 - proba, zeros, axis=1)
    return values.take(place)


def _wu_lin_weng(pairwise: Tensor, n_classes: int) -> Tensor:
    """Solve a positive definite system, for which elimination without pivoting is stable."""
    transposed = pairwise.op("Transpose", perm=[0, 2, 1])
    diagonal = (pairwise * pairwise).sum(1)  # of shape (n_rows, 1, n_classes)
    system = 1.0 - pairwise * transposed + diagonal * np.eye(n_classes)
    return _solve_for_ones(system, n_classes)


def _solve_for_ones(system: Tensor, n_classes: int) -> Tensor:
    """Solve one positive definite system per row by Gauss-Jordan elimination.

    The right-hand side is a vector of ones. Columns are dropped once they have been eliminated, so
    that the pivot is always in the first one.
    """
    ones = system.slice(0, 1, 2) * 0.0 + 1.0
    table = system.graph.op("Concat", system, ones, axis=2)
    unit = np.eye(n_classes)[:, :, None]
    for k in range(n_classes):
        width = n_classes + 1 - k
        column, rest = table.slice(0, 1, 2), table.slice(1, width, 2)
        pivot_row = rest.slice(k, k + 1, 1) / column.slice(k, k + 1, 1)
        # Subtracting the unit vector leaves the pivot row itself divided by the pivot.
        table = rest - (column - unit[k]) * pivot_row
    return table.op("Squeeze", np.array([2]))


def _wu_lin_weng_1(pairwise: Tensor, n_classes: int) -> Tensor:
    """Find the stationary distribution of the chain that moves from j to i at the rate r_ij.

    States are eliminated one by one as Grassmann, Taksar and Heyman do, without subtractions and
    hence without cancellation, even if rates are as small as 1e-12.
    """
    rate = pairwise.clip(SMALLEST_PROBA, 1.0 - SMALLEST_PROBA)
    inflows = []
    for k in range(n_classes - 1, 0, -1):
        leaving = rate.slice(0, k, 1).slice(k, k + 1, 2)  # from k to each state before it
        arriving = rate.slice(k, k + 1, 1).slice(0, k, 2) / leaving.sum(1)
        rate = rate.slice(0, k, 1).slice(0, k, 2) + leaving * arriving
        inflows.append(arriving)
    proba = inflows[-1] * 0.0 + 1.0  # of shape (n_rows, 1, 1)
    for arriving in reversed(inflows):
        own = (proba * arriving).sum(2)
        proba = proba.graph.op("Concat", proba, own, axis=2)
    return proba.op("Squeeze", np.array([1]))


def _pkpd(pairwise: Tensor, n_classes: int) -> Tensor:
    inverse = (1.0 / pairwise.op("Max", SMALLEST_PROBA)) * (1.0 - np.eye(n_classes))
    return 1.0 / (inverse.sum(2, keep=False) - float(n_classes - 2))


COUPLINGS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "wu-lin-weng": _wu_lin_weng,
    "wu-lin-weng-1": _wu_lin_weng_1,
    "pkpd": _pkpd,
}
