from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.metrics import log_loss as sklearn_log_loss

from calibrant.metrics import decompose, expected_calibration_error, reliability_curve
from calibrant.report import Effect, Evaluation, ModelEvaluation, Verdict, analyze
from calibrant.report.analysis import MOST_CHANGED
from calibrant.report.evaluation import MOST_CLASSES


@pytest.fixture(scope="module")
def four_rows():
    """Four rows, each held out twice in two folds, with numbers to check by hand."""
    uncalibrated = np.array([0.9, 0.6, 0.8, 0.1, 0.7, 0.3, 0.4, 0.2])
    calibrated = np.array([0.8, 0.5, 0.75, 0.2, 0.8, 0.25, 0.6, 0.4])
    return Evaluation(
        classes=("no", "yes"),
        y=np.array([0, 0, 1, 1]),
        group=np.arange(4),
        row=np.array([0, 2, 1, 3, 0, 3, 1, 2]),
        split=np.array([0, 0, 1, 1, 2, 2, 3, 3]),
        n_folds=2,
        n_repeats=2,
        models=(
            ModelEvaluation(
                "coin",
                np.column_stack([uncalibrated, 1 - uncalibrated]),
                np.column_stack([calibrated, 1 - calibrated]),
            ),
        ),
        random_state=0,
    )


def test_scores_are_averages_over_rows_and_repeats(four_rows):
    [model] = analyze(four_rows).models
    # Probability of the true class: rows 0, 2, 1, 3, then 0, 3, 1, 2.
    uncalibrated = np.array([0.9, 0.4, 0.8, 0.9, 0.7, 0.7, 0.4, 0.8])
    calibrated = np.array([0.8, 0.5, 0.75, 0.8, 0.8, 0.75, 0.6, 0.6])
    log_loss, brier, accuracy = model.measures[:3]
    assert log_loss.uncalibrated.estimate == pytest.approx(-np.log(uncalibrated).mean())
    assert log_loss.calibrated.estimate == pytest.approx(-np.log(calibrated).mean())
    assert brier.uncalibrated.estimate == pytest.approx(2 * np.mean((1 - uncalibrated) ** 2))
    assert brier.change.estimate == pytest.approx(
        2 * np.mean((1 - calibrated) ** 2 - (1 - uncalibrated) ** 2)
    )
    assert accuracy.uncalibrated.estimate == pytest.approx(6 / 8)
    assert accuracy.calibrated.estimate == pytest.approx(7 / 8)  # ties go to the first class
    assert model.gain.log_loss == log_loss


def test_confusion_is_the_mean_probability_by_true_class(four_rows):
    [model] = analyze(four_rows).models
    # Of "no", rows 0 and 1 get .9, .8, .7, .4, and rows 2 and 3 get .6, .1, .3, .2.
    np.testing.assert_allclose(model.uncalibrated_confusion, [[0.7, 0.3], [0.3, 0.7]])
    np.testing.assert_allclose(model.calibrated_confusion[0, 0], (0.8 + 0.75 + 0.8 + 0.6) / 4)


def test_decisions_are_counted_by_true_class(four_rows):
    [model] = analyze(four_rows).models
    # Mean probabilities of "no": .8, .6, .4, .2 uncalibrated, .8, .675, .45, .225 calibrated.
    assert model.uncalibrated_counts.tolist() == [[2, 0], [0, 2]]
    assert model.calibrated_counts.tolist() == [[2, 0], [0, 2]]


