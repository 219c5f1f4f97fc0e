from dataclasses import replace

import numpy as np
import pytest

from calibrant._core.records import Interval
from calibrant.calibrators import CalibrationReport
from calibrant.report import analyze, text
from calibrant.report.formatting import NBSP
from calibrant.report.records import (
    Analysis,
    Change,
    Effect,
    Gain,
    Measure,
    Miscalibration,
    Verdict,
)

# Intervals of the calibration error and p-values that lead to each verdict.
FINDINGS = {
    Verdict.CALIBRATED: (Interval(0.02, 0.0, 0.04), 0.4),
    Verdict.NEARLY_CALIBRATED: (Interval(0.02, 0.01, 0.04), 0.004),
    Verdict.UNCLEAR: (Interval(0.08, 0.0, 0.2), 0.4),
    Verdict.MISCALIBRATED: (Interval(0.3, 0.24, 0.35), 0.001),
}
# Changes of both scores that lead to each effect.
CHANGES = {
    Effect.IMPROVED: (-1.4, 0.01),
    Effect.NEUTRAL: (-1.4, 0.2),  # not significant
    Effect.IMPAIRED: (1.4, 0.01),
}


def make_miscalibration(verdict, confidence=0.8, accuracy=0.51):
    miscalibration = Miscalibration(confidence, accuracy, *FINDINGS[verdict])
    assert miscalibration.verdict is verdict
    return miscalibration


def make_gain(effect):
    change, p_value = CHANGES[effect]
    values = [Interval(-np.log(proba), np.nan, np.nan) for proba in (0.1, 0.4)]
    measure = Measure("log loss", *values, Change(change, np.nan, np.nan, p_value=p_value))
    gain = Gain(measure, measure)
    assert gain.effect is effect
    return gain


@pytest.fixture(scope="module")
def analysis(make_evaluation):
    return analyze(make_evaluation(("a", "b", "c")))


def with_verdicts(analysis, *verdicts):
    models = [
        replace(analysis.models[0], miscalibration=make_miscalibration(verdict))
        for verdict in verdicts
    ]
    return Analysis(analysis.evaluation, tuple(models), analysis.ranking)


def with_effects(analysis, *effects):
    models = [replace(analysis.models[0], gain=make_gain(effect)) for effect in effects]
    return Analysis(analysis.evaluation, tuple(models), analysis.ranking)


def test_overconfidence_is_described_in_percent():
    described = text.describe_miscalibration(make_miscalibration(Verdict.MISCALIBRATED))
    assert described.replace(NBSP, " ") == (
        "Too confident: the most probable class gets a probability of 80% on average but is "
        "correct 51% of the time. That probability is typically off by about 30 percentage points "
        "(95% interval: 24 to 35). A test across all classes finds miscalibration beyond chance "
        "(p ≤ 0.001)."
    )


def test_underconfidence_is_named_only_where_the_test_finds_miscalibration():
    for verdict in Verdict:
        described = text.describe_miscalibration(make_miscalibration(verdict, 0.5, 0.7))
        is_found = verdict in (Verdict.MISCALIBRATED, Verdict.NEARLY_CALIBRATED)
        assert described.startswith("Not confident enough") == is_found


@pytest.mark.parametrize(
    ("verdicts", "answer"),
    [
        ([Verdict.CALIBRATED], "Yes: the test finds no miscalibration beyond chance."),
        ([Verdict.UNCLEAR], "Cannot tell: there are too few rows."),
        ([Verdict.MISCALIBRATED] * 2, "No: both models are miscalibrated."),
        ([Verdict.MISCALIBRATED] * 3, "No: all 3 models are miscalibrated."),
        (
            [Verdict.MISCALIBRATED, Verdict.UNCLEAR],
            "Not for every model: 1 of 2 is miscalibrated.",
        ),
        (
            [Verdict.CALIBRATED, Verdict.UNCLEAR],
            "Cannot tell for 1 of 2 models: there are too few rows.",
        ),
        ([Verdict.UNCLEAR] * 2, "Cannot tell: there are too few rows."),
        (
            [Verdict.CALIBRATED, Verdict.NEARLY_CALIBRATED],
            "Nearly: any miscalibration is slight.",
        ),
        ([Verdict.CALIBRATED] * 2, "Yes: the test finds no miscalibration beyond chance."),
    ],
)
def test_the_verdicts_of_all_models_make_one_answer(analysis, verdicts, answer):
    assert text.summarize_miscalibration(with_verdicts(analysis, *verdicts)) == answer


