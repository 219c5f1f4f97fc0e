"""Newton's method for convex losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv
from scipy.optimize import minimize

from calibrant._core.typing import FloatArray

MAX_ITERATIONS = 200
MAX_HALVINGS = 40
# The fraction of the decrease predicted by the gradient that a step must achieve.
SUFFICIENT_DECREASE = 1e-4
# The relative size of rounding errors in the loss.
ROUNDING = 16 * np.finfo(np.float64).eps
# The largest relative residual of a Newton step by conjugate gradients.
LARGEST_RESIDUAL = 0.1
# Directions whose curvature is smaller than this, relative to the largest, are flat.
SINGULAR = 1e-12


class HessianProducts(NamedTuple):
    """A Hessian that is too large to factorize.

    ``product`` multiplies a vector by the Hessian, and ``precondition`` multiplies it by an
    approximate inverse.
    """

    product: Callable[[FloatArray], FloatArray]
    precondition: Callable[[FloatArray], FloatArray]


def minimize_convex(
    loss: Callable[[FloatArray], tuple[float, FloatArray]],
    hessian: Callable[[FloatArray], FloatArray],
    n_parameters: int,
    tolerance: float,
) -> FloatArray:
    """Minimize a convex loss by Newton's method with a trust region, starting from zero.

    The loss need not have a minimum: if it only decreases toward its infimum, the trust region
    determines where the iteration stops.

    Parameters
    ----------
    loss : callable
        Returns the loss and its gradient.
    hessian : callable
        Returns the matrix of second derivatives.
    n_parameters : int
        The number of parameters.
    tolerance : float
        The norm of the gradient at which the iteration stops.

    Returns
    -------
    ndarray of shape (n_parameters,)
        The parameters.
    """
    found = minimize(
        loss,
        np.zeros(n_parameters),
        jac=True,
        hess=hessian,
        method="trust-exact",
        options={"gtol": tolerance},
    )
    return np.asarray(found.x)


def minimize_strictly_convex(
    loss: Callable[[FloatArray], tuple[float, FloatArray]],
    hessian: Callable[[FloatArray], FloatArray | HessianProducts],
    n_parameters: int,
    tolerance: float,
) -> FloatArray:
    """Minimize a strictly convex loss by Newton's method with step halving, starting from zero.

    This is several times as fast as `minimize_convex` and finds the same minimum.

    Parameters
    ----------
    loss : callable
        Returns the loss and its gradient.
    hessian : callable
        Returns the matrix of second derivatives, which is factorized, or its products with
        vectors, for the method of conjugate gradients.
    n_parameters : int
        The number of parameters.
    tolerance : float
        The norm of the gradient at which the iteration stops.

    Returns
    -------
    ndarray of shape (n_parameters,)
        The parameters.
    """
    parameters = np.zeros(n_parameters)
    value, gradient = loss(parameters)
    for _ in range(MAX_ITERATIONS):
        if np.linalg.norm(gradient) <= tolerance:
            break
        step = _newton_step(hessian(parameters), gradient, tolerance)
        decrease = SUFFICIENT_DECREASE * gradient @ step
        for _ in range(MAX_HALVINGS):
            tried = parameters + step
            tried_value, tried_gradient = loss(tried)
            # At the minimum, rounding may raise the loss slightly.
            if tried_value <= value + decrease + ROUNDING * abs(value):
                break
            step /= 2.0
            decrease /= 2.0
        else:
            break
        parameters, value, gradient = tried, tried_value, tried_gradient
    return parameters


def _newton_step(
    hessian: FloatArray | HessianProducts, gradient: FloatArray, tolerance: float
) -> FloatArray:
    """Return the step to the minimum of the quadratic approximation of the loss."""
    if isinstance(hessian, HessianProducts):
        # The residual shrinks faster than the gradient, so that convergence is superlinear.
        norm = float(np.linalg.norm(gradient))
        residual = max(min(LARGEST_RESIDUAL, norm**0.5) * norm, tolerance / 10.0)
        return _conjugate_gradients(hessian, -gradient, residual)
    # For a few parameters, calling LAPACK directly is several times as fast as scipy.linalg.
    _, step, failed = dposv(hessian, -gradient)
    if failed:
        # Rounding made a nearly singular matrix indefinite. Do not move where it is singular.
        step = np.linalg.lstsq(hessian, -gradient, rcond=SINGULAR)[0]
    return np.asarray(step)


def _conjugate_gradients(
    matrix: HessianProducts, constant: FloatArray, tolerance: float
) -> FloatArray:
    """Solve a linear system until the norm of the residual is at most the tolerance."""
    solution, residual = np.zeros_like(constant), constant
    direction = scaled = matrix.precondition(residual)
    size = residual @ scaled
    for _ in range(len(constant)):
        product = matrix.product(direction)
        length = size / (direction @ product)
        solution = solution + length * direction
        residual = residual - length * product
        if np.linalg.norm(residual) <= tolerance:
            break
        scaled = matrix.precondition(residual)
        previous, size = size, residual @ scaled
        direction = scaled + size / previous * direction
    return solution