def test_guessing_predicts_the_frequencies_among_the_training_rows(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"))
    skill = analyze(evaluation).models[0].calibrated_skill
    losses, right = [], []
    for split in range(4):
        test = evaluation.row[evaluation.split == split]
        train = np.setdiff1d(np.arange(240), test)
        frequency = (np.bincount(evaluation.y[train], minlength=3) + 0.5) / (len(train) + 1.5)
        losses.extend(-np.log(frequency[evaluation.y[test]]))
        right.extend(evaluation.y[test] == np.bincount(evaluation.y).argmax())
    truth = evaluation.models[0].calibrated
    loss = sklearn_log_loss(evaluation.y_true, truth, labels=[0, 1, 2])
    assert skill.log_loss.estimate == pytest.approx(loss - np.mean(losses))
    assert skill.guess_accuracy == pytest.approx(np.mean(right))
    assert skill.accuracy == pytest.approx(np.mean(truth.argmax(axis=1) == evaluation.y_true))
    assert skill.effect is Effect.IMPROVED


def test_calibrated_probabilities_get_a_verdict_of_their_own(make_evaluation):
    for model in analyze(make_evaluation(("a", "b", "c"), n_rows=300)).models:
        found = model.calibrated_miscalibration
        assert found.verdict in (Verdict.CALIBRATED, Verdict.UNCLEAR)
        assert found.error == model.measures[3].calibrated
        assert (found.n_rows, found.n_groups) == (300, 300)


def test_the_most_changed_rows_come_first(four_rows):
    [model] = analyze(four_rows).models
    np.testing.assert_allclose(model.uncalibrated[:, 0], [0.8, 0.6, 0.4, 0.2])
    np.testing.assert_allclose(model.calibrated[:, 0], [0.8, 0.675, 0.45, 0.225])
    assert model.most_changed.tolist() == [1, 2, 3, 0]
    assert model.most_changed_class(1) == 0
    assert model.intervals is None


def test_the_most_changed_rows_have_intervals_if_their_spread_is_known(four_rows):
    # A relative variance of 0.2 is that of a beta distribution with parameters 4 p and 4 (1 - p).
    known = replace(four_rows.models[0], relative_variance=0.2)
    [model] = analyze(replace(four_rows, models=(known,))).models
    first = beta.ppf([0.025, 0.975], 4 * 0.675, 4 * 0.325)
    np.testing.assert_allclose(model.intervals[0, 0], first)
    np.testing.assert_allclose(model.intervals[:, 1], 1 - model.intervals[:, 0, ::-1])


def test_numbers_agree_with_other_implementations(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"), n_repeats=2)
    first = evaluation.split < 4
    y_true = evaluation.y_true
    for analysis, model in zip(analyze(evaluation).models, evaluation.models, strict=True):
        log_loss, *_, ece = analysis.measures
        value = log_loss.uncalibrated
        assert value.estimate == pytest.approx(
            sklearn_log_loss(y_true, model.uncalibrated, labels=[0, 1, 2])
        )
        assert value.low < value.estimate < value.high
        assert ece.calibrated.estimate == pytest.approx(
            expected_calibration_error(y_true[first], model.calibrated[first])
        )
        for reliability in analysis.reliability:
            of = "top-label" if reliability.class_index is None else reliability.class_index
            curve = reliability_curve(y_true[first], model.uncalibrated[first], of=of)
            np.testing.assert_array_equal(reliability.uncalibrated.observed, curve.observed)
        parts = [
            decompose(y_true[repeat], model.uncalibrated[repeat]) for repeat in (first, ~first)
        ]
        assert analysis.decompositions[0].uncalibrated.refinement == pytest.approx(
            np.mean([part.refinement for part in parts])
        )
        assert analysis.miscalibration.confidence == pytest.approx(
            model.uncalibrated.max(axis=1).mean()
        )


def test_overconfident_models_are_miscalibrated_and_improved(make_evaluation):
    analysis = analyze(make_evaluation(("a", "b", "c"), n_rows=300))
    for model in analysis.models:
        assert model.miscalibration.verdict is Verdict.MISCALIBRATED
        assert model.gain.effect is Effect.IMPROVED
        for score in model.decompositions:
            assert score.uncalibrated.calibration > 0.05 > abs(score.calibrated.calibration)
    assert analysis.best.calibrated
    losses = [ranked.log_loss for ranked in analysis.ranking]
    assert losses == sorted(losses)
    assert analysis.best.p_value == 1
    assert analysis.ranking[-1].is_worse


def test_true_probabilities_are_not_called_miscalibrated(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"), n_rows=300, n_models=1)
    [model] = evaluation.models
    swapped = ModelEvaluation(model.name, model.calibrated, model.uncalibrated)
    [analysis] = analyze(Evaluation(**{**vars(evaluation), "models": (swapped,)})).models
    assert analysis.miscalibration.verdict in (Verdict.CALIBRATED, Verdict.UNCLEAR)
    assert analysis.gain.effect is Effect.IMPAIRED


def test_diagrams_and_listed_rows_are_limited(make_evaluation):
    evaluation = make_evaluation([f"class {i}" for i in range(40)], n_rows=100, n_models=1)
    [model] = analyze(evaluation).models
    assert len(model.reliability) == 1 + MOST_CLASSES
    drawn = [curves.class_index for curves in model.reliability[1:]]
    assert min(evaluation.class_count[drawn]) >= np.sort(evaluation.class_count)[-MOST_CLASSES]
    assert len(model.most_changed) == MOST_CHANGED
    assert model.uncalibrated_confusion.shape == (40, 40)
