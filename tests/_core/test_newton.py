import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from calibrant._core.newton import minimize_convex


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_a_generic_optimizer_on_a_logistic_regression(seed):
    rng = np.random.default_rng(seed)
    X, target = rng.normal(size=(60, 3)), rng.uniform(size=60)

    def loss(coef):
        margin = X @ coef
        value = np.mean(np.logaddexp(0.0, margin) - target * margin)
        return value, X.T @ (expit(margin) - target) / len(X)

    def hessian(coef):
        proba = expit(X @ coef)
        return (X * (proba * (1 - proba))[:, None]).T @ X / len(X)

    found = minimize_convex(loss, hessian, 3, 1e-9)
    expected = minimize(lambda coef: loss(coef)[0], np.zeros(3), method="Nelder-Mead", tol=1e-10)
    np.testing.assert_allclose(found, expected.x, rtol=0, atol=1e-6)
    assert np.linalg.norm(loss(found)[1]) <= 1e-9


def test_a_quadratic_is_minimized_in_closed_form():
    matrix, vector = np.array([[4.0, 1.0], [1.0, 2.0]]), np.array([1.0, -3.0])

    def loss(x):
        return 0.5 * x @ matrix @ x - vector @ x, matrix @ x - vector

    found = minimize_convex(loss, lambda x: matrix, 2, 1e-12)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, vector), rtol=1e-12)
