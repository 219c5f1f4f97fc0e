import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from calibrant.metrics import brier_score, log_loss


def test_log_loss_agrees_with_scikit_learn(predictions):
    y, proba, weight = predictions
    assert log_loss(y, proba) == pytest.approx(sklearn_metrics.log_loss(y, proba))
    assert log_loss(y, proba, sample_weight=weight) == pytest.approx(
        sklearn_metrics.log_loss(y, proba, sample_weight=weight)
    )


def test_brier_score_agrees_with_scikit_learn(predictions):
    y, proba, weight = predictions
    expected = sklearn_metrics.brier_score_loss(y, proba, sample_weight=weight)
    assert brier_score(y, proba, sample_weight=weight) == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_log_loss_of_probability_0_is_clipped_as_in_scikit_learn(dtype):
    y, proba = [0, 1], np.array([[0.0, 1.0], [0.3, 0.7]], dtype=dtype)
    assert log_loss(y, proba) == pytest.approx(sklearn_metrics.log_loss(y, proba), rel=1e-6)
