"""Penalized softmax regression on log scores: the kernels of the scaling family."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from calibrant._core.newton import minimize_convex
from calibrant._core.rowwise import log_softmax, row_sums, softmax
from calibrant._core.typing import FloatArray, IndexArray

# Inverse temperatures are sought between these: from no trust in the scores to their order alone.
LOWEST_INVERSE_TEMPERATURE, HIGHEST_INVERSE_TEMPERATURE = 1e-4, 1e4
# The gradient of the mean log loss at which a fit counts as found.
TOLERANCE = 1e-8
# Added to the Hessian alone: in directions that change nothing, a fit stays where it is.
SMALLEST_CURVATURE = 1e-12


def fit_inverse_temperature(
    log_score: FloatArray, y: IndexArray, weight: FloatArray, penalty: float
) -> float:
    """Find the inverse temperature t that minimizes the penalized log loss.

    Parameters
    ----------
    log_score : ndarray of shape (n_points, n_classes)
        Log scores.
    y : ndarray of shape (n_points,)
        Column numbers of the true classes.
    weight : ndarray of shape (n_points,)
        Weights of the points.
    penalty : float
        Of (t - 1)^2, beside the sum of log losses; infinity keeps t at 1.

    Returns
    -------
    float
        The inverse temperature.
    """
    if np.isinf(penalty):
        return 1.0
    true = log_score[np.arange(len(y)), y]

    def slope(trust: float) -> float:
        # The log loss is convex in t, so its slope rises and has one root.
        expected = row_sums(softmax(trust * log_score) * log_score)[:, 0]
        return float(weight @ (expected - true) + 2.0 * penalty * (trust - 1.0))

    if slope(LOWEST_INVERSE_TEMPERATURE) >= 0:
        return LOWEST_INVERSE_TEMPERATURE
    if slope(HIGHEST_INVERSE_TEMPERATURE) <= 0:
        return HIGHEST_INVERSE_TEMPERATURE
    return float(
        np.exp(
            brentq(
                lambda log_t: slope(np.exp(log_t)),
                np.log(LOWEST_INVERSE_TEMPERATURE),
                np.log(HIGHEST_INVERSE_TEMPERATURE),
            )
        )
    )


def fit_affine_map(
    log_score: FloatArray, y: IndexArray, weight: FloatArray, penalty: FloatArray
) -> FloatArray:
    """Find the change (W - I, b) of an affine map that minimizes the penalized log loss.

    Minimizes sum_i weight_i loss_i + sum penalty * change^2, where loss_i is the log loss
    of softmax(W z_i + b), by Newton steps in a trust region.

    Parameters
    ----------
    log_score : ndarray of shape (n_points, n_classes)
        Log scores z.
    y : ndarray of shape (n_points,)
        Column numbers of the true classes.
    weight : ndarray of shape (n_points,)
        Weights of the points.
    penalty : ndarray of shape (n_classes, n_classes + 1)
        Of the squared entries; infinity keeps an entry at 0.

    Returns
    -------
    ndarray of shape (n_classes, n_classes + 1)
        The change of the matrix, and the intercept as its last column.
    """
    n_points, n_classes = log_score.shape
    inputs = np.hstack([log_score, np.ones((n_points, 1))])
    free = np.isfinite(penalty)
    if not free.any():
        return np.zeros(penalty.shape)
    ridge = penalty[free] / weight.sum()
    weight = weight / weight.sum()
    truth = np.zeros_like(log_score)
    truth[np.arange(n_points), y] = 1.0

    def log_proba(entries: FloatArray) -> FloatArray:
        change = np.zeros(penalty.shape)
        change[free] = entries
        return log_softmax(log_score + inputs @ change.T)

    def loss(entries: FloatArray) -> tuple[float, FloatArray]:
        log_p = log_proba(entries)
        gradient = (weight[:, None] * (np.exp(log_p) - truth)).T @ inputs
        value = -weight @ log_p[np.arange(n_points), y] + ridge @ entries**2
        return float(value), gradient[free] + 2.0 * ridge * entries

    def hessian(entries: FloatArray) -> FloatArray:
        proba = np.exp(log_proba(entries))
        # p_i z_a for all classes i and inputs a; the outer products are one product.
        spread = (proba[:, :, None] * inputs[:, None, :]).reshape(n_points, -1)
        full = -(spread * weight[:, None]).T @ spread
        blocks = full.reshape(n_classes, n_classes + 1, n_classes, n_classes + 1)
        for k in range(n_classes):
            blocks[k, :, k, :] += (inputs * (weight * proba[:, k])[:, None]).T @ inputs
        kept = full[np.ix_(free.ravel(), free.ravel())]
        return kept + np.diag(2.0 * ridge + SMALLEST_CURVATURE)

    change = np.zeros(penalty.shape)
    change[free] = minimize_convex(loss, hessian, len(ridge), TOLERANCE)
    return change
