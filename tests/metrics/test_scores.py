import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from calibrant.metrics import (
    brier_score,
    expected_calibration_error,
    log_loss,
    published_log_loss,
    published_mse,
    reliability_curve,
)

METRICS = [
    log_loss,
    brier_score,
    published_log_loss,
    published_mse,
    expected_calibration_error,
]


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(4), size=200)
    y = np.array(["a", "b", "c", "d"])[[rng.choice(4, p=row) for row in proba]]
    return y, proba, rng.uniform(0, 3, size=200)


def test_log_loss_is_scikit_learns(predictions):
    y, proba, weight = predictions
    assert log_loss(y, proba) == pytest.approx(sklearn_metrics.log_loss(y, proba))
    assert log_loss(y, proba, sample_weight=weight) == pytest.approx(
        sklearn_metrics.log_loss(y, proba, sample_weight=weight)
    )


def test_brier_score_is_scikit_learns(predictions):
    y, proba, weight = predictions
    expected = sklearn_metrics.brier_score_loss(y, proba, sample_weight=weight)
    assert brier_score(y, proba, sample_weight=weight) == pytest.approx(expected)


def test_published_log_loss_sums_binary_log_losses(predictions):
    y, proba, weight = predictions
    expected = sum(
        sklearn_metrics.log_loss(y == label, column, sample_weight=weight)
        for label, column in zip("abcd", proba.T, strict=True)
    )
    assert published_log_loss(y, proba, sample_weight=weight) == pytest.approx(expected)


def test_published_mse_divides_by_the_number_of_classes(predictions):
    y, proba, _ = predictions
    assert published_mse(y, proba) == pytest.approx(brier_score(y, proba) / 4)


def test_published_forms_give_the_values_known_for_wholesale():
    # Class shares as predictions: 1.398 and .147 by the published form, .782 by the equation.
    count = np.array([77, 47, 316])
    y = np.repeat([1, 2, 3], count)
    proba = np.tile(count / count.sum(), (len(y), 1))
    assert published_log_loss(y, proba) == pytest.approx(1.398, abs=5e-4)
    assert published_mse(y, proba) == pytest.approx(0.147, abs=5e-4)
    assert log_loss(y, proba) == pytest.approx(0.782, abs=5e-4)


@pytest.mark.parametrize("metric", METRICS)
def test_weights_are_repeated_rows(metric, predictions):
    y, proba, _ = predictions
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    repeated = metric(np.repeat(y, weight), np.repeat(proba, weight, axis=0))
    assert metric(y, proba, sample_weight=weight) == pytest.approx(repeated)


@pytest.mark.parametrize("metric", METRICS)
def test_labels_name_classes_that_are_not_in_the_data(metric):
    y, proba = ["a", "c"], [[0.7, 0.1, 0.2], [0.3, 0.1, 0.6]]
    assert metric(y, proba, labels=["a", "b", "c"]) > 0
    with pytest.raises(ValueError, match=r"each of the 2 labels\. Got 3 columns"):
        metric(y, proba)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("y", [["a", None], [0.0, np.nan]])
def test_missing_labels_get_one_clear_error(metric, y):
    with pytest.raises(ValueError, match=r"y_true must hold a label for every row\. Got NaN or"):
        metric(y, [[0.5, 0.5]] * 2)


@pytest.mark.parametrize("metric", METRICS)
def test_one_column_is_the_second_of_two_classes(metric):
    y, second = [0, 1, 1, 0], np.array([0.2, 0.9, 0.4, 0.3])
    assert metric(y, second) == metric(y, np.column_stack([1 - second, second]))
    assert metric(y, second[:, None]) == metric(y, second)


def test_certain_and_wrong_is_finite():
    y, proba = [0, 1], [[0.0, 1.0], [0.0, 1.0]]
    assert log_loss(y, proba) == pytest.approx(sklearn_metrics.log_loss(y, proba))
    assert published_log_loss(y, proba) == pytest.approx(-np.log(1e-15), rel=1e-4)


def test_calibration_error_of_true_probabilities_fades_with_rows():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), size=20_000)
    y = np.array([rng.choice(3, p=row) for row in proba])
    for kind in ("top-label", "classwise"):
        assert expected_calibration_error(y, proba, kind=kind) < 0.02
        assert expected_calibration_error(y[:100], proba[:100], kind=kind) > 0.02


def test_calibration_error_of_overconfidence_is_its_size():
    y = np.repeat([0, 1], [70, 30])
    proba = np.tile([0.9, 0.1], (100, 1))
    assert expected_calibration_error(y, proba) == pytest.approx(0.2)
    assert expected_calibration_error(y, proba, kind="classwise") == pytest.approx(0.2)


def test_reliability_curve_of_one_class(predictions):
    y, proba, weight = predictions
    curve = reliability_curve(y, proba, of="c", n_bins=5, sample_weight=weight)
    assert len(curve.predicted) == 5
    assert (np.diff(curve.predicted) > 0).all()
    assert curve.weight.sum() == pytest.approx(weight.sum())
    assert curve.predicted @ curve.weight == pytest.approx(proba[:, 2] @ weight)
    assert curve.observed @ curve.weight == pytest.approx((y == "c") @ weight)


def test_equal_probabilities_share_a_bin():
    proba = np.column_stack([np.repeat([0.2, 0.8], 50), np.repeat([0.8, 0.2], 50)])
    curve = reliability_curve(np.tile([0, 1], 50), proba, of=0, n_bins=20)
    np.testing.assert_allclose(curve.predicted, [0.2, 0.8])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [[0.5, 0.6], [0.5, 0.5]]), {}, "sum to 1. .* off by 0.1"),
        (([0, 1], [[1.2, -0.2], [0.5, 0.5]]), {}, "smallest value of -0.2"),
        (([0, 1], [[np.nan, 0.5], [0.5, 0.5]]), {}, "NaN"),
        (([0, 2], [[0.5, 0.5]] * 2), {"labels": [0, 1]}, r"labels, \[0, 1\]\. Got \[2\]"),
        (([0, 1], [[0.5, 0.5]] * 2), {"sample_weight": [1, -1]}, "Got a smallest of -1"),
        (([0, 1], [[0.5, 0.5]] * 3), {}, "inconsistent numbers of samples"),
    ],
)
def test_bad_input_gets_one_clear_error(arguments, options, message):
    for metric in METRICS:
        if "published" in metric.__name__ and (
            "sum to 1" in message or "smallest value" in message
        ):
            assert np.isfinite(metric(*arguments, **options))
            continue
        with pytest.raises(ValueError, match=message):
            metric(*arguments, **options)


def test_unknown_kinds_and_classes_get_one_clear_error():
    data = ([0, 1], [[0.5, 0.5]] * 2)
    with pytest.raises(ValueError, match=r"'top-label' or 'classwise'\. Got 'smooth'"):
        expected_calibration_error(*data, kind="smooth")
    with pytest.raises(ValueError, match=r"one of \[0, 1\]\. Got 7"):
        reliability_curve(*data, of=7)
    for function in (reliability_curve, expected_calibration_error):
        with pytest.raises(ValueError, match=r"n_bins must be a whole number, at least 1\. Got 0"):
            function(*data, n_bins=0)


def test_single_precision_is_clipped_as_scikit_learn_does():
    y, proba = [0, 1], np.array([[0.0, 1.0], [0.3, 0.7]], dtype=np.float32)
    assert log_loss(y, proba) == pytest.approx(sklearn_metrics.log_loss(y, proba), rel=1e-6)
