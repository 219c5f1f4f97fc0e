"""Probabilities of binary problems -> probabilities of the classes: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant._core.bradley_terry import bradley_terry
from calibrant._core.rowwise import row_maxima, row_sums
from calibrant._core.typing import CodeMatrix, FloatArray, IndexArray

# Pairwise probabilities of exactly 0 or 1 claim that a class is impossible, and leave
# most couplings without a unique answer. They are taken as this far from 0 or 1.
SMALLEST_PAIRWISE = 1e-12
# R[:, i, j] + R[:, j, i] may differ from 1 by rounding, in single precision too.
COMPLEMENT_TOLERANCE = 1e-6
# Rows are coupled so many numbers at a time, which bounds memory; the cache holds them.
CHUNK_SIZE = 2**15


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
    values = _check_unit_interval(proba, "proba", ndim=2)
    largest = row_maxima(values)
    empty = largest[:, 0] == 0
    if empty.any():
        values = values.copy()
        if fallback is not None:
            instead = _check_unit_interval(fallback, "fallback", ndim=2)
            if instead.shape != values.shape:
                raise ValueError(
                    f"fallback must have the shape of proba, {values.shape}. "
                    f"Got {instead.shape}. Pass one row for each row of proba."
                )
            values[empty] = instead[empty]
        values[row_maxima(values)[:, 0] == 0] = 1.0
        largest = row_maxima(values)
    # Scaling by the largest first keeps the sum of very small values from vanishing.
    values = values / largest
    values /= row_sums(values)
    return values


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
    pairwise = np.asarray(R, dtype=np.float64)
    if pairwise.ndim != 3 or pairwise.shape[1] != pairwise.shape[2] or pairwise.shape[1] == 0:
        raise ValueError(
            f"R must have shape (n_samples, n_classes, n_classes). Got {pairwise.shape}. "
            "Use R[None] for a single row."
        )
    n_samples, n_classes, _ = pairwise.shape
    if pair_weight is None:
        weight = np.ones((n_classes, n_classes))
    else:
        weight = np.array(pair_weight, dtype=np.float64)
        _check_pair_weight(weight, n_classes)
    if n_classes == 1:
        return np.ones((n_samples, 1))
    pairs = np.triu_indices(n_classes, 1)
    chunks = (_check_pairwise(pairwise[rows], pairs) for rows in _chunks(n_samples, n_classes))
    return _couple(chunks, method, weight)


def couple_pairs(
    share: FloatArray, class_count: FloatArray, method: str = "wu-lin-weng"
) -> FloatArray:
    """Do as `couple` does with the answers of one binary problem a pair of classes.

    Parameters
    ----------
    share : ndarray of shape (n_samples, n_pairs)
        The probability of the first class of each pair given that it is one of the two; the
        pairs are those of ``numpy.triu_indices(n_classes, 1)``.
    class_count : ndarray of shape (n_classes,)
        The number of training rows of each class, which weights the pairs.
    method : str, default="wu-lin-weng"
        The coupling.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Class probabilities: finite, non-negative, each row sums to 1.
    """
    n_classes = len(class_count)
    # A pair of classes without rows weighs as one row would.
    weight = np.maximum(class_count[:, None] + class_count, 1.0)
    pairs = np.triu_indices(n_classes, 1)
    chunks = (_as_pairwise(share[rows].T, pairs) for rows in _chunks(len(share), n_classes))
    return _couple(chunks, method, weight)


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


def _couple(chunks: Iterable[FloatArray], method: str, pair_weight: FloatArray) -> FloatArray:
    """Couple rows chunk by chunk."""
    coupling = COUPLINGS[method]
    return np.concatenate([_to_simplex(coupling(pairwise, pair_weight)) for pairwise in chunks])


def _chunks(n_samples: int, n_classes: int) -> Iterator[slice]:
    step = max(1, CHUNK_SIZE // n_classes**2)
    return (slice(start, start + step) for start in range(0, max(n_samples, 1), step))


# In what follows pairwise has shape (n_classes, n_classes, n_rows), which is r_ij for many
# rows; r_ji is 1 - r_ij to the last bit, r_ii is 0. Work on it runs along the rows.


def _wu_lin_weng(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    """Minimize sum_{i<j} (r_ji p_i - r_ij p_j)^2 over sum p = 1, for all rows at once.

    At the minimum of p'Qp the gradient is a multiple of 1, and so is (Q + 11')p. This matrix
    is positive definite whatever the pairs, 0 and 1 included: along any direction that keeps
    the sum, some p_i rises while some p_j falls, and then r_ji p_i - r_ij p_j changes since
    r_ij + r_ji = 1.
    """
    system = 1.0 - pairwise * pairwise.transpose(1, 0, 2)
    diagonal = np.arange(len(pairwise))
    system[diagonal, diagonal] += np.einsum("ijn,ijn->jn", pairwise, pairwise)
    return _solve(system, np.ones(len(pairwise)))


def _wu_lin_weng_1(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    """Solve p_i = sum_j (p_i + p_j) r_ij / (K - 1): a Markov chain's stationary state."""
    rates = _away_from_certainty(pairwise)
    diagonal = np.arange(len(rates))
    # Balance of flows: what leaves class i, sum_j r_ji p_i, equals what enters it.
    rates[diagonal, diagonal] = -rates.sum(axis=0)
    rates[-1] = 1.0
    return _solve(rates, diagonal == diagonal[-1])


