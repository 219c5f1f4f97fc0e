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
def test_errors_of_true_probabilities_fade_with_rows(kind, draw_labels):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), size=20_000)
    y = draw_labels(rng, proba)
    assert expected_calibration_error(y, proba, kind=kind) < 0.02
    assert expected_calibration_error(y[:100], proba[:100], kind=kind) > 0.02
    assert smooth_calibration_error(y, proba, kind=kind) < 0.015
    assert abs(squared_calibration_error(y, proba, kind=kind)) < 2e-4


@pytest.mark.parametrize("kind", KINDS)
def test_error_of_constant_overconfidence_is_its_size(kind):
    y = np.repeat([0, 1], [700, 300])
    proba = np.tile([0.9, 0.1], (1000, 1))
    assert expected_calibration_error(y, proba, kind=kind) == pytest.approx(0.2)
    assert smooth_calibration_error(y, proba, kind=kind) == pytest.approx(0.2, abs=0.001)
    # The debiased square is exactly that of the share, less its sampling variance.
    assert squared_calibration_error(y, proba, kind=kind) == pytest.approx(0.2**2 - 0.7 * 0.3 / 999)


def test_squared_error_is_the_estimator_of_kumar_liang_and_ma():
    # Written out as in their Definition 5.1, for predictions that are constant in each bin.
    rng = np.random.default_rng(3)
    second = np.repeat([0.1, 0.35, 0.6, 0.9], [20, 30, 25, 40])
    y = rng.integers(0, 2, size=len(second))
    expected = 0.0
    for value in np.unique(second):
        own = y[second == value]
        plug_in = (own.mean() - value) ** 2
        expected += len(own) / len(y) * (plug_in - own.mean() * (1 - own.mean()) / (len(own) - 1))
    proba = np.column_stack([1 - second, second])
    assert squared_calibration_error(y, proba, kind="classwise", n_bins=4) == pytest.approx(
        expected
    )


@pytest.mark.parametrize("distort", [lambda proba: proba, overconfident])
def test_squared_error_has_no_bias_where_the_plug_in_error_has(distort, draw_labels):
    rng = np.random.default_rng(0)

    def errors(n_rows, n_bins):
        true = rng.dirichlet(np.ones(3), size=n_rows)
        y, proba = draw_labels(rng, true), distort(true)
        debiased = squared_calibration_error(y, proba, n_bins=n_bins)
        residual = (y == proba.argmax(axis=1)) - proba.max(axis=1)
        place = np.argsort(np.argsort(proba.max(axis=1))) * n_bins // n_rows
        plug_in = np.mean((np.bincount(place, residual) / np.bincount(place)) ** 2)
        return debiased, plug_in

    truth, _ = errors(400_000, 5)
    debiased, plug_in = np.transpose([errors(60, 5) for _ in range(1000)])
    noise = debiased.std() / np.sqrt(len(debiased))
    assert abs(debiased.mean() - truth) < 3 * noise
    assert plug_in.mean() - truth > 10 * noise


def test_smooth_error_is_the_fixed_point_of_the_smoothed_residual(predictions):
    """Against the definition, by direct summation over reflected Gaussians."""
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


def test_smooth_error_does_not_jump_where_a_prediction_crosses_an_edge_of_a_bin():
    y, step = np.tile([0, 1], 50), 1e-6
    below, above = np.full(100, 0.5 - step), np.full(100, 0.5 + step)
    mixed = np.where(y == 1, below, above)
    assert smooth_calibration_error(y, mixed, kind="classwise") < 0.03
    assert expected_calibration_error(y, mixed, kind="classwise", n_bins=2) > 0.4


@pytest.mark.parametrize("error", ERRORS)
def test_certain_and_right_has_no_error_and_certain_and_wrong_the_largest(error):
    y, proba = np.tile([0, 1], 20), np.tile([[1.0, 0.0], [0.0, 1.0]], (20, 1))
    assert error(y, proba) == 0
    assert error(1 - y, proba) == pytest.approx(1.0)
