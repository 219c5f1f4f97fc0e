import numpy as np
import pytest
from scipy import stats

from calibrant._core.losses import row_log_loss
from calibrant.metrics import log_loss
from calibrant.report import Evaluation, ModelEvaluation
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