@pytest.mark.parametrize(
    ("effects", "answer"),
    [
        ([Effect.IMPROVED], "Yes, beyond chance."),
        ([Effect.NEUTRAL], "Not clearly: the change may be due to chance."),
        ([Effect.IMPAIRED], "No: it makes them worse, beyond chance."),
        ([Effect.IMPROVED] * 2, "Yes, for both models, beyond chance."),
        ([Effect.IMPROVED, Effect.NEUTRAL], "Yes, for 1 of 2 models, beyond chance."),
        (
            [Effect.IMPROVED, Effect.IMPAIRED],
            "Yes, for 1 of 2 models, beyond chance, but 1 gets worse.",
        ),
        ([Effect.IMPAIRED, Effect.NEUTRAL], "No: 1 of 2 models gets worse, beyond chance."),
        ([Effect.IMPAIRED] * 2, "No: both models get worse, beyond chance."),
        ([Effect.NEUTRAL] * 2, "Not clearly: the changes are small or may be due to chance."),
    ],
)
def test_the_effects_on_all_models_make_one_answer(analysis, effects, answer):
    assert text.summarize_gain(with_effects(analysis, *effects)) == answer


def test_a_gain_is_described_by_the_probability_of_the_true_class():
    assert text.describe_gain(make_gain(Effect.IMPROVED)) == (
        "The improvement is beyond chance. On average, the true class gets a probability of 10% "
        "without calibration and 40% with it (geometric mean)."
    )


def test_a_significant_but_negligible_change_is_described_as_such():
    value = Interval(0.3, np.nan, np.nan)
    measure = Measure("log loss", value, value, Change(0.002, 0.001, 0.003, p_value=0.001))
    described = text.describe_gain(Gain(measure, measure))
    assert described.startswith("The change is too small to matter.")


def test_the_recommendation_names_models_that_are_not_clearly_worse(analysis):
    assert text.summarize_recommendation(analysis) == "Model 3, calibrated."
    # Calibrated, both models predict the same.
    assert text.describe_recommendation(analysis) == (
        "It has the lowest log loss of the 2 models. Not clearly worse: model 4, calibrated. "
        "Calibration lowers its log loss."
    )
    best, *others = analysis.ranking
    worse = [replace(other, excess_loss=0.1, p_value=0.01) for other in others]
    described = text.describe_recommendation(replace(analysis, ranking=(best, *worse)))
    assert "Every other model is worse, beyond chance." in described


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (
            (0.25, 0.75),
            "Its calibration is a weighted average of ENIR (75%), no calibration (25%).",
        ),
        ((0.0, 1.0), "It is calibrated by ENIR."),
        ((1.0, 0.0), "Its calibration leaves the probabilities nearly unchanged."),
    ],
)
def test_the_recommendation_names_the_calibrators(analysis, weights, sentence):
    gain = Interval(0.1, 0.0, 0.2)
    report = CalibrationReport(("no calibration", "ENIR"), weights, (1.0, 0.9), gain, 240)
    models = [replace(model, calibration_report=report) for model in analysis.evaluation.models]
    evaluation = replace(analysis.evaluation, models=tuple(models))
    described = text.describe_recommendation(replace(analysis, evaluation=evaluation))
    assert described.endswith(sentence)


def test_the_summary_answers_three_questions(analysis):
    assert text.summarize(analysis).splitlines() == [
        "Can the probabilities be trusted without calibration? No: both models are miscalibrated.",
        "Does calibration improve them? Yes, for both models, beyond chance.",
        "Which model should I use? Model 3, calibrated.",
    ]


def test_the_procedure_states_the_settings(analysis):
    paragraphs = text.describe_procedure(analysis.evaluation, None)
    assert paragraphs[0].startswith(
        "The rows were split at random into 4 stratified folds (seed 0)."
    )
    repeated = replace(analysis.evaluation, n_repeats=3)
    assert "4 stratified folds, 3 times (seed 0)" in text.describe_procedure(repeated, None)[0]
    assert any("12 splits" in each for each in text.describe_procedure(repeated, None))
