import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import log_loss as sklearn_log_loss

from calibrant.metrics import expected_calibration_error, reliability_curve
from calibrant.report import Evaluation, ModelEvaluation, find
from calibrant.report.analysis import MOST_CHANGED, MOST_CLASSES
from calibrant.report.records import (
    Effect,
    Estimate,
    Fault,
    Gain,
    Measure,
    Trust,
)


@pytest.fixture(scope="module")
def four_rows():
    """Four rows, each held out twice in two folds; numbers to be checked by hand."""
    y = np.array([0, 0, 1, 1])
    row = np.array([0, 2, 1, 3, 0, 3, 1, 2])
    split = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    before_0 = np.array([0.9, 0.6, 0.8, 0.1, 0.7, 0.3, 0.4, 0.2])
    after_0 = np.array([0.8, 0.5, 0.75, 0.2, 0.8, 0.25, 0.6, 0.4])
    return Evaluation(
        classes=("no", "yes"),
        y=y,
        unit=np.arange(4),
        row=row,
        split=split,
        n_folds=2,
        n_repeats=2,
        models=(
            ModelEvaluation(
                "coin",
                np.column_stack([before_0, 1 - before_0]),
                np.column_stack([after_0, 1 - after_0]),
            ),
        ),
        seed=0,
    )


def test_scores_are_means_over_rows_and_repeats(four_rows):
    model = find(four_rows).models[0]
    # Probability of the truth: rows 0, 2, 1, 3 and again 0, 3, 1, 2.
    before = np.array([0.9, 0.4, 0.8, 0.9, 0.7, 0.7, 0.4, 0.8])
    after = np.array([0.8, 0.5, 0.75, 0.8, 0.8, 0.75, 0.6, 0.6])
    log_loss, brier, right = model.measures[:3]
    assert log_loss.before.value == pytest.approx(-np.log(before).mean())
    assert log_loss.after.value == pytest.approx(-np.log(after).mean())
    assert brier.before.value == pytest.approx(2 * np.mean((1 - before) ** 2))
    assert brier.change.value == pytest.approx(2 * np.mean((1 - after) ** 2 - (1 - before) ** 2))
    assert right.before.value == pytest.approx(6 / 8)
    assert right.after.value == pytest.approx(7 / 8)  # a tie goes to the first class, "no"
    assert np.isnan(log_loss.before.low)  # four rows have no interval


def test_the_change_is_tested_split_by_split(four_rows):
    change = find(four_rows).models[0].gain.log_loss.change
    before = -np.log([[0.9, 0.4], [0.8, 0.9], [0.7, 0.7], [0.4, 0.8]]).mean(axis=1)
    after = -np.log([[0.8, 0.5], [0.75, 0.8], [0.8, 0.75], [0.6, 0.6]]).mean(axis=1)
    difference = after - before
    # Half of the rows are tested, half trained on: n_test / n_train is 1.
    error = np.sqrt((1 / 4 + 1) * difference.var(ddof=1))
    assert change.value == pytest.approx(difference.mean())
    assert change.p_value == pytest.approx(2 * stats.t.sf(abs(difference.mean()) / error, 3))
    half = stats.t.ppf(0.975, 3) * error
    assert (change.low, change.high) == pytest.approx(
        (difference.mean() - half, difference.mean() + half)
    )


def test_confusion_is_the_mean_probability_by_true_class(four_rows):
    model = find(four_rows).models[0]
    np.testing.assert_allclose(
        model.before_confusion, [[0.7, 0.3], [0.3, 0.7]]
    )  # rows 0, 1: .9 .8 .7 .4; rows 2, 3: .6 .1 .3 .2 of "no"
    np.testing.assert_allclose(model.after_confusion[0, 0], (0.8 + 0.75 + 0.8 + 0.6) / 4)


def test_rows_that_changed_most_come_first(four_rows):
    model = find(four_rows).models[0]
    # Means of "no" before: 0.8, 0.6, 0.4, 0.2; after: 0.8, 0.675, 0.45, 0.225.
    np.testing.assert_allclose(model.before[:, 0], [0.8, 0.6, 0.4, 0.2])
    np.testing.assert_allclose(model.after[:, 0], [0.8, 0.675, 0.45, 0.225])
    assert model.changed.tolist() == [1, 2, 3, 0]


