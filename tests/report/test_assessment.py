from dataclasses import replace

import numpy as np
import pytest

from calibrant.decisions import CostTable, compare_costs, decision_curve, implied_thresholds
from calibrant.metrics import (
    estimated_calibration_index,
    measure_discrimination,
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
            benefit = decision_curve(y, proba, of=each.label)
            np.testing.assert_array_equal(each.decision_curve.net_benefit, benefit.net_benefit)
        assert found.multinomial == multinomial_calibration(y, proba)
        assert found.calibration_index == estimated_calibration_index(y, proba)
        assert found.discrimination == measure_discrimination(y, proba)
        assert found.costs is None


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
    assert found.discrimination.by_pair == ()


def test_costs_are_compared_under_their_names(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"), n_models=1)
    matrix = np.array([[0.0, 1, 2], [1, 0, 2], [10, 10, 2]])
    table = CostTable(("a", "b", "c"), ("send home", "treat", "test"), matrix)
    found = analyze(evaluation, table).models[0].calibrated_assessment.costs
    y, proba = predictions(evaluation, 0, "calibrated")
    expected = compare_costs(y, proba, matrix)
    # The decisions are not the classes, although there are as many.
    assert found.comparison == replace(expected, most_probable=None)
    assert found.decisions == table.decisions
    assert found.thresholds == implied_thresholds(matrix, labels=["a", "b", "c"])


def test_decisions_for_classes_are_compared_with_the_most_probable_class(make_evaluation):
    evaluation = make_evaluation(("a", "b"), n_models=1)
    table = CostTable(("a", "b"), ("a", "b"), np.array([[0.0, 1], [5, 0]]))
    found = analyze(evaluation, table).models[0].assessment.costs
    y, proba = predictions(evaluation, 0, "uncalibrated")
    assert found.comparison == compare_costs(y, proba, table.costs)
    assert found.comparison.most_probable is not None


def test_costs_of_other_classes_are_rejected(make_evaluation):
    table = CostTable(("b", "a"), ("a", "b"), np.eye(2))
    with pytest.raises(ValueError, match=r"costs must have the classes \['a', 'b'\] in this order"):
        analyze(make_evaluation(("a", "b"), n_models=1), table)


def test_plain_values_have_thresholds_in_steps_of_five_percent(make_evaluation):
    found = analyze(make_evaluation(("a", "b"), n_models=1)).models[0].assessment
    (each,) = found.to_dict()["by_class"]
    np.testing.assert_allclose(each["decision_curve"]["threshold"], np.arange(1, 20) / 20)
    assert len(each["curve"]["predicted"]) == len(each["curve"]["observed"]) == 21
    assert each["curve"]["emax"] == found.by_class[0].curve.emax
