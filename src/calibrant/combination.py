"""Combination of the probabilities of binary problems into class probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.bradley_terry import bradley_terry
from calibrant._core.coupling import COUPLINGS
from calibrant._core.rowwise import row_maxima, row_sums
from calibrant._core.threads import one_blas_thread
from calibrant._core.typing import CodeMatrix, FloatArray, IndexArray

# R[:, i, j] + R[:, j, i] may differ from 1 by rounding, even in single precision.
COMPLEMENT_TOLERANCE = 1e-6
# The number of pairwise probabilities to couple at a time: bounds memory and fits in the cache.
CHUNK_SIZE = 2**15


def normalize(proba: ArrayLike, fallback: ArrayLike | None = None) -> FloatArray:
    """Divide each row by its sum.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Values in [0, 1], such as the probabilities of one-vs-rest problems.
    fallback : array-like of shape (n_samples, n_classes), default=None
        Replaces rows whose values are all 0. If the replacement is all 0 too, or if there is
        no fallback, the row becomes uniform.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Class probabilities; each row sums to 1.

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
            replacement = _check_unit_interval(fallback, "fallback", ndim=2)
            if replacement.shape != values.shape:
                raise ValueError(
                    f"fallback must have the same shape as proba, {values.shape}, "
                    f"got {replacement.shape}. Pass one row for each row of proba."
                )
            values[empty] = replacement[empty]
        values[row_maxima(values)[:, 0] == 0] = 1.0
        largest = row_maxima(values)
    # Dividing by the maximum first avoids underflow in the sum of very small values.
    values = values / largest
    values /= row_sums(values)
    return values


def couple(
    R: ArrayLike, method: str = "wu-lin-weng", *, pair_weight: ArrayLike | None = None
) -> FloatArray:
    r"""Combine pairwise probabilities into class probabilities.

    Parameters
    ----------
    R : array-like of shape (n_samples, n_classes, n_classes)
        ``R[:, i, j]`` is the probability of class i given that the class is i or j, and
        ``R[:, i, j] + R[:, j, i]`` is 1. The diagonal is ignored.
    method : {"wu-lin-weng", "wu-lin-weng-1", "hastie-tibshirani", "pkpd"}, default="wu-lin-weng"
        The coupling method: the second or the first method of Wu, Lin and Weng [1]_, that
        of Hastie and Tibshirani [2]_, or that of Price, Knerr, Personnaz and Dreyfus [3]_.
    pair_weight : array-like of shape (n_classes, n_classes), default=None
        Positive, symmetric weights of the pairs, usually their numbers of rows. Used only by
        "hastie-tibshirani". ``None`` means equal weights.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Class probabilities; each row sums to 1.

    Notes
    -----
    Let :math:`r_{ij}` be the pairwise probabilities, :math:`n_{ij}` the pair weights and
    :math:`p` the class probabilities. "wu-lin-weng" solves

    .. math:: \min_p \sum_{i < j} (r_{ji} p_i - r_{ij} p_j)^2
        \quad \text{subject to} \quad \sum_i p_i = 1,

    "wu-lin-weng-1" solves

    .. math:: p_i = \sum_{j \ne i} \frac{p_i + p_j}{K - 1} r_{ij},

    "hastie-tibshirani" minimizes the weighted Kullback-Leibler divergence

    .. math:: \min_p \sum_{i < j} n_{ij} \left[ r_{ij} \log \frac{r_{ij}}{\mu_{ij}}
        + r_{ji} \log \frac{r_{ji}}{\mu_{ji}} \right],
        \quad \mu_{ij} = \frac{p_i}{p_i + p_j},

    and "pkpd" normalizes

    .. math:: p_i = \frac{1}{\sum_{j \ne i} 1 / r_{ij} - (K - 2)}.

    All of them return :math:`p` if :math:`r_{ij} = p_i / (p_i + p_j)`. They differ in how
    they resolve contradictions between pairs. All but the first are undefined for some
    pairwise probabilities of 0, so they raise these probabilities to :math:`10^{-12}`.

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
            f"method must be one of {sorted(COUPLINGS)}, got {method!r}. "
            "Omit it to use 'wu-lin-weng'."
        )
    pairwise = np.asarray(R, dtype=np.float64)
    if pairwise.ndim != 3 or pairwise.shape[1] != pairwise.shape[2] or pairwise.shape[1] == 0:
        raise ValueError(
            f"R must have shape (n_samples, n_classes, n_classes), got {pairwise.shape}. "
            "Pass R[None] for a single row."
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
    chunks = (
        _as_pairwise(_check_pairs(pairwise[rows], pairs), pairs)
        for rows in _chunks(n_samples, n_classes)
    )
    return _couple(chunks, method, weight)


def couple_pairs(
    proba: FloatArray, class_count: FloatArray, method: str = "wu-lin-weng"
) -> FloatArray:
    """Combine the probabilities of one binary problem per pair of classes.

    Equivalent to `couple`, but without a matrix of pairwise probabilities.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_pairs)
        The probability of the first class of each pair, given that the class is one of the
        two. The pairs are in the order of ``numpy.triu_indices(n_classes, 1)``.
    class_count : ndarray of shape (n_classes,)
        The number of training rows in each class. The weight of a pair is its number of rows.
    method : str, default="wu-lin-weng"
        The coupling method.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Class probabilities; each row sums to 1.

    See Also
    --------
    couple : The coupling methods.
    """
    n_classes = len(class_count)
    # A pair without rows gets the weight of one row.
    weight = np.maximum(class_count[:, None] + class_count, 1.0)
    pairs = np.triu_indices(n_classes, 1)
    chunks = (_as_pairwise(proba[rows].T, pairs) for rows in _chunks(len(proba), n_classes))
    return _couple(chunks, method, weight)


def decode(proba: ArrayLike, code: ArrayLike) -> FloatArray:
    r"""Combine the probabilities of the binary problems of any code matrix.

    The class probabilities are those of the generalized Bradley-Terry model [1]_.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_problems)
        The probability of the positive side of each problem.
    code : array-like of shape (n_classes, n_problems)
        1 for classes on the positive side of a problem, -1 for classes on the negative side,
        0 for classes left out.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Class probabilities; each row sums to 1.

    Notes
    -----
    With :math:`r_\ell` the probability of the positive side of problem :math:`\ell`, and
    :math:`P_\ell^+` and :math:`P_\ell^-` the sums of the class probabilities on its two
    sides, the class probabilities maximize

    .. math:: \sum_\ell r_\ell \log \frac{P_\ell^+}{P_\ell^+ + P_\ell^-}
        + (1 - r_\ell) \log \frac{P_\ell^-}{P_\ell^+ + P_\ell^-}.

    The solver is Fisher scoring in :math:`\log p`, which needs a few iterations where the
    fixed-point iteration of [1]_ needs thousands.

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
    positive_proba = _check_unit_interval(proba, "proba", ndim=2)
    matrix = _check_code(code, n_problems=positive_proba.shape[1])
    return bradley_terry(positive_proba, matrix, np.ones(matrix.shape[1]))