def test_numbers_agree_with_other_implementations(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"), n_repeats=2)
    findings = find(evaluation)
    first = evaluation.split < 4
    for own, model in zip(findings.models, evaluation.models, strict=True):
        log_loss = own.measures[0]
        assert log_loss.before.value == pytest.approx(
            sklearn_log_loss(evaluation.true, model.before, labels=[0, 1, 2])
        )
        assert own.measures[-1].after.value == pytest.approx(
            expected_calibration_error(evaluation.true[first], model.after[first])
        )
        assert log_loss.before.low < log_loss.before.value < log_loss.before.high
        for reliability in own.reliability:
            view = "top-label" if reliability.of is None else reliability.of
            curve = reliability_curve(evaluation.true[first], model.before[first], of=view)
            np.testing.assert_array_equal(reliability.before.observed, curve.observed)
            assert reliability.before.count.sum() == 240
            assert reliability.after_count.sum() == 240
        for before, after in own.parts.values():
            assert before.total == pytest.approx(before.calibration + before.refinement)
            assert before.calibration > 0.05 > abs(after.calibration)
        assert own.fault.confidence == pytest.approx(model.before.max(axis=1).mean())
        assert own.fault.trust is Trust.no
        assert own.gain.effect is Effect.better


def test_the_true_probabilities_win_and_are_not_faulted(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"), n_rows=300)
    swapped = [
        ModelEvaluation(model.name, model.after, model.before) for model in evaluation.models[:1]
    ]
    truthful = Evaluation(**{**vars(evaluation), "models": tuple(swapped)})
    [model] = find(truthful).models
    assert model.fault.p_value > 0.05
    assert model.fault.trust in (Trust.yes, Trust.unclear)
    assert model.gain.effect is Effect.worse
    findings = find(evaluation)
    assert findings.best.calibrated
    assert findings.name(findings.best).endswith("calibrated")
    losses = [own.log_loss for own in findings.contenders]
    assert losses == sorted(losses)
    assert findings.contenders[0].p_value == 1
    assert findings.contenders[-1].p_value < 0.05


def test_rows_of_a_group_count_as_one(make_evaluation):
    few = make_evaluation(("a", "b", "c"), n_rows=20, n_models=1)
    times = 12  # each row comes so often, as copies of it
    copies = {
        "y": np.repeat(few.y, times),
        "row": np.arange(20 * times).reshape(20, times)[few.row].ravel(),
        "split": np.repeat(few.split, times),
        "models": tuple(
            ModelEvaluation(own.name, *(np.repeat(own.after, times, axis=0) for _ in range(2)))
            for own in few.models
        ),
    }
    alone = Evaluation(**{**vars(few), **copies, "unit": np.arange(20 * times)})
    grouped = Evaluation(**{**vars(few), **copies, "unit": np.repeat(np.arange(20), times)})
    [alone], [grouped] = find(alone).models, find(grouped).models
    assert grouped.gain.log_loss.before.value == pytest.approx(alone.gain.log_loss.before.value)
    assert width(grouped) > 2 * width(alone)
    # The true probabilities: taken for independent, the copies raise a false alarm.
    assert alone.fault.p_value < 0.05 < grouped.fault.p_value


def width(model):
    return model.gain.log_loss.before.high - model.gain.log_loss.before.low


def test_many_classes_and_rows_are_cut_to_what_a_page_holds(make_evaluation):
    evaluation = make_evaluation([f"class {i}" for i in range(40)], n_rows=100, n_models=1)
    [model] = find(evaluation).models
    assert len(model.reliability) == 1 + MOST_CLASSES
    assert len(model.changed) == MOST_CHANGED
    assert model.before_confusion.shape == (40, 40)


def fault(p_value, high):
    return Fault(0.8, 0.7, Estimate(0.02, 0.0, high), p_value)


@pytest.mark.parametrize(
    ("p_value", "high", "trust"),
    [
        (0.01, 0.2, Trust.no),
        (0.01, 0.04, Trust.nearly),
        (0.3, 0.2, Trust.unclear),
        (0.3, 0.04, Trust.yes),
    ],
)
def test_trust_needs_both_a_test_and_a_small_error(p_value, high, trust):
    assert fault(p_value, high).trust is trust


def gain(*changes):
    measures = [
        Measure(name, Estimate(1.0), Estimate(1.0 + value), Estimate(value, p_value=p_value))
        for name, (value, p_value) in zip(("log loss", "Brier score"), changes, strict=True)
    ]
    return Gain(*measures)


@pytest.mark.parametrize(
    ("log_loss", "brier", "effect"),
    [
        ((-0.3, 0.01), (-0.1, 0.2), Effect.better),
        ((-0.3, 0.2), (-0.1, 0.01), Effect.better),
        ((-0.3, 0.2), (-0.1, 0.2), Effect.same),
        ((-0.3, 0.01), (0.1, 0.2), Effect.same),
        ((0.3, 0.01), (0.1, 0.2), Effect.worse),
    ],
)
def test_an_effect_needs_one_score_to_be_sure_and_none_to_contradict(log_loss, brier, effect):
    assert gain(log_loss, brier).effect is effect
