import numpy as np
import pytest
from scipy.optimize import brentq

from calibrant.planning.power_laws import PowerLaws, fit_power_laws

SIZES = np.array([20, 40, 80, 160, 320])


def law(n, limit=0.3, scale=4.0, exponent=0.7):
    return limit + scale * n**-exponent


def test_precise_values_determine_the_law():
    laws = fit_power_laws(SIZES, law(SIZES), 1e-10 * np.eye(5), seed=0)
    for n in (20, 640, 5120):
        np.testing.assert_allclose(laws.at(n), law(n), rtol=0.02)


def test_rows_for_a_gain_solve_the_equation():
    laws = PowerLaws(*np.array([[0.3, 0.5], [4.0, 2.0], [0.7, 1.0]]))
    for k, found in enumerate(laws.rows_for_gain(0.02)):
        limit, scale, exponent = laws.limit[k], laws.scale[k], laws.exponent[k]

        def excess(n, parameters=(limit, scale, exponent)):
            before, after = law(n, *parameters), law(2 * n, *parameters)
            return (before - after) / before - 0.02

        assert found == pytest.approx(brentq(excess, 1, 1e7))


def test_without_a_limit_more_rows_always_gain():
    laws = PowerLaws(np.zeros(1), np.ones(1), np.ones(1))
    assert laws.rows_for_gain(0.02) == np.inf
    assert PowerLaws(np.ones(1), np.zeros(1), np.ones(1)).rows_for_gain(0.02) == 0


def test_values_that_grow_are_constant():
    laws = fit_power_laws(SIZES, 0.5 + SIZES / 1000, 1e-6 * np.eye(5), seed=0)
    assert np.all(laws.scale == 0)
    assert laws.at(20).mean() == pytest.approx(0.5 + SIZES.mean() / 1000, abs=0.001)


def test_intervals_cover_the_law_and_widen_with_the_distance():
    rng = np.random.RandomState(0)
    # Means of the same rows: most of the noise is common to all sizes.
    covariance = 0.03**2 + 0.01**2 * np.eye(5)
    root = np.linalg.cholesky(covariance)
    covered, width = np.zeros((100, 3)), np.zeros((100, 3))
    for i in range(100):
        means = law(SIZES) + root @ rng.standard_normal(5)
        laws = fit_power_laws(SIZES, means, covariance, seed=0)
        for j, n in enumerate((160, 640, 2560)):
            low, high = np.quantile(laws.at(n), [0.05, 0.95])
            covered[i, j], width[i, j] = low <= law(n) <= high, high - low
    assert np.all(covered.mean(axis=0) > 0.83)
    assert np.all(np.diff(width.mean(axis=0)) > 0)
