import numpy as np
import pytest

from calibrant.calibrators.auto import CalibrationReport
from calibrant.report import find
from calibrant.report import text as words
from calibrant.report.records import Estimate, Fault, Findings, Gain, Measure


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.5, "50 %"),
        (0.004, "< 1 %"),
        (0.9999, "> 99 %"),
        (0.126, "13 %"),
    ],
)
def test_certainty_is_not_rounded_into_being(share, said):
    assert words.percent(share) == said.replace(" ", words.NBSP)


def test_numbers_have_a_proper_minus_and_no_negative_zero():
    assert words.number(-0.25) == "\N{MINUS SIGN}0.250"
    assert words.number(-0.0001) == "0.000"
    assert words.signed(0.1234) == "+0.123"
    assert words.signed(-0.051, is_share=True) == "\N{MINUS SIGN}5.1"


@pytest.mark.parametrize(
    ("value", "said"), [(1e-9, "≤ 0.001"), (0.047, "= 0.047"), (0.4, "= 0.40")]
)
def test_p_values_are_short(value, said):
    assert words.p_value(value) == f"p {said}".replace(" ", words.NBSP)


def test_overconfidence_is_said_in_percent():
    said = words.say_fault(Fault(0.8, 0.51, Estimate(0.3, 0.24, 0.35), 0.001))
    said = said.replace(words.NBSP, " ")
    assert said.startswith("Too sure of itself: its most probable class gets 80 % on average")
    assert "30 points (95 % interval 24 to 35)" in said
    assert said.endswith("more fault than chance explains (p ≤ 0.001).")
    assert words.say_fault(Fault(0.5, 0.7, Estimate(0.2, 0.1, 0.3), 0.001)).startswith("Not sure")
    assert words.say_fault(Fault(0.7, 0.7, Estimate(0.0, 0.0, 0.3), 0.4)).startswith("Its most")


def gain(change, p_value):
    measure = Measure(
        "log loss",
        Estimate(-np.log(0.1)),
        Estimate(-np.log(0.4)),
        Estimate(change, p_value=p_value),
    )
    return Gain(measure, measure)


def test_a_gain_is_said_as_the_probability_of_the_truth():
    said = words.say_gain(gain(-1.4, 0.01)).replace(words.NBSP, " ")
    assert said == (
        "More than luck. What turned out true had been given 10 % before and 40 % after "
        "(geometric mean)."
    )
    assert words.say_gain(gain(-1.4, 0.2)).startswith("No change to speak of")
    assert words.say_gain(gain(1.4, 0.01)).startswith("More than bad luck.")
    # Certain, but of no account.
    assert words.say_gain(gain(0.002, 0.001)).startswith("No change to speak of")


def test_the_answers_are_those_of_the_numbers(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"))
    findings = find(evaluation)
    assert words.say_briefly(findings).splitlines() == [
        "Can the probabilities be trusted as they are? No: the probabilities of both models are "
        "off.",
        "Do they get better with calibration? Yes, for both models, by more than luck.",
        "Which model should I use? Model 3, calibrated.",
    ]
    one = Findings(evaluation, findings.models[:1], findings.contenders)
    assert words.answer_trust(one).startswith("No: they are off")
    assert words.answer_gain(one).startswith("Yes, and by more than luck")


def test_the_choice_names_its_rivals_and_its_calibration(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"))
    choice = CalibrationReport(
        ("no calibration", "temperature scaling"), (0.25, 0.75), (1.0, 0.9), 0.1, (0.0, 0.2), 240
    )
    for model in evaluation.models:
        object.__setattr__(model, "choice", choice)
    said = words.say_choice(find(evaluation)).replace(words.NBSP, " ")
    # Both models are the same once they are calibrated.
    assert said == (
        "It has the lowest log loss of the 4 tried. Not clearly worse: model 4, calibrated. "
        "How it is calibrated: temperature scaling (75 %), no calibration (25 %)."
    )
