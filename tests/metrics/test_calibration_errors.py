import numpy as np
import pytest
from scipy.stats import norm

from calibrant.metrics import (
    expected_calibration_error,
    smooth_calibration_error,
    squared_calibration_error,
)

ERRORS = [expected_calibration_error, squared_calibration_error, smooth_calibration_error]
KINDS = ["top-label", "classwise"]


def overconfident(proba):
    return proba**2 / (proba**2).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_true_probabilities_vanish_with_more_rows(kind, draw_labels):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), size=20_000)
    y = draw_labels(rng, proba)
    assert expected_calibration_error(y, proba, kind=kind) < 0.02
    assert expected_calibration_error(y[:100], proba[:100], kind=kind) > 0.02
    assert smooth_calibration_error(y, proba, kind=kind) < 0.015
    assert abs(squared_calibration_error(y, proba, kind=kind)) < 2e-4


@pytest.mark.parametrize("kind", KINDS)
def test_error_of_a_constant_prediction_is_its_distance_from_the_frequency(kind):
    y = np.repeat([0, 1], [700, 300])
    proba = np.tile([0.9, 0.1], (1000, 1))
    assert expected_calibration_error(y, proba, kind=kind) == pytest.approx(0.2)
    assert smooth_calibration_error(y, proba, kind=kind) == pytest.approx(0.2, abs=0.001)
    # The debiased square is that of the frequency minus its sampling variance, exactly.
    assert squared_calibration_error(y, proba, kind=kind) == pytest.approx(0.2**2 - 0.7 * 0.3 / 999)


def test_squared_error_is_the_debiased_estimator_of_kumar_liang_and_ma():
    # Their Definition 5.1, for predictions that are constant within each bin.
    rng = np.random.default_rng(3)
    second = np.repeat([0.1, 0.35, 0.6, 0.9], [20, 30, 25, 40])
    y = rng.integers(0, 2, size=len(second))
    expected = 0.0
    for value in np.unique(second):
        outcome = y[second == value]
        rate, count = outcome.mean(), len(outcome)
        expected += count / len(y) * ((rate - value) ** 2 - rate * (1 - rate) / (count - 1))
    proba = np.column_stack([1 - second, second])
    assert squared_calibration_error(y, proba, kind="classwise", n_bins=4) == pytest.approx(
        expected
    )


@pytest.mark.slow
@pytest.mark.parametrize("distort", [lambda proba: proba, overconfident])
def test_squared_error_is_unbiased_unlike_the_plug_in_estimate(distort, draw_labels):
    rng = np.random.default_rng(0)

    def errors(n_rows, n_bins):
        true = rng.dirichlet(np.ones(3), size=n_rows)
        y, proba = draw_labels(rng, true), distort(true)
        debiased = squared_calibration_error(y, proba, n_bins=n_bins)
        residual = (y == proba.argmax(axis=1)) - proba.max(axis=1)
        bin_index = np.argsort(np.argsort(proba.max(axis=1))) * n_bins // n_rows
        plug_in = np.mean((np.bincount(bin_index, residual) / np.bincount(bin_index)) ** 2)
        return debiased, plug_in

    truth, _ = errors(400_000, 5)
    debiased, plug_in = np.transpose([errors(60, 5) for _ in range(1000)])
    noise = debiased.std() / np.sqrt(len(debiased))
    assert abs(debiased.mean() - truth) < 3 * noise
    assert plug_in.mean() - truth > 10 * noise


def test_smooth_error_is_the_fixed_point_of_its_definition(predictions):
    # By direct summation over the reflected images of a Gaussian.
    y, proba, weight = predictions
    found = smooth_calibration_error(y, proba, sample_weight=weight)
    confidence = proba.max(axis=1)
    residual = (
        weight / weight.sum() * ((np.array(list("abcd"))[proba.argmax(axis=1)] == y) - confidence)
    )
    at = (np.arange(4000) + 0.5) / 4000
    images = np.concatenate([[2 * k + confidence, 2 * k - confidence] for k in range(-2, 3)])
    kernel = sum(norm.pdf(at[:, None], image, found) for image in images)
    assert np.abs(kernel @ residual).mean() == pytest.approx(found, rel=2e-3)


def test_smooth_error_has_no_jump_at_bin_edges_unlike_the_binned_error():
    y, step = np.tile([0, 1], 50), 1e-6
    below, above = np.full(100, 0.5 - step), np.full(100, 0.5 + step)
    mixed = np.where(y == 1, below, above)
    assert smooth_calibration_error(y, mixed, kind="classwise") < 0.03
    assert expected_calibration_error(y, mixed, kind="classwise", n_bins=2) > 0.4


@pytest.mark.parametrize("error", ERRORS)
def test_certain_predictions_have_error_0_if_right_and_1_if_wrong(error):
    y, proba = np.tile([0, 1], 20), np.tile([[1.0, 0.0], [0.0, 1.0]], (20, 1))
    assert error(y, proba) == 0
    assert error(1 - y, proba) == pytest.approx(1.0)


def test_a_bin_must_have_two_rows_for_the_squared_error():
    with pytest.raises(ValueError, match=r"two rows in some bin, got 10 bins for 2 rows"):
        squared_calibration_error([0, 1], [[0.6, 0.4], [0.3, 0.7]])


@pytest.mark.parametrize("error", [expected_calibration_error, squared_calibration_error])
def test_n_bins_must_be_positive(error):
    with pytest.raises(ValueError, match=r"n_bins must be an integer of at least 1, got 0"):
        error([0, 1], [[0.5, 0.5]] * 2, n_bins=0)
