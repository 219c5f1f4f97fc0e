from dataclasses import replace

import numpy as np
import pytest

from calibrant._core.records import Interval
from calibrant.calibrators import CalibrationReport
from calibrant.report import Analysis, Change, Effect, Gain, Measure, Skill, analyze, text
from calibrant.report.formatting import NBSP
from calibrant.report.verdicts import Miscalibration, Tendency, Verdict

# Intervals of the calibration error and p-values that lead to each verdict.
FINDINGS = {
    Verdict.CALIBRATED: (Interval(0.02, 0.0, 0.041), 0.4),
    Verdict.NEARLY_CALIBRATED: (Interval(0.02, 0.01, 0.041), 0.004),
    Verdict.UNCLEAR: (Interval(0.08, 0.0, 0.2), 0.4),
    Verdict.MISCALIBRATED: (Interval(0.3, 0.24, 0.35), 0.001),
}


def make_miscalibration(verdict, confidence=0.71, accuracy=0.7, n_rows=1000, n_groups=1000):
    found = Miscalibration(confidence, accuracy, *FINDINGS[verdict], n_rows, n_groups)
    assert found.verdict is verdict
    return found


def make_gain(log_loss, brier_score):
    values = [Interval(-np.log(proba), np.nan, np.nan) for proba in (0.1, 0.4)]
    return Gain(
        *(
            Measure(name, *values, Change(estimate, np.nan, np.nan, p_value=p_value))
            for name, (estimate, p_value) in (("log loss", log_loss), ("Brier score", brier_score))
        )
    )


def make_skill(accuracy=(0.2, 0.01), scores=(-0.2, 0.01)):
    changes = [Change(each[0], np.nan, np.nan, p_value=each[1]) for each in (accuracy, scores)]
    return Skill(1, 0.5 + accuracy[0], 0.5, changes[0], changes[1], changes[1])


@pytest.fixture(scope="module")
def analysis(make_evaluation):
    return analyze(make_evaluation(("a", "b", "c")))


@pytest.mark.parametrize(
    ("verdict", "answer"),
    [
        (
            Verdict.CALIBRATED,
            "Yes: they are off by about 2 percentage points on average (at most 5, allowing for "
            "chance).",
        ),
        (
            Verdict.NEARLY_CALIBRATED,
            "Nearly: they are off by about 2 percentage points on average (at most 5, allowing for "
            "chance).",
        ),
        (
            Verdict.MISCALIBRATED,
            "No: they are off by about 30 percentage points on average (at most 35, allowing for "
            "chance).",
        ),
        (
            Verdict.UNCLEAR,
            "Cannot tell: with only 1,000 rows, the average error could be as large as 20 "
            "percentage points. About 25,000 more rows would show whether it is at most 5.",
        ),
    ],
)
def test_every_verdict_is_answered_with_its_sizes(verdict, answer):
    assert text.answer_trust(make_miscalibration(verdict)) == answer


def test_a_doubt_comes_first_and_more_rows_do_not_settle_it():
    answer = text.answer_trust(make_miscalibration(Verdict.UNCLEAR), "first look again.")
    assert answer == (
        "Not yet: first look again. On these rows: with only 1,000 rows, the average error could "
        "be as large as 20 percentage points."
    )
    bad = text.answer_trust(make_miscalibration(Verdict.MISCALIBRATED), "first look again.")
    assert bad.startswith("No: first look again. On these rows: they are off by about 30 ")


def test_groups_are_asked_for_if_rows_belong_to_groups():
    found = make_miscalibration(Verdict.UNCLEAR, n_groups=100)
    assert text.answer_trust(found).startswith("Cannot tell: with only 100 groups, the average")
    assert text.answer_trust(found).endswith(
        "About 2,500 more groups would show whether it is at most 5."
    )


def test_a_miscalibration_that_cannot_be_measured_is_described_as_such():
    found = Miscalibration(0.71, 0.7, Interval(0.0, 0.0, 0.08), 0.01, 60, 60)
    assert text.answer_trust(found).startswith(
        "Cannot tell: they are off, but with only 60 rows, the average error may be anything up "
        "to 8 percentage points."
    )


