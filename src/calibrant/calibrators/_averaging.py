"""The weights and the shrinkage of an average of calibrators."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from calibrant._core.typing import FloatArray

# The pseudo-count of each candidate: no finite number of rows justifies a weight of exactly 0 or 1.
CANDIDATE_PSEUDO_COUNT = 0.3


def average_weights(true_proba: FloatArray, weight: FloatArray) -> FloatArray:
    r"""Find the weighted average of candidates with the lowest log loss.

    Parameters
    ----------
    true_proba : ndarray of shape (n_points, n_candidates)
        The positive held-out probability that each candidate gives the true class.
    weight : ndarray of shape (n_points,)
        Weights of the points, as numbers of rows.

    Returns
    -------
    ndarray of shape (n_candidates,)
        The weights, which sum to 1. They are equal if there are no points.

    Notes
    -----
    The weights maximize the concave function

    .. math:: \sum_i n_i \log \sum_c w_c p_{ic} + 0.3 \sum_c \log w_c

    where :math:`n_i` is the weight of point i and :math:`p_{ic}` the probability that
    candidate c gives its true class.
    """
    n_candidates = true_proba.shape[1]
    # Dividing by the number of rows, including pseudo-counts, makes the problem scale-free.
    n_rows = weight.sum() + CANDIDATE_PSEUDO_COUNT * n_candidates
    credit = CANDIDATE_PSEUDO_COUNT / n_rows

    def loss(log_weight: FloatArray) -> tuple[float, FloatArray]:
        w = softmax(log_weight)
        average = true_proba @ w
        value = -weight @ np.log(average) / n_rows - credit * np.log(w).sum()
        # With w = softmax(u), dw_c / du_d = w_c (1[c = d] - w_d).
        slope = -(weight / average) @ true_proba / n_rows
        gradient = w * (slope - w @ slope) - credit * (1.0 - n_candidates * w)
        return float(value), gradient

    # In log weights, the problem is smooth and unconstrained but not convex, so no Newton steps.
    found = minimize(loss, np.zeros(n_candidates), jac=True, method="L-BFGS-B")
    return np.asarray(softmax(found.x))


def gain_shrinkage(gain: FloatArray) -> float:
    r"""Return the factor by which to shrink a change, given its estimated gain.

    Parameters
    ----------
    gain : ndarray of shape (n_groups,)
        Gains of independent rows or groups.

    Returns
    -------
    float
        Between 0, which means no change, and 1, which means the full change.

    Notes
    -----
    An estimate :math:`m` of a mean :math:`\mu` with standard error :math:`s` has the smallest
    mean squared error when it is multiplied by :math:`\mu^2 / (\mu^2 + s^2)`. If the gain is
    positive, the factor is this ratio with :math:`m` in place of the unknown :math:`\mu`;
    otherwise, it is 0.
    """
    if len(gain) < 2 or gain.mean() <= 0:
        return 0.0
    squared_error = gain.var(ddof=1) / len(gain)
    return float(gain.mean() ** 2 / (gain.mean() ** 2 + squared_error))
