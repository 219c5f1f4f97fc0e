import numpy as np
import pytest
from scipy import stats

from calibrant._core.losses import row_log_loss
from calibrant.metrics import log_loss
from calibrant.report import Evaluation, Miscalibration, ModelEvaluation, Verdict
from calibrant.report.statistics import HeldOutStatistics


def test_changes_are_tested_over_splits_with_the_correction_for_their_overlap(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"))
    [model, _] = evaluation.models
    old, new = (row_log_loss(evaluation.y_true, p) for p in (model.uncalibrated, model.calibrated))
    change = HeldOutStatistics(evaluation).change(new, old)
    by_split = [np.mean((new - old)[evaluation.split == split]) for split in range(4)]
    # A quarter of the rows is held out: n_test / n_train is 1 / 3.
    error = np.sqrt((1 / 4 + 1 / 3) * np.var(by_split, ddof=1))
    half = stats.t.ppf(0.975, 3) * error
    assert change.estimate == pytest.approx(np.mean(new - old))
    assert change.low == pytest.approx(change.estimate - half)
    assert change.high == pytest.approx(change.estimate + half)
    assert change.p_value == pytest.approx(2 * stats.t.sf(abs(np.mean(by_split)) / error, 3))


def test_rows_of_a_group_count_as_one(make_evaluation):
    few = make_evaluation(("a", "b", "c"), n_rows=20, n_models=1)
    times = 12
    truth = np.repeat(few.models[0].calibrated, times, axis=0)
    copies = {
        "y": np.repeat(few.y, times),
        "row": np.arange(20 * times).reshape(20, times)[few.row].ravel(),
        "split": np.repeat(few.split, times),
        "models": (ModelEvaluation("copies", truth, truth),),
    }
    ungrouped, grouped = (
        HeldOutStatistics(Evaluation(**{**vars(few), **copies, "group": group}))
        for group in (np.arange(20 * times), np.repeat(np.arange(20), times))
    )
    narrow, wide = (each.interval(log_loss, truth) for each in (ungrouped, grouped))
    assert narrow.estimate == pytest.approx(wide.estimate)
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    # Taken for independent rows, the copies make the test reject the true probabilities.
    assert ungrouped.calibration_p_value(truth) < 0.05 < grouped.calibration_p_value(truth)


def test_few_rows_have_no_interval(make_evaluation):
    evaluation = make_evaluation(("a", "b"), n_rows=8, n_models=1)
    proba = evaluation.models[0].calibrated
    interval = HeldOutStatistics(evaluation).interval(log_loss, proba)
    assert interval.estimate == pytest.approx(log_loss(evaluation.y_true, proba))
    assert np.isnan([interval.low, interval.high]).all()


def hold_out(y, group, n_classes):
    row = np.arange(len(y))
    return HeldOutStatistics(
        Evaluation(tuple(range(n_classes)), y, group, row, np.zeros_like(row), 1, 1, (), 0)
    )


def test_an_error_in_the_less_probable_classes_counts():
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([14.5, 5.24, 0.28], 2000)
    swapped = proba[:, [0, 2, 1]]
    y = (swapped.cumsum(axis=1) > rng.rand(2000, 1)).argmax(axis=1)
    statistics = hold_out(y, np.arange(2000), 3)
    difference = np.abs(proba.mean(axis=0) - np.bincount(y) / 2000)
    top_label, found = statistics.calibration_error(proba), statistics.verdict_error(proba)
    assert top_label.high < 0.06 < 0.2 < difference.max()
    assert found.estimate == pytest.approx(difference.max())
    error = stats.sem(proba - np.eye(3)[y], axis=0)
    half = stats.t.ppf(1 - 0.05 / 6, 1999) * error
    ends = (difference - half).max(), (difference + half).max()
    assert (found.low, found.high) == pytest.approx(ends)
    accuracy = np.mean(proba.argmax(axis=1) == y)
    p_value = statistics.calibration_p_value(proba)
    size = proba.max(axis=1).mean(), accuracy
    assert Miscalibration(*size, top_label, p_value).verdict is not Verdict.MISCALIBRATED
    assert Miscalibration(*size, found, p_value).verdict is Verdict.MISCALIBRATED


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("group_size", [1, 4])
def test_the_interval_of_the_class_error_is_joint_over_classes(n_classes, group_size):
    rng = np.random.RandomState(n_classes)
    n_samples, n_groups = 400, 150
    group = np.repeat(np.arange(n_groups), group_size)
    n_wrong = 0
    for _ in range(n_samples):
        proba = rng.dirichlet(np.ones(n_classes), n_groups)
        y = (proba.cumsum(axis=1) > rng.rand(n_groups, 1)).argmax(axis=1)
        # Rows of a group are copies, so that they count as one.
        statistics = hold_out(y[group], group, n_classes)
        found = statistics.class_mean_error(proba[group], 0.95)
        assert (found.estimate > 0) == (found.low > 0)
        n_wrong += found.low > 0
    assert n_wrong <= stats.binom.ppf(0.999, n_samples, 0.05)


def test_calibrated_probabilities_are_rarely_called_wrong():
    rng = np.random.RandomState(0)
    n_samples, n_rows = 60, 150
    n_wrong = 0
    for _ in range(n_samples):
        proba = rng.dirichlet([0.8] * 3, n_rows)
        y = (proba.cumsum(axis=1) > rng.rand(n_rows, 1)).argmax(axis=1)
        statistics = hold_out(y, np.arange(n_rows), 3)
        found = Miscalibration(
            proba.max(axis=1).mean(),
            np.mean(proba.argmax(axis=1) == y),
            statistics.verdict_error(proba),
            statistics.calibration_p_value(proba),
        )
        n_wrong += found.verdict is Verdict.MISCALIBRATED
    assert n_wrong <= stats.binom.ppf(0.999, n_samples, 0.05)
