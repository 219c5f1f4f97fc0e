import json
from dataclasses import replace

import pytest

from calibrant.report import Effect, RankedModel, Standing, analyze


@pytest.mark.parametrize(
    ("excess_loss", "p_value", "standing"),
    [
        (0.2, 0.01, Standing.WORSE),
        (0.2, 0.2, Standing.CLOSE),
        (0.002, 0.001, Standing.SAME),
    ],
)
def test_a_ranked_model_is_worse_only_if_the_difference_is_large_enough(
    excess_loss, p_value, standing
):
    ranked = RankedModel(0, "forest", True, 0.5, 0.3, 0.8, excess_loss, p_value)
    assert ranked.standing is standing
    assert ranked.is_worse is (standing is Standing.WORSE)
    assert ranked.is_significant() is (p_value < 0.05)
    assert not ranked.is_significant(0.0001)


def test_an_analysis_converts_to_plain_values_and_prints_its_answers(make_evaluation):
    analysis = analyze(make_evaluation(("a", "b"), n_rows=60, n_models=1))
    content = json.loads(json.dumps(analysis.to_dict()))
    [model] = content["models"]
    assert model["miscalibration"]["verdict"] == analysis.models[0].miscalibration.verdict
    [decision] = content["decisions"]
    assert decision["verdict"] == analysis.recommendation.calibrated.verdict
    assert content["ranking"][0]["log_loss"] == analysis.best.log_loss
    assert len(content["evaluation"]["models"][0]["calibrated"]) == 60
    shown = str(analysis)
    assert "best: model 3, calibrated" in shown
    assert len(shown.splitlines()) < 10


def test_a_decision_is_on_the_probabilities_with_the_lower_log_loss(make_evaluation):
    analysis = analyze(make_evaluation(("a", "b", "c")))
    best, other = analysis.decisions
    assert (best.label, best.standing) == (analysis.best.label, Standing.BEST)
    assert best.miscalibration is analysis.models[best.model].calibrated_miscalibration
    assert best.skill is analysis.models[best.model].calibrated_skill
    swapped = replace(
        analysis, ranking=tuple(replace(each, calibrated=False) for each in analysis.ranking)
    )
    assert swapped.recommendation.miscalibration is analysis.models[best.model].miscalibration
    assert other.standing is Standing.CLOSE


@pytest.mark.parametrize("seed", range(5))
def test_the_effect_of_calibration_and_the_ranking_agree(make_evaluation, seed):
    analysis = analyze(make_evaluation(("a", "b", "c"), n_rows=60, seed=seed))
    best = analysis.recommendation
    [itself] = [
        ranked
        for ranked in analysis.ranking
        if ranked.model == best.model and ranked.calibrated != best.calibrate
    ]
    favors_best = Effect.IMPROVED if best.calibrate else Effect.IMPAIRED
    assert itself.is_worse == (best.gain.effect is favors_best)
