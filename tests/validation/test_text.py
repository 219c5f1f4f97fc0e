from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from calibrant.calibrators import UpdateChoice
from calibrant.metrics import measure_performance
from calibrant.report import Miscalibration, Verdict
from calibrant.validation import Cause, validate_probabilities
from calibrant.validation.analysis import validate_candidates
from calibrant.validation.records import Candidate
from calibrant.validation.text import (
    answer_advice,
    answer_cause,
    answer_change,
    answer_difference,
    answer_right,
    describe_advice,
    describe_cause,
    describe_change,
    describe_right,
    summarize,
)


def draw(proba, rng):
    return (rng.uniform(size=(len(proba), 1)) >= proba.cumsum(axis=1)[:, :-1]).sum(axis=1)


@pytest.fixture(scope="module")
def validations():
    """Validations of all kinds of shifts, by name."""
    rng = np.random.RandomState(4)
    old, new = (rng.dirichlet([1.0] * 3, size=n) for n in (400, 700))
    before = measure_performance(draw(old, rng), old)
    true = {
        "same": new,
        "mix": softmax(np.log(new) + np.array([1.5, 0.0, 0.0]), axis=1),
        "model": softmax(0.2 * np.log(new), axis=1),
    }
    names = np.array(list("abc"))
    found = {
        name: validate_probabilities(new, names[draw(proba, rng)], names, before=before)
        for name, proba in true.items()
    }
    few = names[draw(new[:25], rng)]
    found["few"] = validate_probabilities(new[:25], few, names, before=before)
    found["unknown"] = validate_probabilities(new, names[draw(true["mix"], rng)], names)
    return found


def test_the_mix_of_classes_is_named_with_its_frequencies(validations):
    model = validations["mix"]
    assert model.cause is Cause.CLASSES
    assert answer_cause(model).startswith("The mix of classes: 'a' made up 3")
    assert "The class frequencies differ from those of training beyond chance" in describe_cause(
        model
    )
    assert answer_advice(model).endswith("the rows call for a correction for class frequencies.")


def test_a_changed_model_is_named(validations):
    model = validations["model"]
    assert answer_right(model).startswith("No: they are too confident, off by about ")
    assert answer_change(model).startswith("Yes, for the worse, beyond chance: log loss ")
    assert answer_cause(model) == "The model."
    assert "the probabilities still do not fit the new rows" in describe_cause(model)
    assert "confidence" in answer_advice(model)


def test_few_rows_settle_nothing(validations):
    model = validations["few"]
    assert answer_right(model).startswith("Cannot tell: with only 25 rows,")
    assert answer_cause(model).startswith("Cannot tell")
    assert answer_advice(model).startswith("Collect more rows")
    more = f"About {model.miscalibration.n_more:,} more rows would show whether it is at most 5."
    assert answer_right(model).endswith(more)
    assert describe_advice(model) == ""


def test_what_is_not_recorded_is_said_to_be_unknown(validations):
    model = validations["unknown"]
    assert answer_change(model).startswith("Unknown: nothing was recorded")
    assert "Files of version 0.1.0, models fitted without calibration" in describe_change(model)
    assert answer_cause(model).startswith("Unknown: a correction for class frequencies would")


@pytest.mark.parametrize("p_value", [0.001, 0.5])
@pytest.mark.parametrize("high", [0.01, 0.2])
@pytest.mark.parametrize("choice", list(UpdateChoice))
@pytest.mark.parametrize("name", ["same", "mix", "model", "unknown"])
def test_sentences_do_not_contradict_the_verdict(validations, name, choice, high, p_value):
    model = validations[name]
    error = replace(model.miscalibration.error, estimate=0.005, low=0.0, high=high)
    found = Miscalibration(0.7, 0.695, error, p_value)
    model = replace(model, miscalibration=found, update=replace(model.update, choice=choice))
    is_wrong = model.verdict is Verdict.MISCALIBRATED
    assert answer_right(model).startswith("No: ") == is_wrong
    calls = p_value < 0.05 and choice != UpdateChoice.NONE
    assert answer_advice(model).startswith("Update") == calls
    assert ("Update" in answer_advice(model) or "Fit" in answer_advice(model)) == (
        is_wrong or calls
    )
    assert (model.cause is Cause.NONE) == (p_value > 0.05)
    if model.cause is Cause.NONE:
        assert not answer_cause(model).startswith(("The model", "The mix of classes:"))
        assert "do not fit" not in describe_cause(model)
        assert "but is correct" not in describe_right(model)
    if choice == UpdateChoice.NONE and is_wrong:
        assert answer_advice(model).startswith("Fit the model again")


