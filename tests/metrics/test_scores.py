import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from calibrant.metrics import brier_score, log_loss, published_log_loss, published_mse


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


def test_certain_and_wrong_is_finite():
    y, proba = [0, 1], [[0.0, 1.0], [0.0, 1.0]]
    assert log_loss(y, proba) == pytest.approx(sklearn_metrics.log_loss(y, proba))
    assert published_log_loss(y, proba) == pytest.approx(-np.log(1e-15), rel=1e-4)


def test_single_precision_is_clipped_as_scikit_learn_does():
    y, proba = [0, 1], np.array([[0.0, 1.0], [0.3, 0.7]], dtype=np.float32)
    assert log_loss(y, proba) == pytest.approx(sklearn_metrics.log_loss(y, proba), rel=1e-6)
