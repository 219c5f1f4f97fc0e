"""The numeric kernels of the scaling family: penalized softmax regression on log scores."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from calibrant._core.newton import minimize_convex
from calibrant._core.rowwise import log_softmax, row_sums, softmax
from calibrant._core.typing import FloatArray, IndexArray

# The range of inverse temperatures: from nearly uniform probabilities to nearly 0 and 1.
SMALLEST_INVERSE_TEMPERATURE, LARGEST_INVERSE_TEMPERATURE = 1e-4, 1e4
# The norm of the gradient of the mean log loss at which a fit has converged.
TOLERANCE = 1e-8
# Added to the diagonal of the Hessian, so that parameters without effect on the loss stay at 0.
SMALLEST_CURVATURE = 1e-12


def fit_inverse_temperature(
    log_score: FloatArray, y: IndexArray, weight: FloatArray, penalty: float
) -> float:
    r"""Find the inverse temperature with the lowest penalized log loss.

    Parameters
    ----------
    log_score : ndarray of shape (n_points, n_classes)
        Log scores.
    y : ndarray of shape (n_points,)
        Column numbers of the true classes.
    weight : ndarray of shape (n_points,)
        Weights of the points.
    penalty : float
        The strength of the penalty; infinity keeps the inverse temperature at 1.

    Returns
    -------
    float
        The inverse temperature.

    Notes
    -----
    With log scores :math:`z_i`, weights :math:`w_i` and penalty :math:`\rho`, the inverse
    temperature :math:`t` minimizes the convex function

    .. math:: -\sum_i w_i \log \operatorname{softmax}(t z_i)_{y_i} + \rho (t - 1)^2.

    Brent's method finds the root of its derivative.
    """
    if np.isinf(penalty):
        return 1.0
    true = log_score[np.arange(len(y)), y]

    def derivative(t: float) -> float:
        expected = row_sums(softmax(t * log_score) * log_score)[:, 0]
        return float(weight @ (expected - true) + 2.0 * penalty * (t - 1.0))

    if derivative(SMALLEST_INVERSE_TEMPERATURE) >= 0:
        return SMALLEST_INVERSE_TEMPERATURE
    if derivative(LARGEST_INVERSE_TEMPERATURE) <= 0:
        return LARGEST_INVERSE_TEMPERATURE
    log_t = brentq(
        lambda log_t: derivative(np.exp(log_t)),
        np.log(SMALLEST_INVERSE_TEMPERATURE),
        np.log(LARGEST_INVERSE_TEMPERATURE),
    )
    return float(np.exp(log_t))


def fit_affine_map(
    log_score: FloatArray, y: IndexArray, weight: FloatArray, penalty: FloatArray
) -> FloatArray:
    r"""Find the affine map of log scores with the lowest penalized log loss.

    Parameters
    ----------
    log_score : ndarray of shape (n_points, n_classes)
        Log scores.
    y : ndarray of shape (n_points,)
        Column numbers of the true classes.
    weight : ndarray of shape (n_points,)
        Weights of the points.
    penalty : ndarray of shape (n_classes, n_classes + 1)
        The strength of the penalty on each entry of the result; infinity keeps it at 0.

    Returns
    -------
    ndarray of shape (n_classes, n_classes + 1)
        The matrix of the map minus the identity, with the intercept appended as the last
        column.

    Notes
    -----
    With log scores :math:`z_i`, weights :math:`w_i`, penalties :math:`\rho_{kj}` and
    :math:`\Delta = (W - I, b)`, the map minimizes

    .. math:: -\sum_i w_i \log \operatorname{softmax}(W z_i + b)_{y_i}
        + \sum_{k,j} \rho_{kj} \Delta_{kj}^2.
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
        delta = np.zeros(penalty.shape)
        delta[free] = entries
        return log_softmax(log_score + inputs @ delta.T)

    def loss(entries: FloatArray) -> tuple[float, FloatArray]:
        log_p = log_proba(entries)
        gradient = (weight[:, None] * (np.exp(log_p) - truth)).T @ inputs
        value = -weight @ log_p[np.arange(n_points), y] + ridge @ entries**2
        return float(value), gradient[free] + 2.0 * ridge * entries

    def hessian(entries: FloatArray) -> FloatArray:
        proba = np.exp(log_proba(entries))
        # The weighted mean over the points of D - u u', where D has the diagonal blocks p_k z z'
        # and u has the entries p_k z_a for all classes k and inputs a.
        spread = (proba[:, :, None] * inputs[:, None, :]).reshape(n_points, -1)
        full = -(spread * weight[:, None]).T @ spread
        blocks = full.reshape(n_classes, n_classes + 1, n_classes, n_classes + 1)
        for k in range(n_classes):
            blocks[k, :, k, :] += (inputs * (weight * proba[:, k])[:, None]).T @ inputs
        kept = full[np.ix_(free.ravel(), free.ravel())]
        return kept + np.diag(2.0 * ridge + SMALLEST_CURVATURE)

    delta = np.zeros(penalty.shape)
    delta[free] = minimize_convex(loss, hessian, len(ridge), TOLERANCE)
    return delta