def test_without_an_interval_no_largest_error_is_given():
    found = Miscalibration(0.8, 0.7, Interval(0.1, np.nan, np.nan), 0.01)
    assert text.answer_trust(found) == (
        "No: they are too confident, off by about 10 percentage points on average."
    )
    unclear = replace(found, p_value=0.2)
    assert text.answer_trust(unclear) == "Cannot tell: there are too few rows."


@pytest.mark.parametrize("p_value", [0.001, 0.04, 0.2])
@pytest.mark.parametrize("gap", [-0.2, -0.03, 0.0, 0.03, 0.2])
@pytest.mark.parametrize("error", [(0.0, 0.0, 0.04), (0.0, 0.0, 0.2), (0.1, 0.0, 0.2)])
def test_a_named_tendency_never_comes_with_an_error_of_0(p_value, gap, error):
    found = Miscalibration(0.7 + gap, 0.7, Interval(*error), p_value, 300, 300)
    answer = text.answer_trust(found)
    named = "too confident" in answer or "not confident enough" in answer
    assert named == (found.tendency is not Tendency.NEITHER and "Cannot tell" not in answer)
    if named:
        assert "less than 1" not in answer
        assert f"{100 * abs(gap):.0f}" in answer or found.error.estimate > abs(gap)
    assert not (answer.startswith("No") and "less than 1" in answer)


def test_the_test_and_the_interval_behind_a_verdict_are_described():
    found = make_miscalibration(Verdict.MISCALIBRATED, 0.8, 0.51)
    assert text.describe_miscalibration(found).replace(NBSP, " ") == (
        "The most probable class gets a probability of 80% on average and is right 51% of the "
        "time. The probabilities are off by about 30 percentage points on average (95% interval: "
        "24 to 35). A test across all classes finds miscalibration beyond chance (p ≤ 0.001)."
    )


@pytest.mark.parametrize("high", [0.071, 0.075, 0.079])
@pytest.mark.parametrize("p_value", [0.001, 0.5])
def test_the_largest_error_is_the_same_number_in_all_sentences(high, p_value):
    error = Interval(0.04, 0.0, high)
    found = Miscalibration(0.9, 0.87, error, p_value, n_rows=300, n_groups=300)
    answer = text.answer_trust(found)
    assert "(at most 8, " in answer or "as large as 8 percentage points" in answer
    assert "(95% interval: 0 to 8)" in text.describe_miscalibration(found)


@pytest.mark.parametrize(
    ("skill", "ending"),
    [
        (make_skill(), "right 50% of the time."),
        (
            make_skill(accuracy=(0.02, 0.4)),
            "The difference may be chance, but its probabilities tell more than the class "
            "frequencies do.",
        ),
        (
            make_skill(accuracy=(-0.02, 0.4), scores=(-0.01, 0.4)),
            "So it is not right more often, and its probabilities are not clearly better than the "
            "class frequencies.",
        ),
        (
            make_skill(accuracy=(0.001, 0.4)),
            "So it is right about as often, but its probabilities tell more than the class "
            "frequencies do.",
        ),
        (
            make_skill(scores=(-0.01, 0.4)),
            "Its probabilities, however, are not clearly better than the class frequencies.",
        ),
    ],
)
def test_guessing_is_compared_by_accuracy_and_by_probabilities(skill, ending):
    answer = text.answer_skill(skill, ["a", "b"])
    assert answer.startswith(f"It is right {skill.accuracy:.0%} of the time. Always guessing 'b' ")
    assert answer.endswith(ending)


def test_a_class_named_like_the_target_is_told_apart():
    answer = text.answer_skill(make_skill(), ["n", "y"], "y")
    assert "Always guessing 'y = y' would be right" in answer
    assert "Always guessing 'y' would" in text.answer_skill(make_skill(), ["n", "y"], "outcome")


@pytest.fixture(scope="module")
def hopeless(analysis):
    chance = make_skill(scores=(-0.1, 0.2))
    models = [replace(model, calibrated_skill=chance) for model in analysis.models]
    return Analysis(analysis.evaluation, tuple(models), analysis.ranking)


