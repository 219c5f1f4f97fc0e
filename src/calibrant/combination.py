"""Probabilities of binary problems -> probabilities of the classes: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant.bradley_terry import bradley_terry

FloatArray = NDArray[np.float64]

# Pairwise probabilities of exactly 0 or 1 claim that a class is impossible, and leave
# most couplings without a unique answer. They are taken as this far from 0 or 1.
SMALLEST_PAIRWISE = 1e-12
# R[:, i, j] + R[:, j, i] may differ from 1 by rounding, in single precision too.
COMPLEMENT_TOLERANCE = 1e-6


def normalize(proba: ArrayLike, fallback: ArrayLike | None = None) -> FloatArray:
    """Divide each row by its sum.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Values in [0, 1], as one-vs-rest problems give them.
    fallback : array-like of shape (n_samples, n_classes), default=None
        What to use for rows that are all zero; rows that are zero here as well
        become uniform, and so do all such rows without a fallback.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Rows that sum to 1.

    Examples
    --------
    >>> from calibrant.combination import normalize
    >>> normalize([[0.2, 0.6, 0.0], [0.0, 0.0, 0.0]], fallback=[[1, 1, 1], [0.1, 0.3, 0]])
    array([[0.25, 0.75, 0.  ],
           [0.25, 0.75, 0.  ]])
    """
    values = _check_unit_interval(proba, "proba", ndim=2).copy()
    empty = values.max(axis=1) == 0
    if empty.any():
        if fallback is not None:
            instead = _check_unit_interval(fallback, "fallback", ndim=2)
            if instead.shape != values.shape:
                raise ValueError(
                    f"fallback must have the shape of proba, {values.shape}. "
                    f"Got {instead.shape}. Pass one row for each row of proba."
                )
            values[empty] = instead[empty]
        values[values.max(axis=1) == 0] = 1.0
    # Scaling by the largest first keeps the sum of very small values from vanishing.
    values /= values.max(axis=1, keepdims=True)
    return values / values.sum(axis=1, keepdims=True)


def couple(
    R: ArrayLike, method: str = "wu-lin-weng", *, pair_weight: ArrayLike | None = None
) -> FloatArray:
    """Combine pairwise probabilities into class probabilities.

    Parameters
    ----------
    R : array-like of shape (n_samples, n_classes, n_classes)
        ``R[:, i, j]`` is the probability of class i given that the class is i or j;
        ``R[:, i, j] + R[:, j, i]`` is 1. The diagonal is not read.
    method : {"wu-lin-weng", "wu-lin-weng-1", "hastie-tibshirani", "pkpd"}, \
            default="wu-lin-weng"
        The coupling: the second or the first method of Wu, Lin and Weng [1]_, that of
        Hastie and Tibshirani [2]_, or that of Price, Knerr, Personnaz and
        Dreyfus [3]_.
    pair_weight : array-like of shape (n_classes, n_classes), default=None
        Symmetric positive weights of the pairs, usually their numbers of rows. Only
        "hastie-tibshirani" uses them.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Class probabilities: finite, non-negative, each row sums to 1.

    Notes
    -----
    All methods return p when ``R[:, i, j] = p_i / (p_i + p_j)``; they differ in how
    they settle contradictions between the pairs.

    References
    ----------
    .. [1] T.-F. Wu, C.-J. Lin and R. C. Weng, "Probability estimates for multi-class
           classification by pairwise coupling", JMLR 5, 2004.
    .. [2] T. Hastie and R. Tibshirani, "Classification by pairwise coupling",
           Annals of Statistics 26(2), 1998.
    .. [3] D. Price, S. Knerr, L. Personnaz and G. Dreyfus, "Pairwise neural network
           classifiers with probabilistic outputs", NIPS 7, 1995.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.combination import couple
    >>> proba = np.array([0.6, 0.3, 0.1])
    >>> R = proba[:, None] / (proba[:, None] + proba)
    >>> couple(R[None]).round(12)
    array([[0.6, 0.3, 0.1]])
    """
    if method not in COUPLINGS:
        raise ValueError(
            f"method must be one of {sorted(COUPLINGS)}. Got {method!r}. "
            "Leave it out for 'wu-lin-weng'."
        )
    pairwise = _check_pairwise(R)
    n_classes = pairwise.shape[1]
    if pair_weight is None:
        weight = np.ones((n_classes, n_classes))
    else:
        weight = np.array(pair_weight, dtype=np.float64)
        _check_pair_weight(weight, n_classes)
    np.fill_diagonal(weight, 0.0)
    if n_classes == 1:
        return np.ones((len(pairwise), 1))
    return _to_simplex(COUPLINGS[method](pairwise, weight))


def decode(proba: ArrayLike, code: ArrayLike) -> FloatArray:
    """Combine the problems of any code matrix by the generalized Bradley-Terry model.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_problems)
        The probability of the positive side of each problem.
    code : array-like of shape (n_classes, n_problems)
        1 for classes on the positive side of a problem, -1 for the negative side, 0
        for classes left out of it.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Class probabilities: finite, non-negative, each row sums to 1.

    Notes
    -----
    Maximizes sum_l r_l log(P+_l / P_l) + (1 - r_l) log(P-_l / P_l), where P+_l and
    P-_l are the class probabilities on the two sides of problem l and P_l is their
    sum [1]_. By Fisher scoring in log p, which takes a few rounds where the fixed-point
    iteration of the paper takes thousands.

    References
    ----------
    .. [1] T.-K. Huang, R. C. Weng and C.-J. Lin, "Generalized Bradley-Terry models
           and multi-class probability estimates", JMLR 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.combination import decode
    >>> one_vs_rest = 2 * np.eye(3) - 1
    >>> decode([[0.6, 0.3, 0.1]], one_vs_rest).round(9)
    array([[0.6, 0.3, 0.1]])
    """
    share = _check_unit_interval(proba, "proba", ndim=2)
    matrix = _check_code(code, n_problems=share.shape[1])
    share = np.clip(share, SMALLEST_PAIRWISE, 1.0 - SMALLEST_PAIRWISE)
    return bradley_terry(share, matrix, np.ones(matrix.shape[1]))


def _wu_lin_weng(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    """Minimize sum_{i<j} (r_ji p_i - r_ij p_j)^2 over sum p = 1, for all rows at once.

    The bordered system is regular for every pairwise that is its own complement, 0 and
    1 included: along any direction that keeps the sum, some p_i rises while some p_j
    falls, and then r_ji p_i - r_ij p_j changes since r_ij + r_ji = 1.
    """
    n_samples, n_classes, _ = pairwise.shape
    system = np.zeros((n_samples, n_classes + 1, n_classes + 1))
    diagonal = np.arange(n_classes)
    system[:, :n_classes, :n_classes] = -pairwise * pairwise.transpose(0, 2, 1)
    system[:, diagonal, diagonal] = np.einsum("nij,nij->nj", pairwise, pairwise)
    system[:, :n_classes, n_classes] = system[:, n_classes, :n_classes] = 1.0
    return _solve_for_unit_sum(system)[:, :n_classes]


def _wu_lin_weng_1(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    """Solve p_i = sum_j (p_i + p_j) r_ij / (K - 1): a Markov chain's stationary state."""
    rates = _away_from_certainty(pairwise)
    diagonal = np.arange(pairwise.shape[1])
    # Balance of flows: what leaves class i, sum_j r_ji p_i, equals what enters it.
    rates[:, diagonal, diagonal] = -rates.sum(axis=1)
    rates[:, -1, :] = 1.0
    return _solve_for_unit_sum(rates)


