import numpy as np
import pytest

from calibrant.metrics import (
    estimated_calibration_index,
    multinomial_calibration,
    smooth_calibration_curve,
    weak_calibration,
)
from calibrant.report import analyze


def predictions(evaluation, model, state):
    """The predictions of the first repeat, with class names as labels."""
    first = evaluation.split < evaluation.n_folds
    truth = np.array(evaluation.classes)[evaluation.y_true[first]]
    return truth, getattr(evaluation.models[model], state)[first]


@pytest.mark.parametrize("state", ["uncalibrated", "calibrated"])
def test_measures_are_those_of_the_library_on_the_first_repeat(make_evaluation, state):
    evaluation = make_evaluation(("a", "b", "c"), n_repeats=2)
    analysis = analyze(evaluation)
    for index, model in enumerate(analysis.models):
        found = model.assessment if state == "uncalibrated" else model.calibrated_assessment
        y, proba = predictions(evaluation, index, state)
        assert [each.label for each in found.by_class] == ["a", "b", "c"]
        for each in found.by_class:
            assert each.weak_calibration == weak_calibration(y, proba, of=each.label)
            curve = smooth_calibration_curve(y, proba, of=each.label)
            np.testing.assert_array_equal(each.curve.observed, curve.observed)
            assert each.curve.emax == curve.emax
        assert found.multinomial == multinomial_calibration(y, proba)
        assert found.calibration_index == estimated_calibration_index(y, proba)


def test_two_classes_are_assessed_by_the_second_one(make_evaluation):
    evaluation = make_evaluation(("absent", "present"), n_models=1)
    found = analyze(evaluation).models[0].assessment
    y, proba = predictions(evaluation, 0, "uncalibrated")
    (each,) = found.by_class
    assert each.label == "present"
    assert each.weak_calibration == weak_calibration(y, proba)
    assert found.multinomial is None
    assert np.isnan(found.calibration_index)


def test_of_many_classes_the_most_frequent_ones_are_assessed(make_evaluation):
    evaluation = make_evaluation([f"class {i:02}" for i in range(12)], n_rows=120, n_models=1)
    found = analyze(evaluation).models[0].assessment
    expected = [evaluation.classes[k] for k in evaluation.most_frequent_classes]
    assert len(expected) == 10
    assert [each.label for each in found.by_class] == expected
    assert found.multinomial is None
