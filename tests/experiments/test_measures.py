import numpy as np
import pytest
from scipy.special import expit

from calibrant.metrics import multinomial_calibration
from experiments.measures import (
    SMOOTHERS,
    WORLDS,
    cover_once,
    estimate,
    fast_once,
    fit_local,
    prior_once,
    slope_once,
    smooth_once,
    true_values,
)


@pytest.fixture(scope="module")
def truth():
    return true_values(WORLDS["overconfident"], 3, 20_000)


def test_many_rows_show_the_calibration_of_a_world():
    world = WORLDS["overconfident"]
    y, proba = world.draw(50_000, 3, np.random.RandomState(0))
    found = multinomial_calibration(y, proba)
    assert [each.estimate for each in found.slope] == pytest.approx([world.slope] * 2, abs=0.03)
    expected = [world.intercept] * 2
    assert [each.estimate for each in found.intercept] == pytest.approx(expected, abs=0.05)


def test_every_measure_has_a_true_value_and_a_coverage(truth):
    y, proba = WORLDS["overconfident"].draw(200, 3, np.random.RandomState(1))
    found = estimate(y, proba)
    assert {name: len(each) for name, each in found.intervals.items()} == {
        name: len(each) for name, each in truth.values.items()
    }
    covered = cover_once(WORLDS["overconfident"], 3, 200, 1, truth)
    assert len(covered) == len(truth.values) + 1
    assert 0.5 < np.mean(covered) <= 1.0


def test_the_true_curve_of_calibrated_probabilities_is_the_diagonal():
    for predicted, observed in true_values(WORLDS["calibrated"], 2, 50_000).curves:
        np.testing.assert_allclose(observed, predicted, atol=0.08)


def test_local_regression_reproduces_a_parabola():
    x = np.linspace(0.1, 0.9, 40)
    observed, low, high = fit_local(x, x * (1 - x))
    np.testing.assert_allclose(observed, x * (1 - x), atol=1e-9)
    np.testing.assert_allclose(high - low, 0.0, atol=1e-6)


@pytest.mark.parametrize("smoother", SMOOTHERS)
def test_smoothers_find_a_curve_with_many_rows(smoother):
    error, covered = smooth_once("overconfident", smoother, 400, 0)
    assert error < 0.08**2
    assert 0.5 < covered <= 1.0


def test_a_line_is_no_wave():
    rng = np.random.RandomState(0)
    log_odds = rng.standard_normal(3000) * 1.5
    y = (rng.uniform(size=3000) < expit(log_odds + 0.9 * np.sin(1.5 * log_odds))).astype(int)
    true = expit(log_odds + 0.9 * np.sin(1.5 * log_odds))
    line, smooth = (
        np.mean((SMOOTHERS[name](expit(log_odds), y)[0] - true) ** 2)
        for name in ("logistic line", "calibrant")
    )
    assert smooth < line / 3


def test_both_intervals_cover_most_slopes():
    found = np.mean([slope_once(WORLDS["calibrated"], 100, seed) for seed in range(50)], axis=0)
    assert np.all(found > 0.85)


def test_shares_are_estimated_with_and_without_a_change():
    found = np.array([prior_once(2, 100, seed) for seed in range(20)])
    assert found.shape == (20, 5)
    assert found[:, 0].mean() > 0.8
    assert found[:, 1].mean() < 0.3


def test_fast_measures_cover_values_that_are_known():
    world = WORLDS["calibrated"]
    truth = true_values(world, 2, 20_000)
    covered = [fast_once(world, 100, seed, truth) for seed in range(20)]
    assert np.shape(covered) == (20, 4)
    assert np.mean(covered) > 0.8
