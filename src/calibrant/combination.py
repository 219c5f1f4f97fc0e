"""Probabilities of binary problems -> probabilities of the classes: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

# Pairwise probabilities of exactly 0 or 1 claim that a class is impossible, and leave
# most couplings without a unique answer. They are taken as this far from 0 or 1.
SMALLEST_PAIRWISE = 1e-10
# R[:, i, j] + R[:, j, i] may differ from 1 by rounding, in single precision too.
COMPLEMENT_TOLERANCE = 1e-6
# Iterative solutions stop when nothing moves by more than this, or after so many rounds:
# contradictory problems may draw a probability toward 0 without end.
CONVERGED = 1e-12
MAX_ITERATIONS = 2_000


def normalize(proba: ArrayLike, fallback: ArrayLike | None = None) -> FloatArray:
    """Divide each row by its sum.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Non-negative values, as one-vs-rest problems give them.
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
    >>> normalize([[0.2, 0.6, 0.0], [0.0, 0.0, 0.0]], fallback=[[1, 1, 1], [1, 3, 0]])
    array([[0.25, 0.75, 0.  ],
           [0.25, 0.75, 0.  ]])
    """
    values = _check_unit_interval(proba, "proba", ndim=2).copy()
    empty = values.max(axis=1) == 0
    if empty.any():
        if fallback is not None:
            values[empty] = np.asarray(fallback, dtype=np.float64)[empty]
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
        raise ValueError(f"method must be one of {sorted(COUPLINGS)}. Got {method!r}.")
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
        Class probabilities: finite, positive, each row sums to 1.

    Notes
    -----
    Maximizes sum_l r_l log(P+_l / P_l) + (1 - r_l) log(P-_l / P_l), where P+_l and
    P-_l are the class probabilities on the two sides of problem l and P_l is their
    sum [1]_. The update is the paper's, for all classes at once rather than in turn:
    a minorization step, so the objective never falls.

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
    share = np.clip(
        _check_unit_interval(proba, "proba", ndim=2), SMALLEST_PAIRWISE, 1 - SMALLEST_PAIRWISE
    )
    matrix = np.asarray(code)
    if matrix.ndim != 2 or matrix.shape[1] != share.shape[1]:
        raise ValueError(
            f"code must have one column for each of the {share.shape[1]} problems. "
            f"Got shape {matrix.shape}. Pass the code matrix that the problems came from."
        )
    positive, negative = (matrix == 1).astype(float), (matrix == -1).astype(float)
    taking_part = positive + negative
    tiny = np.finfo(np.float64).tiny

    classes = np.full((len(share), len(matrix)), 1.0 / len(matrix))
    moving = np.arange(len(share))
    for _ in range(MAX_ITERATIONS):
        current, r = classes[moving], share[moving]
        on_positive = np.maximum(current @ positive, tiny)
        on_negative = np.maximum(current @ negative, tiny)
        wins = (r / on_positive) @ positive.T + ((1 - r) / on_negative) @ negative.T
        games = (1.0 / (on_positive + on_negative)) @ taking_part.T
        update = _to_simplex(current * wins / games)
        classes[moving] = update
        moving = moving[np.abs(update - current).max(axis=1) > CONVERGED]
        if moving.size == 0:
            break
    return classes


def add_prior_row(proba: FloatArray, class_count: ArrayLike) -> FloatArray:
    """Temper probabilities as one more row, of the class shares, would.

    ``n`` rows cannot show that a class is impossible. With the share of each class as
    an additional row, no class that was seen gets probability 0, none gets 1, and the
    step becomes smaller as rows become many: the rule of succession.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Rows that sum to 1.
    class_count : array-like of shape (n_classes,)
        The number of rows of each class. A class without rows counts as a K-th of one.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Rows that sum to 1, without zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.combination import add_prior_row
    >>> add_prior_row(np.array([[1.0, 0.0]]), [6, 3])
    array([[0.96666667, 0.03333333]])
    """
    count = np.asarray(class_count, dtype=np.float64)
    prior = np.where(count > 0, count, 1.0 / len(count))
    return _to_simplex(count.sum() * proba + prior / prior.sum())


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

    In log p this is a concave logistic likelihood, whose maximum damped Newton steps
    reach in a few rounds; the fixed-point iteration of the paper takes hundreds.
    """
    rates = _away_from_certainty(pairwise)
    log_odds: FloatArray = np.log(
        np.maximum(_to_simplex(_wu_lin_weng(pairwise, weight)), SMALLEST_PAIRWISE)
    )
    diagonal = np.arange(rates.shape[1])
    for _ in range(100):
        model = _pairwise_logistic(log_odds)
        gradient = np.sum(weight * (rates - model), axis=2)
        curvature = -weight * model * model.transpose(0, 2, 1)
        curvature[:, diagonal, diagonal] -= curvature.sum(axis=2)
        # The likelihood does not see a shift of all log p: the added ones fix it.
        scale = np.einsum("nii->n", curvature)[:, None, None] / rates.shape[1]
        step = np.linalg.solve(curvature + scale, gradient[:, :, None])[:, :, 0]
        # Full Newton steps can overshoot far from the solution; a logistic likelihood
        # is well described by its curvature within about one unit of log odds.
        size = np.abs(step).max(axis=1, keepdims=True)
        step /= np.maximum(size, 1.0)
        log_odds += step
        if size.max() < CONVERGED:
            break
    return np.exp(log_odds - log_odds.max(axis=1, keepdims=True))


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


def _pairwise_logistic(log_odds: FloatArray) -> FloatArray:
    difference = log_odds[:, :, None] - log_odds[:, None, :]
    return 0.5 * (1.0 + np.tanh(0.5 * difference))


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
        raise ValueError(f"{name} must have {ndim} dimensions. Got shape {array.shape}.")
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        raise ValueError(
            f"{name} must lie in [0, 1]. Got values from {array.min():g} to {array.max():g}. "
            "Pass probabilities, not scores."
        )
    return array


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
    off_diagonal = weight[~np.eye(len(weight), dtype=bool)] if weight.ndim == 2 else weight
    if (
        weight.shape != (n_classes, n_classes)
        or not np.allclose(weight, weight.T)
        or not (np.isfinite(off_diagonal).all() and (off_diagonal > 0).all())
    ):
        raise ValueError(
            f"pair_weight must be a symmetric ({n_classes}, {n_classes}) matrix of positive "
            f"numbers. Got {weight.tolist()}. Pass the number of rows of each pair."
        )
