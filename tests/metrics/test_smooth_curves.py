import numpy as np
import pytest
from scipy.special import expit, logit

from calibrant.metrics import (
    bootstrap_interval,
    estimated_calibration_index,
    integrated_calibration_index,
    smooth_calibration_curve,
)


@pytest.fixture
def draw():
    """A function that draws predictions, events and their true frequencies."""

    def draw(n_rows, true_log_odds, seed=0):
        rng = np.random.RandomState(seed)
        predicted = rng.beta(1.5, 2.5, size=n_rows)
        true = expit(true_log_odds(logit(predicted)))
        return (rng.uniform(size=n_rows) < true).astype(int), predicted, true

    return draw


def test_curve_and_indices_converge_to_the_truth(draw):
    y, predicted, true = draw(30_000, lambda x: x + 0.8 * np.sin(1.5 * x))
    curve = smooth_calibration_curve(y, predicted)
    expected = expit(logit(curve.predicted) + 0.8 * np.sin(1.5 * logit(curve.predicted)))
    central = (curve.predicted > 0.05) & (curve.predicted < 0.9)
    np.testing.assert_allclose(curve.observed[central], expected[central], atol=0.03)
    distance = np.abs(true - predicted)
    assert curve.integrated_calibration_index == pytest.approx(distance.mean(), abs=0.01)
    assert curve.e50 == pytest.approx(np.median(distance), abs=0.015)
    assert curve.e90 == pytest.approx(np.quantile(distance, 0.9), abs=0.015)
    assert estimated_calibration_index(y, predicted) == pytest.approx(
        100 * np.mean(distance**2), abs=0.2
    )


@pytest.mark.slow
def test_band_covers_as_often_as_it_says(draw):
    covered = []
    for seed in range(60):
        y, predicted, true = draw(150, lambda x: 0.7 * x + 0.3, seed)
        curve = smooth_calibration_curve(y, predicted)
        low, high = (
            np.interp(predicted, curve.predicted, each) for each in (curve.low, curve.high)
        )
        covered.append(np.mean((low <= true) & (true <= high)))
    assert 0.92 <= np.mean(covered) <= 0.995


def test_indices_are_those_of_the_curve_at_the_rows(draw):
    y, predicted, _ = draw(300, lambda x: 0.5 * x)
    curve = smooth_calibration_curve(y, predicted)
    # Interpolation between 101 points is nearly exact for a smooth curve.
    distance = np.abs(np.interp(predicted, curve.predicted, curve.observed) - predicted)
    assert curve.integrated_calibration_index == pytest.approx(distance.mean(), abs=2e-4)
    assert curve.e50 == pytest.approx(np.median(distance), abs=1e-3)
    assert curve.e90 == pytest.approx(np.quantile(distance, 0.9), abs=1e-3)
    assert curve.emax == pytest.approx(distance.max(), abs=1e-3)
    assert integrated_calibration_index(y, predicted) == curve.integrated_calibration_index
    assert curve.histogram.sum() == 300
    index = estimated_calibration_index(y, predicted)
    assert index == pytest.approx(100 * np.mean(distance**2), abs=0.02)


def test_the_order_and_names_of_two_classes_do_not_matter(draw):
    y, predicted, _ = draw(200, lambda x: 0.5 * x)
    second = smooth_calibration_curve(y, predicted)
    first = smooth_calibration_curve(y, predicted, of=0)
    np.testing.assert_allclose(1 - first.observed[::-1], second.observed, atol=1e-6)
    assert first.e90 == pytest.approx(second.e90, abs=1e-6)


def test_integer_weights_are_repeated_rows(predictions):
    y, proba, _ = predictions
    weight = 1 + np.arange(len(y)) % 3
    repeated = np.repeat(y, weight), np.repeat(proba, weight, axis=0)
    one = smooth_calibration_curve(y, proba, of="a", sample_weight=weight)
    two = smooth_calibration_curve(*repeated, of="a")
    np.testing.assert_allclose(one.high, two.high, atol=1e-6)
    assert one.e50 == pytest.approx(two.e50, abs=1e-6)
    assert one.e90 == pytest.approx(two.e90, abs=1e-6)
    found = estimated_calibration_index(y, proba, sample_weight=weight)
    assert found == pytest.approx(estimated_calibration_index(*repeated), abs=1e-5)


def test_joint_index_sees_what_each_class_alone_hides():
    # Each class alone is calibrated; given the other probabilities, none is.
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([2, 2, 2], size=4000)
    shift = 0.25 * np.sign(proba[:, 1] - proba[:, 2]) * proba.min(axis=1)
    true = proba + np.column_stack([0 * shift, shift, -shift])
    y = (rng.uniform(size=(4000, 1)) > true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    calibrated = (rng.uniform(size=(4000, 1)) > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    worse = estimated_calibration_index(y, proba)
    better = estimated_calibration_index(calibrated, proba)
    assert worse > 3 * better


def test_degenerate_predictions_are_accepted():
    constant = smooth_calibration_curve([0, 0, 0, 1], [0.5] * 4)
    assert constant.observed[0] == pytest.approx(0.25, abs=0.01)
    certain = smooth_calibration_curve([0] * 10 + [1] * 10, [0.0] * 10 + [1.0] * 10)
    assert certain.emax < 0.1
    assert np.isfinite(certain.high).all()


def test_the_index_has_a_bootstrap_interval(draw):
    y, predicted, _ = draw(100, lambda x: 0.3 * x)
    found = bootstrap_interval(
        integrated_calibration_index, y, predicted, n_resamples=100, random_state=0
    )
    assert found.low < found.estimate < found.high
