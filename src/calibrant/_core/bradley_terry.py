"""Generalized Bradley-Terry model: answers of binary problems -> class probabilities."""

from __future__ import annotations

import numpy as np

from calibrant._core.typing import CodeMatrix, FloatArray, IndexArray

# Fisher scoring stops when no log probability moves by more than this, or after so many
# rounds: contradictory problems may draw a probability toward 0 without end.
CONVERGED = 1e-10
MAX_ITERATIONS = 60
MAX_HALVINGS = 30
ROUNDING = 16 * np.finfo(np.float64).eps
# Steps in log p are cut to this: farther out the likelihood is not what it seems here.
LARGEST_STEP = 5.0
# Derivatives held at once, in numbers.
CHUNK_SIZE = 4_000_000
# What is added to the diagonal of the information, as a share of its mean.
RIDGE = 1e-12


def bradley_terry(share: FloatArray, code: CodeMatrix, weight: FloatArray) -> FloatArray:
    """Class probabilities that fit the answers of binary problems best.

    Maximizes sum_l w_l [r_l log(P+_l / P_l) + (1 - r_l) log(P-_l / P_l)] over the class
    probabilities, where P+_l and P-_l are their sums on the two sides of problem l and P_l
    is the sum of both [1]_.

    Parameters
    ----------
    share : ndarray of shape (n_samples, n_problems)
        r: the probability of the positive side of each problem, neither 0 nor 1.
    code : ndarray of shape (n_classes, n_problems)
        1 for the positive side of a problem, -1 for the negative one, 0 for neither.
    weight : ndarray of shape (n_problems,)
        w: positive weights of the problems.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Rows that sum to 1.

    References
    ----------
    .. [1] T.-K. Huang, R. C. Weng and C.-J. Lin, "Generalized Bradley-Terry models
           and multi-class probability estimates", JMLR 7, 2006.
    """
    chunk = max(1, CHUNK_SIZE // code.size)
    parts = [
        _fisher_scoring(share[start : start + chunk], code, weight / weight.max())
        for start in range(0, len(share), chunk)
    ]
    return np.concatenate([np.empty((0, len(code))), *parts])


def _fisher_scoring(share: FloatArray, code: CodeMatrix, weight: FloatArray) -> FloatArray:
    """Fisher scoring with step halving in log p, for all rows at once.

    With m_l = P+_l / P_l and J the derivatives of logit m_l, the gradient is
    J' w (r - m) and the information J' w m (1 - m) J.
    """
    positive, negative = (code == 1).astype(float), (code == -1).astype(float)

    def sides(log_p: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        tiny = np.finfo(np.float64).tiny
        return p, np.maximum(p @ positive, tiny), np.maximum(p @ negative, tiny)

    def likelihood(log_p: FloatArray, rows: IndexArray) -> FloatArray:
        _, win, lose = sides(log_p)
        log_odds = np.log(win) - np.log(lose)
        log_win, log_lose = -np.logaddexp(0.0, -log_odds), -np.logaddexp(0.0, log_odds)
        return (share[rows] * log_win + (1.0 - share[rows]) * log_lose) @ weight

    log_p = np.zeros((len(share), len(code)))
    rows = np.arange(len(share))
    reached = likelihood(log_p, rows)
    for _ in range(MAX_ITERATIONS):
        p, win, lose = sides(log_p[rows])
        model = win / (win + lose)
        slope = p[:, :, None] * (positive / win[:, None, :] - negative / lose[:, None, :])
        gradient = np.einsum("nkl,nl->nk", slope, weight * (share[rows] - model))
        weighted = slope * np.sqrt(weight * model * (1.0 - model))[:, None, :]
        information = weighted @ weighted.transpose(0, 2, 1)
        # A shift of all log p changes nothing: the added ones fix it. The added diagonal
        # keeps classes apart that the problems no longer tell from each other.
        scale = np.einsum("nkk->n", information)[:, None, None] / len(code) + RIDGE
        information += scale * (1.0 + RIDGE * np.eye(len(code)))
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        size = np.abs(step).max(axis=1, keepdims=True)
        step *= np.minimum(1.0, LARGEST_STEP / np.maximum(size, CONVERGED))
        better = np.zeros(len(rows), dtype=bool)
        for _ in range(MAX_HALVINGS):
            tried = likelihood(log_p[rows] + step, rows)
            # At the top, rounding may make the likelihood fall by a few of its last bits.
            better = tried >= reached[rows] - ROUNDING * (1.0 + np.abs(reached[rows]))
            if better.all():
                break
            step[~better] /= 2.0
        log_p[rows[better]] += step[better]
        reached[rows[better]] = tried[better]
        rows = rows[better & (size[:, 0] > CONVERGED)]
        if rows.size == 0:
            break
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
