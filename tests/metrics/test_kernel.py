import numpy as np
import pytest
from scipy.stats import binom

from calibrant.metrics import (
    calibration_test,
    kernel_calibration_error,
    squared_calibration_error,
)

SHAPES = {"peaked": 0.2, "flat": 3.0}


def test_kernel_error_is_the_mean_of_its_definition_over_pairs(predictions):
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


@pytest.mark.slow
def test_kernel_error_is_unbiased_for_true_probabilities(draw_labels):
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(1000):
        proba = rng.dirichlet(np.ones(3), size=40)
        errors.append(kernel_calibration_error(draw_labels(rng, proba), proba, labels=[0, 1, 2]))
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors))


def test_joint_errors_that_no_single_class_shows_are_detected(draw_labels):
    # Each class and the most probable class are calibrated on their own, but no row is.
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


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize("n_rows", [50, 200, 400])
@pytest.mark.parametrize("shape", SHAPES)
def test_false_positive_rate_is_the_significance_level(shape, n_rows, n_classes, draw_labels):
    rng = np.random.default_rng([n_rows, n_classes])
    n_repeats = 200
    rejected = 0
    for seed in range(n_repeats):
        proba = rng.dirichlet(np.full(n_classes, SHAPES[shape]), size=n_rows)
        found = calibration_test(
            draw_labels(rng, proba),
            proba,
            labels=np.arange(n_classes),
            n_resamples=99,
            random_state=seed,
        )
        rejected += found.p_value <= 0.05
    low, high = binom.interval(0.999, n_repeats, 0.05)
    assert low <= rejected <= high


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize(
    ("distort", "n_rows", "power"),
    [
        (lambda proba: proba**2, 300, 0.9),  # overconfident
        (lambda proba: proba**0.5, 300, 0.7),  # underconfident
        (
            lambda proba: proba * np.r_[2.0, np.ones(proba.shape[1] - 1)],
            300,
            0.9,
        ),  # one class too often
    ],
)
def test_miscalibration_is_detected(distort, n_rows, power, n_classes, draw_labels):
    rng = np.random.default_rng(n_classes)
    found = []
    for seed in range(40):
        true = rng.dirichlet(np.ones(n_classes), size=n_rows)
        proba = distort(true) / distort(true).sum(axis=1, keepdims=True)
        y = draw_labels(rng, true)
        found.append(calibration_test(y, proba, n_resamples=99, random_state=seed).p_value)
    assert np.mean(np.array(found) <= 0.05) >= power


def test_probabilities_of_0_and_1_are_valid(draw_labels):
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


def test_constant_rows_are_tested_by_their_frequencies():
    proba = np.tile([0.6, 0.4], (50, 1))
    assert calibration_test(np.repeat([0, 1], [30, 20]), proba, random_state=0).p_value > 0.8
    assert calibration_test(np.repeat([0, 1], [10, 40]), proba, random_state=0).p_value == 0.001


def test_p_value_follows_from_labels_drawn_from_the_probabilities():
    # More resamples than are drawn in one chunk, recomputed from the definition in one go.
    rng = np.random.default_rng(0)
    n_rows, n_resamples = 50, 14_000
    proba = rng.dirichlet(np.ones(3), size=n_rows)
    y = rng.integers(3, size=n_rows)
    found = calibration_test(y, proba, n_resamples=n_resamples, random_state=3)

    def mean_products(residuals, points):
        distance = np.abs(points[:, None] - points).sum(axis=2)
        pairs = ~np.eye(n_rows, dtype=bool)
        kernel = np.where(pairs, np.exp(-distance / distance[pairs].mean()), 0)
        return np.einsum("vik,ij,vjk->v", residuals, kernel, residuals, optimize=True) / pairs.sum()

    def statistics(labels):
        top = proba.max(axis=1, keepdims=True)
        correct = (labels == proba.argmax(axis=1))[:, :, None]
        return mean_products(np.eye(3)[labels] - proba, proba) + mean_products(correct - top, top)

    uniform = np.random.RandomState(3).uniform(size=(n_resamples, n_rows, 1))
    drawn = (uniform > proba.cumsum(axis=1)[:, :2]).sum(axis=2)
    observed = statistics(y[None])[0]
    assert found.statistic == pytest.approx(observed)
    expected = (1 + np.sum(statistics(drawn) >= observed)) / (1 + n_resamples)
    assert found.p_value == pytest.approx(expected, abs=2 / n_resamples)


def test_large_inputs_are_subsampled(draw_labels):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(2), size=3010)
    y = draw_labels(rng, proba)

    def statistic(n_rows, seed):
        result = calibration_test(y[:n_rows], proba[:n_rows], n_resamples=19, random_state=seed)
        return result.statistic

    assert statistic(3000, seed=0) == statistic(3000, seed=1)
    assert statistic(3010, seed=0) != statistic(3010, seed=1)
    assert statistic(3010, seed=0) == statistic(3010, seed=0)


@pytest.mark.parametrize("metric", [kernel_calibration_error, calibration_test])
def test_two_rows_are_required(metric):
    with pytest.raises(ValueError, match=r"two rows of positive weight, got 1"):
        metric([0, 1], [[0.5, 0.5]] * 2, sample_weight=[1, 0])


def test_enough_resamples_are_required():
    with pytest.raises(ValueError, match=r"n_resamples must be an integer of at least 19, got 5"):
        calibration_test([0, 1], [[0.5, 0.5]] * 2, n_resamples=5)


def test_test_result_is_a_record():
    result = calibration_test([0, 1] * 10, [[0.5, 0.5]] * 20, random_state=0)
    assert result.to_dict() == {"statistic": result.statistic, "p_value": result.p_value}
    assert f"p = {result.p_value:.3g}" in str(result)
