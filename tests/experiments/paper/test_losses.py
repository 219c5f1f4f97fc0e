from dataclasses import replace

import numpy as np
import pytest

from calibrant.metrics import brier_score, log_loss, published_mse
from experiments.paper.losses import PaperLosses, fold_metric
from experiments.paper.methods import METHODS
from experiments.store import Case

SEEDS = Case("nb", "seeds")
RAW, ALL_PAIRS_RAW = METHODS["multiclass_raw"], METHODS["all_pairs_raw"]


def test_runs_of_two_experiments_are_refused(make_paper_runs):
    smoke = make_paper_runs(experiment="smoke", n_folds=3)
    with pytest.raises(ValueError, match="got paper with 10 folds and smoke with 3 folds"):
        PaperLosses(make_paper_runs() + smoke, METHODS.values(), "published")


def test_only_folds_on_which_all_methods_have_run_count(make_paper_runs, paper_losses):
    runs = [
        run
        for run in make_paper_runs(folds=4)
        if run.fold < 2 or run.method != "all_pairs_dgg_enir"
    ]
    losses = paper_losses(runs)
    raw = [run for run in runs if run.method == RAW.name]
    mean = np.mean([published_mse(run.y_true, run.proba) for run in raw[:2]])
    assert losses.folds(SEEDS) == [0, 1]
    assert losses.mean(SEEDS, RAW, "MSE") == pytest.approx(mean)
    assert losses.finished_cases == []
    assert losses.describe_unfinished() == "naive Bayes on seeds (2 of 10 folds)"


def test_a_case_without_a_common_fold_has_no_mean(make_paper_runs, paper_losses):
    losses = paper_losses([run for run in make_paper_runs() if run.method == RAW.name])
    assert losses.folds(SEEDS) == []
    assert np.isnan(losses.mean(SEEDS, RAW, "MSE"))


def test_unfinished_cases_and_missing_values_are_not_compared(make_paper_runs, paper_losses):
    arguments = (SEEDS, ALL_PAIRS_RAW, RAW, "LL", "paired")
    assert paper_losses(make_paper_runs()).compare(*arguments) is not None
    assert paper_losses(make_paper_runs(folds=9)).compare(*arguments) is None
    runs = make_paper_runs()
    runs[3] = replace(runs[3], proba=runs[3].proba * np.nan)
    assert runs[3].method == ALL_PAIRS_RAW.name
    assert paper_losses(runs).compare(*arguments) is None


def test_losses_that_differ_by_rounding_error_do_not_differ(make_paper_runs, paper_losses):
    runs = make_paper_runs()
    raw = {run.fold: run for run in runs if run.method == RAW.name}
    runs = [
        replace(run, proba=raw[run.fold].proba * (1 + 1e-9))
        if run.method == ALL_PAIRS_RAW.name
        else run
        for run in runs
    ]
    comparison = paper_losses(runs).compare(SEEDS, ALL_PAIRS_RAW, RAW, "LL", "paired")
    assert (comparison.difference, comparison.p_value) == (0.0, 1.0)


def test_a_zero_that_rounding_made_negative_is_a_zero(make_run):
    run = make_run()
    proba = run.proba.copy()
    proba[0] = [0.4, 0.6, 0.0]
    clean = replace(run, proba=proba.copy())
    proba[0, 2] = -1e-17
    rounded = replace(run, proba=proba)
    for metric, function in (("MSE", brier_score), ("LL", log_loss)):
        expected = function(clean.y_true, clean.proba)
        assert fold_metric(rounded, metric, "equations") == pytest.approx(expected, rel=1e-12)


def test_negative_probabilities_have_only_the_published_metrics(make_run):
    run = make_run()
    improper = replace(run, proba=run.proba.copy())
    improper.proba[0] = [-1e-6, 0.5, 0.5 + 1e-6]
    assert np.isnan(fold_metric(improper, "LL", "equations"))
    assert np.isfinite(fold_metric(improper, "LL", "published"))
