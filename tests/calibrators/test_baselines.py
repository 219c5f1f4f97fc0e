import numpy as np
import pytest

from calibrant._core.probability_floor import apply_probability_floor
from calibrant.calibrators import ClassFrequencies, ConstantCalibrator, NoCalibration


def test_no_calibration_returns_the_scores_raised_to_the_floor(simulate):
    score, y = simulate(40, 3)
    proba = NoCalibration().fit(score, y).predict_proba(score)
    np.testing.assert_allclose(
        proba, apply_probability_floor(score, np.bincount(y)), rtol=0, atol=1e-15
    )


def test_class_frequencies_ignore_the_scores(simulate):
    score, y = simulate(40, 3)
    weight = np.arange(40) % 3
    proba = ClassFrequencies().fit(score, y, weight).predict_proba(score[:5])
    expected = np.bincount(y, weight) / weight.sum()
    np.testing.assert_allclose(proba, np.tile(expected, (5, 1)), rtol=1e-12)


def test_a_constant_calibrator_returns_the_weighted_frequency():
    weight = [1.0, 2.0, 3.0]
    constant = ConstantCalibrator().fit([0.1, 0.5, 0.9], [0, 1, 0], weight)
    np.testing.assert_allclose(constant.predict([-5.0, 0.5]), 2 / 6)
    assert ConstantCalibrator().fit([0.1, 0.2], [0, 0]).predict([0.3])[0] == 0.0


@pytest.mark.parametrize("target", [0.0, 1.0])
def test_a_floored_constant_is_never_0_or_1(target):
    constant = ConstantCalibrator(floored=True).fit([0.1, 0.2], [target, target])
    assert 0 < constant.predict([0.3])[0] < 1
    more = ConstantCalibrator(floored=True).fit(np.zeros(50), np.full(50, target))
    assert abs(more.frequency_ - target) < abs(constant.frequency_ - target)
