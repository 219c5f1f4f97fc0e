import numpy as np
import pytest

from calibrant._core import workers
from calibrant.calibrators import NoCalibration, TemperatureScaling
from calibrant.planning import plan_calibration, simulate_probabilities


@pytest.fixture(scope="module")
def true():
    return simulate_probabilities([0.6, 0.4], 0.8, n_rows=5000, random_state=0)


def overconfident(true):
    return true**2 / (true**2).sum(axis=1, keepdims=True)


def test_the_error_of_temperature_scaling_follows_the_information(true):
    """One parameter: the error is its standard error, times the slope of the probability."""
    found = plan_calibration(
        overconfident(true),
        true,
        calibrator=TemperatureScaling(penalty=0.0),
        assurance=0.68,  # one standard error
        n_repeats=100,
        random_state=0,
    )
    log_odds = np.log(true[:, 1] / true[:, 0])
    slope = true[:, 1] * true[:, 0] * 2 * log_odds  # by the inverse temperature, which is 1/2
    information = np.mean(true[:, 1] * true[:, 0] * (2 * log_odds) ** 2)
    expected = np.sqrt(np.mean(slope**2) / information / np.array(found.sizes))
    np.testing.assert_allclose(found.errors[2:], expected[2:], rtol=0.25)
    assert 25 < found.n_rows < 100


def test_calibrated_probabilities_need_no_rows(true):
    found = plan_calibration(true, true, calibrator=NoCalibration(), n_repeats=2, random_state=0)
    assert found.n_rows == found.sizes[0]
    assert found.uncalibrated_error == 0
    assert "25 held-out rows or fewer" in str(found)


def test_more_precision_takes_more_rows(true):
    loose, tight = (
        plan_calibration(overconfident(true), true, margin=m, n_repeats=4, random_state=0)
        for m in (0.08, 0.04)
    )
    assert loose.errors == tight.errors
    assert loose.n_rows < tight.n_rows
    assert tight.uncalibrated_error == pytest.approx(
        np.sqrt(np.mean((overconfident(true) - true)[:, 0] ** 2))
    )


def test_classes_that_are_not_drawn_do_no_harm_and_jobs_change_nothing(monkeypatch):
    true = simulate_probabilities([0.6, 0.395, 0.005], 0.8, n_rows=500, random_state=0)
    monkeypatch.setattr(workers, "WORKER_START_SECONDS", -1.0)  # always start them
    first, second = (
        plan_calibration(overconfident(true), true, n_repeats=1, random_state=0, n_jobs=n)
        for n in (1, 2)
    )
    assert first == second


def test_wrong_input_is_named(true):
    with pytest.raises(ValueError, match="margin and assurance must lie strictly between 0 and 1"):
        plan_calibration(true, true, margin=5.0)
    with pytest.raises(ValueError, match="inconsistent"):
        plan_calibration(true, true[1:])