def _hastie_tibshirani(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    """Minimize the weighted Kullback-Leibler distance of r_ij to p_i / (p_i + p_j).

    This is the Bradley-Terry model of all pairs.
    """
    first, second = np.triu_indices(len(pairwise), 1)
    is_class = np.eye(len(pairwise), dtype=np.int8)
    rates = _away_from_certainty(pairwise)
    return bradley_terry(
        rates[first, second].T, is_class[:, first] - is_class[:, second], weight[first, second]
    )


def _pkpd(pairwise: FloatArray, weight: FloatArray) -> FloatArray:
    """P_i = 1 / (sum_{j != i} 1 / r_ij - (K - 2)), by inclusion and exclusion."""
    inverse = 1.0 / np.maximum(pairwise, SMALLEST_PAIRWISE)
    diagonal = np.arange(len(inverse))
    inverse[diagonal, diagonal] = 0.0
    return 1.0 / (inverse.sum(axis=1) - (len(inverse) - 2)).T


COUPLINGS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "wu-lin-weng": _wu_lin_weng,
    "wu-lin-weng-1": _wu_lin_weng_1,
    "hastie-tibshirani": _hastie_tibshirani,
    "pkpd": _pkpd,
}


def _solve(system: FloatArray, constant: NDArray[Any]) -> FloatArray:
    """Solve linear systems, one a row, that have the same right side."""
    solution = np.linalg.solve(system.transpose(2, 0, 1), constant[None, :, None])
    return np.asarray(solution[:, :, 0], dtype=np.float64)


def _away_from_certainty(pairwise: FloatArray) -> FloatArray:
    clipped = np.clip(pairwise, SMALLEST_PAIRWISE, 1.0 - SMALLEST_PAIRWISE)
    diagonal = np.arange(len(pairwise))
    clipped[diagonal, diagonal] = 0.0
    return clipped


def _to_simplex(proba: FloatArray) -> FloatArray:
    """Rows that sum to 1, without the negative values that rounding leaves at 0."""
    positive = np.maximum(proba, 0.0)
    positive /= row_sums(positive)
    return positive


def _as_pairwise(share: FloatArray, pairs: tuple[IndexArray, ...]) -> FloatArray:
    """Pairwise probabilities from those of the first class of each pair."""
    first, second = pairs
    n_classes = second[-1] + 1
    pairwise = np.zeros((n_classes, n_classes, share.shape[1]))
    pairwise[first, second] = share
    pairwise[second, first] = 1.0 - share
    return pairwise


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


def _check_code(code: ArrayLike, n_problems: int) -> CodeMatrix:
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


def _check_pairwise(R: FloatArray, pairs: tuple[IndexArray, ...]) -> FloatArray:
    """Check some rows of R, and lay them out for the couplings."""
    first, second = pairs
    by_pair = R.transpose(1, 2, 0)
    share, other = by_pair[first, second], by_pair[second, first]
    _check_unit_interval(share, "R", ndim=2)
    _check_unit_interval(other, "R", ndim=2)
    gap = np.abs(share + other - 1.0).max(initial=0.0)
    if gap > COMPLEMENT_TOLERANCE:
        raise ValueError(
            f"R[:, i, j] + R[:, j, i] must be 1. Got a sum that is off by {gap:.3g}. "
            "Fill the lower triangle with 1 minus the upper one."
        )
    return _as_pairwise(share, pairs)


def _check_pair_weight(weight: FloatArray, n_classes: int) -> None:
    shape = (n_classes, n_classes)
    pairs = weight[~np.eye(n_classes, dtype=bool)] if weight.shape == shape else np.array([np.nan])
    if not (np.isfinite(pairs).all() and (pairs > 0).all() and np.allclose(weight, weight.T)):
        raise ValueError(
            f"pair_weight must be a symmetric {shape} matrix of positive numbers. "
            f"Got {weight.tolist()}. Pass the number of rows of each pair."
        )
