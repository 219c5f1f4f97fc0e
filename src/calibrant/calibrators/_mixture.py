"""Weights of a mixture by maximum likelihood."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv

from calibrant._core.newton import MAX_HALVINGS, ROUNDING, SUFFICIENT_DECREASE
from calibrant._core.typing import FloatArray

MAX_ITERATIONS = 100
# The largest derivative with respect to the logarithm of a weight at which a fit has converged.
TOLERANCE = 1e-12
# The proportion of the way to 0 that a step may take a weight or multiplier.
TO_BOUNDARY = 0.99


def fit_mixture(proba: FloatArray, weight: FloatArray, pseudo_count: float) -> FloatArray:
    r"""Find the weights of the components of a mixture.

    Parameters
    ----------
    proba : ndarray of shape (n_points, n_components)
        The positive probability that each component gives each point.
    weight : ndarray of shape (n_points,)
        Positive weights of the points, as numbers of rows.
    pseudo_count : float
        The positive pseudo-count of each component.

    Returns
    -------
    ndarray of shape (n_components,)
        The weights of the components, which sum to 1. They are equal if there are no points.

    Notes
    -----
    The weights :math:`w` maximize

    .. math:: \sum_i n_i \log \sum_c w_c p_{ic} + a \sum_c \log w_c
        \quad \text{subject to} \quad \sum_c w_c = 1,

    where :math:`n_i` is the weight of point i, :math:`p_{ic}` the probability that component c
    gives it, and :math:`a` the pseudo-count. With :math:`N = \sum_i n_i + a C`, where :math:`C` is
    the number of components, subtracting :math:`N \sum_c w_c` makes the constraint superfluous:
    where the derivatives vanish, multiplying them by :math:`w` and adding them up gives
    :math:`N = N \sum_c w_c`.

    The solver is a primal-dual interior-point method for this concave function: Newton's method in
    :math:`w` and in the multipliers :math:`z_c = a / w_c`, with a line search. It takes about
    seven iterations.
    """
    n_components = proba.shape[1]
    # Dividing by the number of rows, including pseudo-counts, makes the problem scale-free.
    n_rows = weight.sum() + pseudo_count * n_components
    weight, credit = weight / n_rows, pseudo_count / n_rows

    def loss(w: FloatArray, average: FloatArray) -> float:
        return float(w.sum() - weight @ np.log(average) - credit * np.log(w).sum())

    w = np.full(n_components, 1.0 / n_components)
    multiplier = credit / w
    average = proba @ w
    value = loss(w, average)
    for _ in range(MAX_ITERATIONS):
        ratio = weight / average
        slope = 1.0 - ratio @ proba - credit / w
        if np.abs(w * slope).max() <= TOLERANCE:
            break
        hessian = (proba * (ratio / average)[:, None]).T @ proba
        hessian.flat[:: n_components + 1] += multiplier / w
        _, step, failed = dposv(hessian, -slope)
        if failed:
            step = -w * slope  # a step of the EM algorithm
        change = credit / w - multiplier - multiplier / w * step
        length = _longest_step(w, step)
        decrease = SUFFICIENT_DECREASE * float(slope @ step)
        for _ in range(MAX_HALVINGS):
            tried = w + length * step
            average = proba @ tried
            tried_value = loss(tried, average)
            # At the minimum, rounding may raise the loss slightly.
            if tried_value <= value + length * decrease + ROUNDING * abs(value):
                break
            length /= 2.0
        else:
            break
        w, value = tried, tried_value
        multiplier = multiplier + _longest_step(multiplier, change) * change
    return w / w.sum()


def _longest_step(position: FloatArray, step: FloatArray) -> float:
    """Return the factor, at most 1, by which to take a step so that all values stay positive."""
    return float(TO_BOUNDARY / max((-step / position).max(), TO_BOUNDARY))