def test_an_error_of_0_points_is_never_reported_as_found(validations):
    model = validations["model"]
    error = replace(model.miscalibration.error, estimate=0.001, low=0.0, high=0.06)
    found = replace(model.miscalibration, error=error, accuracy=model.miscalibration.confidence)
    model = replace(model, miscalibration=found)
    text = describe_right(model)
    assert "off by about 0" not in text
    assert "too small to be measured (95% interval: 0 to 6 points)" in text


def test_the_largest_error_is_the_same_number_in_all_sentences(validations):
    model = validations["model"]
    error = replace(model.miscalibration.error, estimate=0.04, low=0.0, high=0.071)
    found = replace(model.miscalibration, error=error, accuracy=model.miscalibration.confidence)
    model = replace(model, miscalibration=found)
    assert "(at most 8, allowing for chance)" in answer_right(model)
    assert "and is correct" in describe_right(model)
    assert "(95% interval: 0 to 8 points)" in describe_right(model)


def test_an_error_in_one_direction_is_never_too_small_to_be_measured(validations):
    model = validations["model"]
    error = replace(model.miscalibration.error, estimate=0.001, low=0.0, high=0.06)
    model = replace(model, miscalibration=replace(model.miscalibration, error=error))
    assert answer_right(model).startswith("No: ")
    assert "too small" not in describe_right(model)


def changed(score, estimate, p_value):
    """Return a score whose change is given."""
    change = replace(score.change, estimate=estimate, p_value=p_value)
    return replace(score, change=change, now=replace(score.now, estimate=0.5))


def test_a_new_mix_of_classes_is_a_change(validations):
    model = validations["mix"]
    scores = tuple(changed(score, 0.0, 1.0) for score in model.scores)
    model = replace(model, scores=scores, by_class=())
    assert answer_change(model).startswith("In part: the mix of classes changed beyond chance, but")
    by_class = validations["model"].by_class
    told = replace(model, frequencies=None, by_class=(changed(by_class[0], 0.3, 0.001),))
    assert answer_change(told).startswith("In part: what the model says about rows of 'a' changed")


def test_a_wrong_model_that_has_not_changed_was_wrong_from_the_start(validations):
    model = validations["model"]
    scores = tuple(changed(score, 0.0, 1.0) for score in model.scores)
    model = replace(model, scores=scores, by_class=(), frequencies=None)
    assert answer_change(model).startswith("Not beyond chance")
    assert answer_cause(model) == "The model, perhaps from the start."


def test_scores_that_got_better_are_never_called_worse(validations):
    model = validations["same"]
    loss, brier, accuracy, overconfidence = model.scores
    better = (changed(loss, -0.1, 0.2), changed(brier, -0.1, 0.2), changed(accuracy, 0.1, 0.2))
    shifted = changed(overconfidence, -0.3, 0.001)
    text = answer_change(replace(model, scores=(*better, shifted)))
    assert text.startswith("Yes, beyond chance: confidence minus accuracy")
    mixed = (changed(loss, -0.1, 0.01), changed(brier, 0.1, 0.01), *better[2:], shifted)
    assert "for better and worse" in answer_change(replace(model, scores=mixed))


@pytest.mark.parametrize("name", ["same", "model", "few", "unknown"])
def test_nothing_is_said_about_changes_if_nothing_was_recorded(validations, name):
    model = replace(validations[name], before=None, scores=(), by_class=(), frequencies=None)
    assert answer_change(model).startswith("Unknown: nothing was recorded")
    assert answer_cause(model).startswith(("Unknown", "The model, perhaps from the start."))


def test_groups_are_not_called_rows():
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([1.0] * 2, size=40)
    model = validate_probabilities(proba, draw(proba, rng), [0, 1], groups=np.arange(40) // 2)
    assert answer_right(model).startswith("Cannot tell: with only 20 groups,")
    assert "more groups would show whether it is at most 5" in answer_right(model)


def test_a_negligible_difference_has_no_p_value():
    rng = np.random.RandomState(0)
    proba = np.clip(rng.dirichlet([1.0] * 2, size=400), 0.05, 0.95)
    proba /= proba.sum(axis=1, keepdims=True)
    y = draw(proba, rng)
    second = proba + 0.0005 * (np.eye(2)[y] - proba)
    result = validate_candidates([Candidate("a", proba), Candidate("b", second)], y, "ab")
    assert result.difference.log_loss.p_value < 0.001
    assert "p\N{NO-BREAK SPACE}" not in answer_difference(result)
    assert answer_difference(result).startswith("Neither: ")


def test_the_summary_has_a_line_per_question_and_model():
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([1.0] * 2, size=60)
    candidates = [Candidate("old.skops", proba), Candidate("new.skops", proba[:, ::-1])]
    lines = summarize(validate_candidates(candidates, draw(proba, rng), "ab")).splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("old.skops: Are the probabilities right?")
    assert lines[3].startswith("new.skops: Are the probabilities right?")
    assert lines[6].startswith("Which one is better? old.skops, beyond chance: log loss +")
