import json

import pytest

from calibrant._core.records import Interval
from calibrant.report import analyze
from calibrant.report.records import (
    Change,
    Effect,
    Gain,
    Measure,
    Miscalibration,
    RankedModel,
    Verdict,
)


@pytest.mark.parametrize(
    ("p_value", "high", "verdict"),
    [
        (0.01, 0.2, Verdict.MISCALIBRATED),
        (0.01, 0.04, Verdict.NEARLY_CALIBRATED),
        (0.3, 0.2, Verdict.UNCLEAR),
        (0.3, 0.04, Verdict.CALIBRATED),
    ],
)
def test_the_verdict_depends_on_the_test_and_on_the_interval(p_value, high, verdict):
    miscalibration = Miscalibration(0.8, 0.7, Interval(0.02, 0.0, high), p_value)
    assert miscalibration.verdict is verdict
    assert miscalibration.to_dict()["verdict"] == verdict


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
    ("excess_loss", "p_value", "is_worse"),
    [(0.2, 0.01, True), (0.2, 0.2, False), (0.002, 0.001, False)],
)
def test_a_ranked_model_is_worse_only_if_the_difference_is_large_enough(
    excess_loss, p_value, is_worse
):
    ranked = RankedModel(0, "forest", True, 0.5, 0.3, 0.8, excess_loss, p_value)
    assert ranked.is_worse is is_worse
    assert ranked.is_significant() is (p_value < 0.05)
    assert not ranked.is_significant(0.0001)


def test_an_analysis_converts_to_plain_values_and_prints_its_answers(make_evaluation):
    analysis = analyze(make_evaluation(("a", "b"), n_rows=60, n_models=1))
    content = json.loads(json.dumps(analysis.to_dict()))
    [model] = content["models"]
    assert model["miscalibration"]["verdict"] == analysis.models[0].miscalibration.verdict
    assert content["ranking"][0]["log_loss"] == analysis.best.log_loss
    assert len(content["evaluation"]["models"][0]["calibrated"]) == 60
    shown = str(analysis)
    assert "best: model 3, calibrated" in shown
    assert len(shown.splitlines()) < 10
