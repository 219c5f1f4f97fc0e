import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from calibrant._core.newton import HessianProducts, minimize_convex, minimize_strictly_convex


def minimize_by_products(loss, hessian, n_parameters, tolerance):
    """Minimize with products and a diagonal preconditioner instead of the matrix."""

    def products(x):
        matrix = hessian(x)
        return HessianProducts(matrix.__matmul__, lambda vector: vector / np.diag(matrix))

    return minimize_strictly_convex(loss, products, n_parameters, tolerance)


EACH = pytest.mark.parametrize(
    "solve", [minimize_convex, minimize_strictly_convex, minimize_by_products]
)


@EACH
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_a_generic_optimizer_on_a_logistic_regression(seed, solve):
    rng = np.random.default_rng(seed)
    X, target = rng.normal(size=(60, 3)), rng.uniform(size=60)

    def loss(coef):
        margin = X @ coef
        value = np.mean(np.logaddexp(0.0, margin) - target * margin)
        return value, X.T @ (expit(margin) - target) / len(X)

    def hessian(coef):
        proba = expit(X @ coef)
        return (X * (proba * (1 - proba))[:, None]).T @ X / len(X)

    found = solve(loss, hessian, 3, 1e-9)
    expected = minimize(lambda coef: loss(coef)[0], np.zeros(3), method="Nelder-Mead", tol=1e-10)
    np.testing.assert_allclose(found, expected.x, rtol=0, atol=1e-6)
    assert np.linalg.norm(loss(found)[1]) <= 1e-9


@EACH
def test_a_quadratic_is_minimized_in_closed_form(solve):
    matrix, vector = np.array([[4.0, 1.0], [1.0, 2.0]]), np.array([1.0, -3.0])

    def loss(x):
        return 0.5 * x @ matrix @ x - vector @ x, matrix @ x - vector

    found = solve(loss, lambda x: matrix, 2, 1e-12)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, vector), rtol=1e-12)


@EACH
def test_full_newton_steps_that_diverge_are_shortened(solve):
    # From 0, Newton's method with full steps oscillates with growing amplitude around 3.
    def loss(x):
        return float(np.sum(np.sqrt(1 + (x - 3) ** 2))), (x - 3) / np.sqrt(1 + (x - 3) ** 2)

    def hessian(x):
        return np.diag((1 + (x - 3) ** 2) ** -1.5)

    np.testing.assert_allclose(solve(loss, hessian, 2, 1e-10), 3.0, rtol=1e-9)


def test_directions_without_curvature_are_left_alone():
    vector = np.array([1.0, 2.0])
    matrix = np.outer(vector, vector)  # singular: factorization fails
    steps = []

    def loss(x):
        return 0.5 * x @ matrix @ x - vector @ x, matrix @ x - vector

    def hessian(x):
        steps.append(x)
        return matrix

    found = minimize_strictly_convex(loss, hessian, 2, 1e-10)
    np.testing.assert_allclose(found, [0.2, 0.4])
    assert len(steps) == 1  # as for any quadratic
