import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from calibrant.calibrators._mixture import fit_mixture


def draw_problem(seed, n_points, n_components):
    rng = np.random.default_rng(seed)
    proba = rng.beta(0.3, 0.3, size=(n_points, n_components)).clip(1e-12)
    return proba, 10.0 ** rng.uniform(-3, 2, size=n_points)


@given(st.integers(0, 2**32 - 1), st.integers(0, 50), st.integers(1, 12))
def test_weights_are_a_fixed_point_of_expectation_maximization(seed, n_points, n_components):
    proba, weight = draw_problem(seed, n_points, n_components)
    found = fit_mixture(proba, weight, 0.2)
    expected = found * ((weight / (proba @ found)) @ proba) + 0.2
    expected /= weight.sum() + 0.2 * n_components
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("pseudo_count", [0.2, 5.0])
def test_agrees_with_a_generic_optimizer(pseudo_count):
    proba, weight = draw_problem(0, 80, 3)

    def loss(w):
        return -weight @ np.log(proba @ w) - pseudo_count * np.log(w).sum()

    expected = minimize(
        loss,
        np.full(3, 1 / 3),
        method="SLSQP",
        bounds=[(1e-9, 1.0)] * 3,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0},
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    found = fit_mixture(proba, weight, pseudo_count)
    assert loss(found) <= expected.fun + 1e-9
    np.testing.assert_allclose(found, expected.x, atol=1e-4)


def test_equal_components_have_equal_weights():
    proba, weight = draw_problem(0, 40, 2)
    found = fit_mixture(proba[:, [0, 1, 0]], weight, 0.2)
    assert found[0] == pytest.approx(found[2], rel=1e-8)


def test_scaling_weights_and_pseudo_counts_has_no_effect():
    proba, weight = draw_problem(1, 40, 4)
    np.testing.assert_allclose(
        fit_mixture(proba, 1e6 * weight, 0.2e6), fit_mixture(proba, weight, 0.2), rtol=1e-8
    )