def test_no_model_is_recommended_if_none_is_better_than_guessing(analysis, hopeless):
    assert text.answer_model(analysis) == "Model 3, calibrated."
    assert text.answer_model(hopeless) == "None yet: the closest is model 3, calibrated."
    assert text.describe_recommendation(hopeless).startswith("The closest is model 3, calibrated.")


@pytest.mark.parametrize(
    ("points", "answer"),
    [
        (["rows are repeated"], "Rows are repeated (see above)."),
        (["a is so", "b too"], "A is so; b too (see above)."),
    ],
)
def test_the_points_of_the_warnings_are_repeated(points, answer):
    assert text.answer_data(points, has_repeats=False) == answer


def test_the_label_of_a_model_is_explained(analysis):
    best = analysis.recommendation
    assert text.explain_label(best).startswith("Calibrated: corrected")
    assert text.explain_label(replace(best, calibrate=False)) == "Uncalibrated: not corrected."


def test_a_model_no_better_than_guessing_is_warned_of(analysis, hopeless):
    assert text.warn_of_guessing(analysis) == ""
    assert text.warn_of_guessing(hopeless, "mood") == (
        "No model is clearly better at predicting 'mood' than guessing by the class frequencies, "
        "as far as 240 rows can tell. Look for columns that say more about it, or add rows."
    )


@pytest.mark.parametrize(
    ("log_loss", "brier_score", "badge", "sentence"),
    [
        ((-0.2, 0.01), (-0.1, 0.2), "Better", "Calibration makes them better, beyond chance."),
        ((0.2, 0.01), (0.1, 0.2), "Worse", "Calibration makes them worse, beyond chance."),
        (
            (-0.2, 0.3),
            (-0.1, 0.2),
            "May be chance",
            "Calibration makes them better on these rows, but that may be chance.",
        ),
        (
            (0.001, 0.01),
            (0.001, 0.01),
            "Hardly any change",
            "Calibration hardly changes them.",
        ),
        (
            (-0.2, 0.01),
            (0.1, 0.2),
            "Mixed",
            "Calibration lowers the log loss but raises the Brier score.",
        ),
    ],
)
def test_every_effect_of_calibration_has_a_badge_and_a_sentence(
    log_loss, brier_score, badge, sentence
):
    gain = make_gain(log_loss, brier_score)
    assert text.badge_effect(gain) == badge
    assert text.describe_effect(gain) == sentence
    assert (gain.effect is Effect.NEUTRAL) == (badge not in ("Better", "Worse"))


def test_a_gain_is_described_by_the_probability_of_the_true_class():
    assert text.describe_gain(make_gain((-1.4, 0.01), (-1.4, 0.01))) == (
        "On average, the true class gets a probability of 10% without calibration and 40% with it "
        "(geometric mean)."
    )


def test_the_recommendation_names_models_that_are_about_as_good(analysis):
    # Calibrated, both models predict the same.
    assert text.describe_recommendation(analysis) == (
        "Of 2 models, its probabilities are closest to what happened. About as good: model 4, "
        "calibrated."
    )
    best, *others = analysis.ranking
    worse = [replace(other, excess_loss=0.1, p_value=0.01) for other in others]
    described = text.describe_recommendation(replace(analysis, ranking=(best, *worse)))
    assert "closest to what happened; the other is worse, beyond chance." in described


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
def test_the_calibrators_are_named_by_weight(weights, sentence):
    gain = Interval(0.1, 0.0, 0.2)
    report = CalibrationReport(("no calibration", "ENIR"), weights, (1.0, 0.9), gain, 240)
    assert text.describe_calibration(report) == sentence


def test_the_summary_answers_the_questions_after_the_warnings(analysis):
    first, *answers = text.summarize(analysis, ["Some rows\nare repeated."]).splitlines()
    assert first == "Warning: Some rows are repeated."
    best = analysis.recommendation
    assert answers == [
        "Which model? Model 3, calibrated.",
        f"Can I trust its probabilities? {text.answer_trust(best.calibrated)}",
        f"Compared with guessing? {text.answer_skill(best.skill, 'abc')}",
    ]