def _couple(chunks: Iterable[FloatArray], method: str, pair_weight: FloatArray) -> FloatArray:
    """Couple chunks of rows."""
    coupling = COUPLINGS[method]
    with one_blas_thread():
        return np.concatenate([_to_simplex(coupling(pairwise, pair_weight)) for pairwise in chunks])


def _chunks(n_samples: int, n_classes: int) -> Iterator[slice]:
    step = max(1, CHUNK_SIZE // n_classes**2)
    return (slice(start, start + step) for start in range(0, max(n_samples, 1), step))


def _to_simplex(proba: FloatArray) -> FloatArray:
    """Normalize rows after setting negative values, which are due to rounding, to 0."""
    positive = np.maximum(proba, 0.0)
    positive /= row_sums(positive)
    return positive


def _as_pairwise(first_proba: FloatArray, pairs: tuple[IndexArray, ...]) -> FloatArray:
    """Build pairwise probabilities from those of the first class of each pair."""
    first, second = pairs
    n_classes = second[-1] + 1
    pairwise = np.zeros((n_classes, n_classes, first_proba.shape[1]))
    pairwise[first, second] = first_proba
    pairwise[second, first] = 1.0 - first_proba
    return pairwise


def _check_unit_interval(values: ArrayLike, name: str, ndim: int) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise ValueError(
            f"{name} must have {ndim} dimensions, got shape {array.shape}. "
            "Pass one row for each sample."
        )
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        raise ValueError(
            f"{name} must lie in [0, 1], got values from {array.min():g} to {array.max():g}. "
            "Pass probabilities, not scores."
        )
    return array


def _check_code(code: ArrayLike, n_problems: int) -> CodeMatrix:
    matrix = np.asarray(code)
    if matrix.ndim != 2 or matrix.shape[1] != n_problems:
        raise ValueError(
            f"code must have one column for each of the {n_problems} problems, "
            f"got shape {matrix.shape}. Pass the code matrix of these problems."
        )
    sides = np.isin(matrix, (-1, 0, 1)).all() and (
        (matrix == 1).any(axis=0) & (matrix == -1).any(axis=0)
    )
    if not np.all(sides) or not matrix.any(axis=1).all():
        raise ValueError(
            "code must have entries -1, 0 and 1, with both sides in each column and each class in "
            f"some column, got {matrix.tolist()}. Drop one-sided columns and unused classes."
        )
    return matrix.astype(np.int8)


def _check_pairs(R: FloatArray, pairs: tuple[IndexArray, ...]) -> FloatArray:
    """Check rows of R and return the probability of the first class of each pair."""
    first, second = pairs
    by_pair = R.transpose(1, 2, 0)
    first_proba, second_proba = by_pair[first, second], by_pair[second, first]
    _check_unit_interval(first_proba, "R", ndim=2)
    excess = np.abs(first_proba + second_proba - 1.0).max(initial=0.0)
    if not excess <= COMPLEMENT_TOLERANCE:  # true for NaN as well
        raise ValueError(
            f"R[:, i, j] + R[:, j, i] must be 1, got a sum that differs from 1 by {excess:.3g}. "
            "Set the lower triangle to 1 minus the upper one."
        )
    return first_proba


def _check_pair_weight(weight: FloatArray, n_classes: int) -> None:
    shape = (n_classes, n_classes)
    pairs = weight[~np.eye(n_classes, dtype=bool)] if weight.shape == shape else np.array([np.nan])
    if not (np.isfinite(pairs).all() and (pairs > 0).all() and np.allclose(weight, weight.T)):
        raise ValueError(
            f"pair_weight must be a symmetric {shape} matrix of positive numbers, "
            f"got {weight.tolist()}. Pass the number of rows of each pair of classes."
        )