def _hastie_tibshirani(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    """Minimize the weighted Kullback-Leibler distance of r_ij to p_i / (p_i + p_j).

    This is the Bradley-Terry model of all pairs.
    """
    first, second = np.triu_indices(pairwise.shape[1], 1)
    code = np.zeros((pairwise.shape[1], len(first)), dtype=np.int8)
    problems = np.arange(len(first))
    code[first, problems], code[second, problems] = 1, -1
    rates = _away_from_certainty(pairwise)
    return bradley_terry(rates[:, first, second], code, weight[first, second])


def _pkpd(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    """P_i = 1 / (sum_{j != i} 1 / r_ij - (K - 2)), by inclusion and exclusion."""
    n_classes = pairwise.shape[1]
    off_diagonal = ~np.eye(n_classes, dtype=bool)
    inverse = np.where(off_diagonal, 1.0 / np.maximum(pairwise, SMALLEST_PAIRWISE), 0.0)
    return 1.0 / (inverse.sum(axis=2) - (n_classes - 2))


COUPLINGS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "wu-lin-weng": _wu_lin_weng,
    "wu-lin-weng-1": _wu_lin_weng_1,
    "hastie-tibshirani": _hastie_tibshirani,
    "pkpd": _pkpd,
}


def _solve_for_unit_sum(system: FloatArray) -> FloatArray:
    """Solve linear systems, one a row, whose right side is 0 but for a 1 at the end."""
    constant = np.zeros((len(system), system.shape[1], 1))
    constant[:, -1] = 1.0
    return np.asarray(np.linalg.solve(system, constant)[:, :, 0], dtype=np.float64)


def _away_from_certainty(pairwise: FloatArray) -> FloatArray:
    clipped = np.clip(pairwise, SMALLEST_PAIRWISE, 1.0 - SMALLEST_PAIRWISE)
    diagonal = np.arange(pairwise.shape[1])
    clipped[:, diagonal, diagonal] = 0.0
    return clipped


def _to_simplex(proba: FloatArray) -> FloatArray:
    """Rows that sum to 1, without the negative values that rounding leaves at 0."""
    positive = np.maximum(proba, 0.0)
    return positive / positive.sum(axis=1, keepdims=True)


def _check_unit_interval(values: ArrayLike, name: str, ndim: int) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise ValueError(
            f"{name} must have {ndim} dimensions. Got shape {array.shape}. "
            "Pass one row for each sample."
        )
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        raise ValueError(
            f"{name} must lie in [0, 1]. Got values from {array.min():g} to {array.max():g}. "
            "Pass probabilities, not scores."
        )
    return array


def _check_code(code: ArrayLike, n_problems: int) -> NDArray[np.int8]:
    matrix = np.asarray(code)
    if matrix.ndim != 2 or matrix.shape[1] != n_problems:
        raise ValueError(
            f"code must have one column for each of the {n_problems} problems. "
            f"Got shape {matrix.shape}. Pass the code matrix that the problems came from."
        )
    sides = np.isin(matrix, (-1, 0, 1)).all() and (
        (matrix == 1).any(axis=0) & (matrix == -1).any(axis=0)
    )
    if not np.all(sides) or not matrix.any(axis=1).all():
        raise ValueError(
            "code must have entries -1, 0 and 1, both sides in each column, and each class in "
            f"some column. Got {matrix.tolist()}. Drop columns with one side and unused classes."
        )
    return matrix.astype(np.int8)


def _check_pairwise(R: ArrayLike) -> FloatArray:
    """Validate R; return a copy that is its own complement to the last bit, diagonal 0."""
    pairwise = np.array(R, dtype=np.float64)
    if pairwise.ndim != 3 or pairwise.shape[1] != pairwise.shape[2] or pairwise.shape[1] == 0:
        raise ValueError(
            f"R must have shape (n_samples, n_classes, n_classes). Got {pairwise.shape}. "
            "Use R[None] for a single row."
        )
    diagonal = np.arange(pairwise.shape[1])
    pairwise[:, diagonal, diagonal] = 0.5
    _check_unit_interval(pairwise, "R", ndim=3)
    gap = np.abs(pairwise + pairwise.transpose(0, 2, 1) - 1.0).max(initial=0.0)
    if gap > COMPLEMENT_TOLERANCE:
        raise ValueError(
            f"R[:, i, j] + R[:, j, i] must be 1. Got a sum that is off by {gap:.3g}. "
            "Fill the lower triangle with 1 minus the upper one."
        )
    lower = np.tril_indices(pairwise.shape[1], -1)
    pairwise[:, lower[0], lower[1]] = 1.0 - pairwise[:, lower[1], lower[0]]
    pairwise[:, diagonal, diagonal] = 0.0
    return pairwise


def _check_pair_weight(weight: FloatArray, n_classes: int) -> None:
    shape = (n_classes, n_classes)
    pairs = weight[~np.eye(n_classes, dtype=bool)] if weight.shape == shape else np.array([np.nan])
    if not (np.isfinite(pairs).all() and (pairs > 0).all() and np.allclose(weight, weight.T)):
        raise ValueError(
            f"pair_weight must be a symmetric {shape} matrix of positive numbers. "
            f"Got {weight.tolist()}. Pass the number of rows of each pair."
        )
