import numpy as np
import pytest
from sklearn.metrics import log_loss, mean_squared_error

from calibrant._core.losses import row_brier_score, row_log_loss


@pytest.fixture
def forecasts():
    rng = np.random.default_rng(0)
    return rng.integers(0, 4, size=50), rng.dirichlet(np.ones(4), size=50)


def test_mean_log_loss_agrees_with_scikit_learn(forecasts):
    y, proba = forecasts
    assert row_log_loss(y, proba).mean() == pytest.approx(log_loss(y, proba, labels=range(4)))


def test_mean_brier_score_is_the_squared_error_summed_over_classes(forecasts):
    y, proba = forecasts
    expected = 4 * mean_squared_error(np.eye(4)[y], proba)
    assert row_brier_score(y, proba).mean() == pytest.approx(expected)


def test_losses_are_those_of_each_row():
    proba = np.array([[0.5, 0.5], [0.2, 0.8]])
    np.testing.assert_allclose(row_log_loss(np.array([0, 1]), proba), -np.log([0.5, 0.8]))
    np.testing.assert_allclose(row_brier_score(np.array([0, 1]), proba), [0.5, 0.08])


def test_log_loss_of_an_impossible_class_is_finite():
    y, proba = np.array([1]), np.array([[1.0, 0.0]])
    np.testing.assert_allclose(row_log_loss(y, proba), -np.log(np.finfo(float).eps))
    np.testing.assert_allclose(row_log_loss(y, proba, smallest=1e-3), -np.log(1e-3))
