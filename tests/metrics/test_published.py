import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from calibrant.metrics import brier_score, log_loss, published_log_loss, published_mse


def test_published_log_loss_is_the_sum_of_binary_log_losses(predictions):
    y, proba, weight = predictions
    expected = sum(
        sklearn_metrics.log_loss(y == label, column, sample_weight=weight)
        for label, column in zip("abcd", proba.T, strict=True)
    )
    assert published_log_loss(y, proba, sample_weight=weight) == pytest.approx(expected)


def test_published_mse_is_the_brier_score_divided_by_the_number_of_classes(predictions):
    y, proba, _ = predictions
    assert published_mse(y, proba) == pytest.approx(brier_score(y, proba) / 4)


def test_class_frequencies_of_wholesale_have_the_published_values():
    # 1.398 and .147 by the formulas of the tables, .782 by the paper's equation.
    count = np.array([77, 47, 316])
    y = np.repeat([1, 2, 3], count)
    proba = np.tile(count / count.sum(), (len(y), 1))
    assert published_log_loss(y, proba) == pytest.approx(1.398, abs=5e-4)
    assert published_mse(y, proba) == pytest.approx(0.147, abs=5e-4)
    assert log_loss(y, proba) == pytest.approx(0.782, abs=5e-4)


def test_published_log_loss_clips_at_1e_15():
    # Both binary losses of the row that is certain and wrong, averaged over two rows.
    y, proba = [0, 1], [[0.0, 1.0], [0.0, 1.0]]
    assert published_log_loss(y, proba) == pytest.approx(-np.log(1e-15), rel=1e-4)


def test_rows_need_not_be_normalized():
    y, values = [0, 1], [[0.5, 0.6], [1.2, -0.2]]
    assert published_mse(y, values) == pytest.approx((0.25 + 0.36 + 1.44 + 1.44) / 4)
    assert np.isfinite(published_log_loss(y, values))
