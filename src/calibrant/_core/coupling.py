"""Coupling of pairwise probabilities into class probabilities, for many rows at once.

The methods are documented in `calibrant.combination.couple`. All of them take pairwise
probabilities r_ij of shape (n_classes, n_classes, n_rows), so that operations run along contiguous
memory, and pair weights of shape (n_classes, n_classes). Invariants: r_ji == 1 - r_ij exactly, and
r_ii == 0. They return class probabilities of shape (n_rows, n_classes), up to normalization.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._core.bradley_terry import SMALLEST_PROBA, bradley_terry
from calibrant._core.typing import FloatArray


def wu_lin_weng(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    r"""Apply the second method of Wu, Lin and Weng.

    Notes
    -----
    The objective is :math:`p^T Q p` with :math:`Q_{ii} = \sum_{j \ne i} r_{ji}^2` and
    :math:`Q_{ij} = -r_{ij} r_{ji}`. At its minimum subject to :math:`e^T p = 1`, where
    :math:`e` is the vector of ones, :math:`Q p` is a multiple of :math:`e`, and so is
    :math:`(Q + e e^T) p`.

    This matrix is positive definite for all pairwise probabilities, including 0 and 1: if
    :math:`e^T d = 0` and :math:`d \ne 0`, then :math:`d_i > 0 > d_j` for some i and j, and
    :math:`r_{ji} d_i - r_{ij} d_j > 0` because :math:`r_{ij} + r_{ji} = 1`.
    """
    system = 1.0 - pairwise * pairwise.transpose(1, 0, 2)
    diagonal = np.arange(len(pairwise))
    system[diagonal, diagonal] += np.einsum("ijn,ijn->jn", pairwise, pairwise)
    return _solve(system, np.ones(len(pairwise)))


def wu_lin_weng_1(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    r"""Apply the first method of Wu, Lin and Weng: a stationary distribution.

    Notes
    -----
    The equations are equivalent to the balance of flows
    :math:`\sum_{j \ne i} r_{ji} p_i = \sum_{j \ne i} r_{ij} p_j`. One of them is redundant
    and is replaced by :math:`\sum_i p_i = 1`.
    """
    rates = np.maximum(pairwise, SMALLEST_PROBA)
    diagonal = np.arange(len(rates))
    rates[diagonal, diagonal] = 0.0
    rates[diagonal, diagonal] = -rates.sum(axis=0)
    rates[-1] = 1.0
    return _solve(rates, diagonal == diagonal[-1])


def hastie_tibshirani(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    """Apply the method of Hastie and Tibshirani: a Bradley-Terry model for all pairs."""
    first, second = np.triu_indices(len(pairwise), 1)
    is_class = np.eye(len(pairwise), dtype=np.int8)
    return bradley_terry(
        pairwise[first, second].T, is_class[:, first] - is_class[:, second], weight[first, second]
    )


def pkpd(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    """Apply the method of Price, Knerr, Personnaz and Dreyfus."""
    inverse = 1.0 / np.maximum(pairwise, SMALLEST_PROBA)
    diagonal = np.arange(len(inverse))
    inverse[diagonal, diagonal] = 0.0
    return 1.0 / (inverse.sum(axis=1) - (len(inverse) - 2)).T


def _solve(system: FloatArray, constant: NDArray[Any]) -> FloatArray:
    """Solve one linear system per row, all with the same right-hand side."""
    solution = np.linalg.solve(system.transpose(2, 0, 1), constant[None, :, None])
    return np.asarray(solution[:, :, 0], dtype=np.float64)


COUPLINGS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "wu-lin-weng": wu_lin_weng,
    "wu-lin-weng-1": wu_lin_weng_1,
    "hastie-tibshirani": hastie_tibshirani,
    "pkpd": pkpd,
}
