"""The generalized Bradley-Terry model: class probabilities from those of binary problems."""

from __future__ import annotations

import numpy as np

from calibrant._core.typing import CodeMatrix, FloatArray, IndexArray

# With probabilities of exactly 0 or 1, the model has no unique solution, so probabilities are
# clipped to this distance from 0 and 1.
SMALLEST_PROBA = 1e-12
# Fisher scoring stops when no log probability changes by more than the tolerance, or after the
# maximum number of iterations: contradictory problems can push a probability toward 0 forever.
TOLERANCE = 1e-10
MAX_ITERATIONS = 60
MAX_HALVINGS = 30
# The relative size of rounding errors in the likelihood.
ROUNDING = 16 * np.finfo(np.float64).eps
# The largest step in log p. The quadratic approximation does not hold farther out.
MAX_STEP = 5.0
# The largest number of derivatives to keep in memory at a time.
CHUNK_SIZE = 4_000_000
# The ridge on the diagonal of the information matrix, relative to its mean.
RIDGE = 1e-12


def bradley_terry(proba: FloatArray, code: CodeMatrix, weight: FloatArray) -> FloatArray:
    r"""Fit the generalized Bradley-Terry model by maximum likelihood.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_problems)
        The probability of the positive side of each problem.
    code : ndarray of shape (n_classes, n_problems)
        1 for classes on the positive side of a problem, -1 for classes on the negative side, 0
        for classes left out.
    weight : ndarray of shape (n_problems,)
        Positive weights of the problems.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Class probabilities; each row sums to 1.

    Notes
    -----
    With :math:`r_\ell` the probability of the positive side of problem :math:`\ell`,
    :math:`w_\ell` its weight, and :math:`P_\ell^+` and :math:`P_\ell^-` the sums of the class
    probabilities on its two sides, the result maximizes [1]_

    .. math:: \sum_\ell w_\ell \left[ r_\ell \log \mu_\ell
        + (1 - r_\ell) \log (1 - \mu_\ell) \right],
        \quad \mu_\ell = \frac{P_\ell^+}{P_\ell^+ + P_\ell^-}.

    References
    ----------
    .. [1] T.-K. Huang, R. C. Weng and C.-J. Lin, "Generalized Bradley-Terry models
           and multi-class probability estimates", JMLR 7, 2006.
    """
    proba = np.clip(proba, SMALLEST_PROBA, 1.0 - SMALLEST_PROBA)
    chunk = max(1, CHUNK_SIZE // code.size)
    chunks = [
        _fisher_scoring(proba[start : start + chunk], code, weight / weight.max())
        for start in range(0, len(proba), chunk)
    ]
    return np.concatenate([np.empty((0, len(code))), *chunks])


def _fisher_scoring(proba: FloatArray, code: CodeMatrix, weight: FloatArray) -> FloatArray:
    r"""Run Fisher scoring in log p with step halving, for all rows at once.

    Notes
    -----
    With :math:`J_{\ell k} = \partial \operatorname{logit} \mu_\ell / \partial \log p_k` and
    :math:`W` the diagonal matrix of the weights, the gradient is :math:`J^T W (r - \mu)`, and
    the information matrix is :math:`J^T W \operatorname{diag}(\mu (1 - \mu)) J`.
    """
    positive, negative = (code == 1).astype(float), (code == -1).astype(float)

    def side_sums(log_p: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        # Steps and iterations are limited, so log p is within +-300, where p is a normal number.
        p = np.exp(log_p)
        return p, p @ positive, p @ negative

    def log_likelihood(log_p: FloatArray, rows: IndexArray) -> FloatArray:
        _, positive_sum, negative_sum = side_sums(log_p)
        logit = np.log(positive_sum) - np.log(negative_sum)
        log_positive, log_negative = -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)
        return (proba[rows] * log_positive + (1.0 - proba[rows]) * log_negative) @ weight

    log_p = np.zeros((len(proba), len(code)))
    rows = np.arange(len(proba))
    reached = log_likelihood(log_p, rows)
    for _ in range(MAX_ITERATIONS):
        p, positive_sum, negative_sum = side_sums(log_p[rows])
        mu = positive_sum / (positive_sum + negative_sum)
        jacobian = p[:, :, None] * (
            positive / positive_sum[:, None, :] - negative / negative_sum[:, None, :]
        )
        gradient = np.einsum("nkl,nl->nk", jacobian, weight * (proba[rows] - mu))
        weighted = jacobian * np.sqrt(weight * mu * (1.0 - mu))[:, None, :]
        information = weighted @ weighted.transpose(0, 2, 1)
        # Adding a constant to all log p leaves the likelihood unchanged. The matrix of ones fixes
        # that constant, and the ridge handles classes that no problem can still tell apart.
        scale = np.einsum("nkk->n", information)[:, None, None] / len(code) + RIDGE
        information += scale * (1.0 + RIDGE * np.eye(len(code)))
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        size = np.abs(step).max(axis=1, keepdims=True)
        step *= np.minimum(1.0, MAX_STEP / np.maximum(size, TOLERANCE))
        better = np.zeros(len(rows), dtype=bool)
        for _ in range(MAX_HALVINGS):
            tried = log_likelihood(log_p[rows] + step, rows)
            # At the maximum, rounding may lower the likelihood slightly.
            better = tried >= reached[rows] - ROUNDING * (1.0 + np.abs(reached[rows]))
            if better.all():
                break
            step[~better] /= 2.0
        log_p[rows[better]] += step[better]
        reached[rows[better]] = tried[better]
        rows = rows[better & (size[:, 0] > TOLERANCE)]
        if rows.size == 0:
            break
    p = np.exp(log_p)
    return p / p.sum(axis=1, keepdims=True)
