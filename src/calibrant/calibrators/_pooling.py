"""Weights of a linear pool of probabilities, and how far to trust it: arrays in, arrays out."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from calibrant._core.typing import FloatArray

# Rows with which each candidate is credited beforehand: a weight of exactly 0 or 1 would claim
# more than rows can show.
CREDITED_ROWS = 0.3


def pool_weights(true_proba: FloatArray, weight: FloatArray) -> FloatArray:
    """Weights of candidates whose pool makes the true classes most probable.

    Maximizes ``sum_i weight_i log(sum_c w_c proba_ic) + 0.3 sum_c log w_c`` over weights w
    that sum to 1, a concave problem.

    Parameters
    ----------
    true_proba : ndarray of shape (n_points, n_candidates)
        Out-of-sample probability of the true class by each candidate, above 0.
    weight : ndarray of shape (n_points,)
        Weights of the points, as numbers of rows.

    Returns
    -------
    ndarray of shape (n_candidates,)
        The weights, which sum to 1; equal ones without points.
    """
    n_candidates = true_proba.shape[1]
    # The sum of weights, credited rows included, keeps the problem on one scale.
    n_rows = weight.sum() + CREDITED_ROWS * n_candidates
    credit = CREDITED_ROWS / n_rows

    def loss(log_weight: FloatArray) -> tuple[float, FloatArray]:
        share = softmax(log_weight)
        pooled = true_proba @ share
        value = -weight @ np.log(pooled) / n_rows - credit * np.log(share).sum()
        # With w = softmax(u), dw_c / du_d = w_c (1[c = d] - w_d).
        by_share = -(weight / pooled) @ true_proba / n_rows
        gradient = share * (by_share - share @ by_share) - credit * (1.0 - n_candidates * share)
        return float(value), gradient

    found = minimize(loss, np.zeros(n_candidates), jac=True, method="L-BFGS-B")
    return np.asarray(softmax(found.x))


def gain_shrinkage(gain: FloatArray) -> float:
    """How far to go toward something better, given its gain on each of n units.

    An estimate m of a mean, with standard error s, is best multiplied by
    ``mean^2 / (mean^2 + s^2)``: the share of its square that is not noise. With m in place of
    the unknown mean this is the trust in a positive gain; there is none in a negative one.

    Parameters
    ----------
    gain : ndarray of shape (n_units,)
        Gains of independent units.

    Returns
    -------
    float
        From 0, stay, to 1, go all the way.
    """
    if len(gain) < 2 or gain.mean() <= 0:
        return 0.0
    squared_error = gain.var(ddof=1) / len(gain)
    return float(gain.mean() ** 2 / (gain.mean() ** 2 + squared_error))
