"""Newton's method for convex losses with few parameters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from calibrant._core.typing import FloatArray


def minimize_convex(
    loss: Callable[[FloatArray], tuple[float, FloatArray]],
    hessian: Callable[[FloatArray], FloatArray],
    n_parameters: int,
    tolerance: float,
) -> FloatArray:
    """Minimize a convex loss by Newton's method with a trust region, starting from zero.

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
