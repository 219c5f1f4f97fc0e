import numpy as np
import pytest

from calibrant.metrics import (
    expected_calibration_error,
    reliability_curve,
    smooth_calibration_error,
    squared_calibration_error,
)


def test_classwise_error_is_the_mean_over_the_classes(predictions):
    y, proba, weight = predictions
    curves = [
        reliability_curve(y, proba, of=label, n_bins=10, sample_weight=weight) for label in "abcd"
    ]
    expected = np.mean([curve.calibration_error for curve in curves])
    found = expected_calibration_error(y, proba, kind="classwise", sample_weight=weight)
    assert found == pytest.approx(expected)


def test_top_label_error_is_that_of_the_most_probable_class(predictions):
    y, proba, weight = predictions
    correct = np.array(list("abcd"))[proba.argmax(axis=1)] == y
    curve = reliability_curve(correct, proba.max(axis=1), of=True, n_bins=10, sample_weight=weight)
    found = expected_calibration_error(y, proba, kind="top-label", sample_weight=weight)
    assert found == pytest.approx(curve.calibration_error)


@pytest.mark.parametrize(
    "error", [expected_calibration_error, squared_calibration_error, smooth_calibration_error]
)
def test_an_unknown_kind_is_refused(error):
    with pytest.raises(ValueError, match=r"'top-label' or 'classwise', got 'smooth'"):
        error([0, 1], [[0.5, 0.5]] * 2, kind="smooth")
