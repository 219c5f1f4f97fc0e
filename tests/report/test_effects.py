import pytest

from calibrant._core.records import Interval
from calibrant.report import Change, Doubt, Effect, Gain, Measure, Skill


def make_gain(*changes):
    value = Interval(1.0, 0.9, 1.1)
    measures = [
        Measure(name, value, value, Change(estimate, estimate, estimate, p_value=p_value))
        for name, (estimate, p_value) in zip(("log loss", "Brier score"), changes, strict=True)
    ]
    return Gain(*measures)


@pytest.mark.parametrize(
    ("log_loss", "brier_score", "effect"),
    [
        ((-0.3, 0.01), (-0.1, 0.2), Effect.IMPROVED),
        ((-0.3, 0.2), (-0.1, 0.01), Effect.IMPROVED),
        ((-0.3, 0.2), (-0.1, 0.2), Effect.NEUTRAL),
        ((-0.3, 0.01), (0.1, 0.2), Effect.NEUTRAL),
        ((-0.004, 0.001), (-0.001, 0.001), Effect.NEUTRAL),  # significant but negligible
        ((0.3, 0.01), (0.1, 0.2), Effect.IMPAIRED),
    ],
)
def test_an_effect_requires_one_significant_score_and_no_contradiction(
    log_loss, brier_score, effect
):
    gain = make_gain(log_loss, brier_score)
    assert gain.is_significant() is (min(log_loss[1], brier_score[1]) < 0.05)
    assert gain.is_significant(0.5)
    assert gain.effect is effect
    assert gain.to_dict()["effect"] == effect


@pytest.mark.parametrize(
    ("log_loss", "brier_score", "doubt"),
    [
        ((-0.3, 0.01), (-0.1, 0.2), None),
        ((0.3, 0.01), (0.1, 0.2), None),
        ((-0.004, 0.001), (-0.001, 0.001), Doubt.NEGLIGIBLE),
        ((-0.3, 0.2), (-0.1, 0.2), Doubt.CHANCE),
        ((-0.3, 0.01), (0.1, 0.2), Doubt.DISAGREEMENT),
    ],
)
def test_a_neutral_effect_has_a_reason(log_loss, brier_score, doubt):
    gain = make_gain(log_loss, brier_score)
    assert gain.doubt is doubt
    assert gain.to_dict()["doubt"] == doubt


@pytest.mark.parametrize(
    ("change", "is_more_often_right"),
    [((0.1, 0.01), True), ((0.1, 0.2), False), ((-0.1, 0.01), False)],
)
def test_a_model_is_right_more_often_only_beyond_chance(change, is_more_often_right):
    estimate, p_value = change
    better = Change(-0.2, -0.3, -0.1, p_value=0.01)
    accuracy = Change(estimate, -1, 1, p_value=p_value)
    skill = Skill(0, 0.8, 0.8 - estimate, accuracy, better, better)
    assert skill.is_more_often_right is is_more_often_right
    assert skill.effect is Effect.IMPROVED
