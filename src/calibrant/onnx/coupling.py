"""Coupling of pairwise probabilities, as graphs.

ONNX has no operator that solves linear systems. Three of the couplings need at most one system per
row, which is solved by elimination, unrolled into one step per class. Unlike a fixed number of
iterations, this is as accurate as `numpy.linalg.solve` whatever the pairwise probabilities are.
Neither of the two eliminations needs pivoting, which a graph could hardly do. The fourth, by Hastie
and Tibshirani, has no explicit solution and takes Newton steps in a loop.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto

from calibrant._core.bradley_terry import RIDGE, SMALLEST_PROBA, TOLERANCE
from calibrant._core.typing import FloatArray
from calibrant.onnx.graphs import Tensor
from calibrant.onnx.rows import softmax

# A damped Newton step moves a log odds of which the loss is nearly linear by log 2. Those of the
# smallest probability, 1e-12, are reached after 40 steps.
MAX_STEPS = 100


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
    n_classes = len(class_count)
    coupled = COUPLINGS[method](_as_pairwise(proba, n_classes), class_count)
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


def _wu_lin_weng(pairwise: Tensor, class_count: FloatArray) -> Tensor:
    """Solve a positive definite system, for which elimination without pivoting is stable."""
    n_classes = len(class_count)
    transposed = pairwise.op("Transpose", perm=[0, 2, 1])
    diagonal = (pairwise * pairwise).sum(1)  # of shape (n_rows, 1, n_classes)
    system = 1.0 - pairwise * transposed + diagonal * np.eye(n_classes)
    ones = system.slice(0, 1, 2) * 0.0 + 1.0
    return _solve(system, ones, n_classes).op("Squeeze", np.array([2]))


def _solve(system: Tensor, constant: Tensor, n_classes: int) -> Tensor:
    """Solve one positive definite system per row by Gauss-Jordan elimination.

    The right-hand sides and the solutions have the shape (n_rows, n_classes, 1). Columns are
    dropped once they have been eliminated, so that the pivot is always in the first one.
    """
    table = system.graph.op("Concat", system, constant, axis=2)
    unit = np.eye(n_classes)[:, :, None]
    for k in range(n_classes):
        width = n_classes + 1 - k
        column, rest = table.slice(0, 1, 2), table.slice(1, width, 2)
        pivot_row = rest.slice(k, k + 1, 1) / column.slice(k, k + 1, 1)
        # Subtracting the unit vector leaves the pivot row itself divided by the pivot.
        table = rest - (column - unit[k]) * pivot_row
    return table


def _wu_lin_weng_1(pairwise: Tensor, class_count: FloatArray) -> Tensor:
    """Find the stationary distribution of the chain that moves from j to i at the rate r_ij.

    States are eliminated one by one as Grassmann, Taksar and Heyman do, without subtractions and
    hence without cancellation, even if rates are as small as 1e-12.
    """
    rate = pairwise.op("Max", SMALLEST_PROBA)
    inflows = []
    for k in range(len(class_count) - 1, 0, -1):
        leaving = rate.slice(0, k, 1).slice(k, k + 1, 2)  # from k to each state before it
        arriving = rate.slice(k, k + 1, 1).slice(0, k, 2) / leaving.sum(1)
        rate = rate.slice(0, k, 1).slice(0, k, 2) + leaving * arriving
        inflows.append(arriving)
    proba = inflows[-1] * 0.0 + 1.0  # of shape (n_rows, 1, 1)
    for arriving in reversed(inflows):
        own = (proba * arriving).sum(2)
        proba = proba.graph.op("Concat", proba, own, axis=2)
    return proba.op("Squeeze", np.array([1]))


def _hastie_tibshirani(pairwise: Tensor, class_count: FloatArray) -> Tensor:
    r"""Fit a Bradley-Terry model, a logistic regression on :math:`z_{ij} = \log p_i - \log p_j`.

    Newton steps, in which no :math:`z_{ij}` changes by more than :math:`d`, are multiplied by
    :math:`\log(1 + d) / d`. The third derivative of the loss along a step is at most :math:`d`
    times the second, so that every step lowers the loss [1]_; a search for the length of the step
    is not needed.

    References
    ----------
    .. [1] T. Sun and Q. Tran-Dinh, "Generalized self-concordant functions: a recipe for
           Newton-type methods", Mathematical Programming 178, 2019.
    """
    n_classes = len(class_count)
    weight = np.maximum(class_count[:, None] + class_count, 1.0) * (1.0 - np.eye(n_classes))
    weight /= weight.max()
    target = pairwise.clip(SMALLEST_PROBA, 1.0 - SMALLEST_PROBA)

    def step(log_p: Tensor) -> tuple[Tensor, Tensor]:
        graph = log_p.graph
        mu = (log_p.expand(2) - log_p.expand(1)).op("Sigmoid")
        gradient = ((target.within(graph) - mu) * weight).sum(2)
        information = mu * (1.0 - mu) * weight
        diagonal = information.sum(2)
        scale = diagonal.sum(1) / float(n_classes) + RIDGE
        # The matrix of ones fixes the constant that can be added to log p, and the ridge handles
        # classes that no pair can still tell apart.
        system = diagonal * np.eye(n_classes) - information
        system = system + scale * (1.0 + RIDGE * np.eye(n_classes))
        change = _solve(system, gradient, n_classes).op("Squeeze", np.array([2]))
        largest, smallest = (
            change.op(kind, np.array([1]), keepdims=1) for kind in ("ReduceMax", "ReduceMin")
        )
        distance = (largest - smallest).op("Max", TOLERANCE)
        damped = change * ((distance + 1.0).op("Log") / distance)
        is_done = damped.op("Abs").op("LessOrEqual", TOLERANCE).cast(TensorProto.INT64)
        # NaN is never done, so that a row without a score does not stop the others.
        goes_on = is_done.op("ReduceMin", keepdims=0).op("Equal", np.array(0))
        return log_p + damped, goes_on

    start = pairwise.sum(2, keep=False) * 0.0
    return softmax(pairwise.graph.loop(start, step, MAX_STEPS))


def _pkpd(pairwise: Tensor, class_count: FloatArray) -> Tensor:
    n_classes = len(class_count)
    inverse = (1.0 / pairwise.op("Max", SMALLEST_PROBA)) * (1.0 - np.eye(n_classes))
    return 1.0 / (inverse.sum(2, keep=False) - float(n_classes - 2))


COUPLINGS: dict[str, Callable[[Tensor, FloatArray], Tensor]] = {
    "wu-lin-weng": _wu_lin_weng,
    "wu-lin-weng-1": _wu_lin_weng_1,
    "hastie-tibshirani": _hastie_tibshirani,
    "pkpd": _pkpd,
}
