import numpy as np
import pytest
from scipy.stats import binom

from calibrant.metrics import (
    calibration_test,
    kernel_calibration_error,
    squared_calibration_error,
)

SHAPES = {"peaked": 0.2, "flat": 3.0}


def test_kernel_error_is_the_mean_over_pairs(predictions):
    """Against the definition, pair by pair."""
    y, proba, weight = (array[:30] for array in predictions)
    residual = (y[:, None] == np.array(list("abcd"))) - proba
    pairs = [(i, j) for i in range(30) for j in range(30) if i != j]
    pair_weight = np.array([weight[i] * weight[j] for i, j in pairs])
    distance = np.array([np.abs(proba[i] - proba[j]).sum() / 2 for i, j in pairs])
    width = np.average(distance, weights=pair_weight)
    product = [residual[i] @ residual[j] for i, j in pairs] * np.exp(-distance / width)
    assert kernel_calibration_error(y, proba, sample_weight=weight) == pytest.approx(
        np.average(product, weights=pair_weight)
    )


def test_true_probabilities_have_no_error_on_average(draw_labels):
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(1000):
        proba = rng.dirichlet(np.ones(3), size=40)
        errors.append(kernel_calibration_error(draw_labels(rng, proba), proba, labels=[0, 1, 2]))
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors))


def test_sees_errors_that_no_single_class_shows(draw_labels):
    # Every class comes true as often as predicted, and so does the most probable one, but
    # in none of the rows are the probabilities right.
    rows = np.array([[1, 3, 6], [1, 6, 3], [3, 1, 6], [3, 6, 1], [6, 1, 3], [6, 3, 1]]) / 10
    true = np.array([[2, 2, 6], [0, 7, 3], [2, 2, 6], [4, 5, 1], [7, 0, 3], [5, 4, 1]]) / 10
    for k in range(3):
        for value in (0.1, 0.3, 0.6):
            assert true[rows[:, k] == value, k].mean() == pytest.approx(value)
    rng = np.random.default_rng(0)
    place = rng.integers(6, size=1500)
    y = draw_labels(rng, true[place])
    assert squared_calibration_error(y, rows[place], kind="classwise") < 0.001
    distance = np.abs(rows[:, None] - rows).sum(axis=2)
    kernel = np.exp(-distance / distance.mean())
    expected = np.mean(kernel * ((true - rows) @ (true - rows).T))
    assert kernel_calibration_error(y, rows[place]) == pytest.approx(expected, abs=3e-4)
    assert calibration_test(y, rows[place], n_resamples=99, random_state=0).p_value <= 0.05


@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize("n_rows", [50, 200, 400])
@pytest.mark.parametrize("shape", SHAPES)
def test_false_alarms_are_as_rare_as_the_level_says(shape, n_rows, n_classes, draw_labels):
    rng = np.random.default_rng([n_rows, n_classes])
    n_repeats = 200
    alarms = 0
    for seed in range(n_repeats):
        proba = rng.dirichlet(np.full(n_classes, SHAPES[shape]), size=n_rows)
        found = calibration_test(
            draw_labels(rng, proba),
            proba,
            labels=np.arange(n_classes),
            n_resamples=99,
            random_state=seed,
        )
        alarms += found.p_value <= 0.05
    low, high = binom.interval(0.999, n_repeats, 0.05)
    assert low <= alarms <= high


@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize(
    ("distort", "n_rows", "power"),
    [
        (lambda proba: proba**2, 300, 0.9),  # overconfident
        (lambda proba: proba**0.5, 300, 0.7),  # underconfident
        (lambda proba: proba * np.r_[2.0, np.ones(proba.shape[1] - 1)], 300, 0.9),  # a class
    ],
)
def test_finds_what_is_off(distort, n_rows, power, n_classes, draw_labels):
    rng = np.random.default_rng(n_classes)
    found = []
    for seed in range(40):
        true = rng.dirichlet(np.ones(n_classes), size=n_rows)
        proba = distort(true) / distort(true).sum(axis=1, keepdims=True)
        y = draw_labels(rng, true)
        found.append(calibration_test(y, proba, n_resamples=99, random_state=seed).p_value)
    assert np.mean(np.array(found) <= 0.05) >= power


def test_probabilities_of_0_and_1_are_ordinary(draw_labels):
    y = np.tile([0, 1, 2], 30)
    certain = np.eye(3)[y]
    assert calibration_test(y, certain, random_state=0).p_value == 1
    assert calibration_test((y + 1) % 3, certain, random_state=0).p_value == 0.001
    rng = np.random.default_rng(0)
    some_zero = np.where(rng.uniform(size=(100, 3)) < 0.4, 0.0, rng.uniform(size=(100, 3)))
    some_zero[:, 0] += 0.1
    some_zero /= some_zero.sum(axis=1, keepdims=True)
    found = calibration_test(draw_labels(rng, some_zero), some_zero, random_state=0)
    assert 0.01 < found.p_value <= 1


def test_equal_rows_are_compared_by_their_frequencies():
    proba = np.tile([0.6, 0.4], (50, 1))
    assert calibration_test(np.repeat([0, 1], [30, 20]), proba, random_state=0).p_value > 0.8
    assert calibration_test(np.repeat([0, 1], [10, 40]), proba, random_state=0).p_value == 0.001


def test_statistic_is_the_same_for_many_and_few_draws_at_a_time(predictions, monkeypatch):
    y, proba, weight = predictions
    whole = calibration_test(y, proba, sample_weight=weight, random_state=3)
    monkeypatch.setattr("calibrant.metrics.kernel.LARGEST_CHUNK", 7 * proba.size)
    parts = calibration_test(y, proba, sample_weight=weight, random_state=3)
    assert parts.p_value == whole.p_value
    assert parts.statistic == whole.statistic
    assert calibration_test(y, proba, random_state=4).p_value != whole.p_value


def test_of_many_rows_some_are_compared(draw_labels, monkeypatch):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), size=500)
    y = draw_labels(rng, proba)
    every = calibration_test(y, proba, random_state=0)
    monkeypatch.setattr("calibrant.metrics.kernel.MOST_ROWS", 400)
    some = calibration_test(y, proba, random_state=0)
    assert some.statistic != every.statistic
    assert some == calibration_test(y, proba, random_state=0)
    overconfident = proba**2 / (proba**2).sum(axis=1, keepdims=True)
    assert calibration_test(y, overconfident, random_state=0).p_value == 0.001
