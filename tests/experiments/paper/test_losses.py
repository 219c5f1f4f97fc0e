from dataclasses import replace

import numpy as np
import pytest

from calibrant.metrics import brier_score, log_loss, published_mse
from experiments.paper.losses import Measures, fold_metric, published_value


def test_runs_of_two_suites_are_no_measures_together(make_runs):
    with pytest.raises(ValueError, match="Got proper with 3 folds and proper with 10 folds"):
        Measures(make_runs() + make_runs(n_folds=3), "published")
    with pytest.raises(ValueError, match="Got as-published with 10 folds and proper"):
        Measures(make_runs() + make_runs(protocol="as-published"), "published")


def test_only_folds_on_which_all_scenarios_are_done_count(make_runs):
    runs = [
        run for run in make_runs(folds=4) if run.fold < 2 or run.scenario != "all_pairs_dgg_enir"
    ]
    measures = Measures(runs, "published")
    own = [run for run in runs if run.scenario == "multiclass_raw"]
    mean = np.mean([published_mse(run.true, run.proba) for run in own[:2]])
    assert measures.folds("nb", "seeds") == [0, 1]
    assert measures.mean("nb", "seeds", "multiclass_raw", "MSE") == pytest.approx(mean)
    assert measures.finished_sets("nb") == []
    assert measures.unfinished() == "naive Bayes on seeds (2 of 10 folds)"


def test_what_is_not_finished_or_has_no_number_is_not_compared(make_runs):
    arguments = ("nb", "seeds", "all_pairs_raw", "multiclass_raw", "LL", "paired")
    assert Measures(make_runs(), "published").compare(*arguments) is not None
    assert Measures(make_runs(folds=9), "published").compare(*arguments) is None
    runs = make_runs()
    runs[3] = replace(runs[3], proba=runs[3].proba * np.nan)
    assert runs[3].scenario == "all_pairs_raw"
    assert Measures(runs, "published").compare(*arguments) is None


def test_losses_that_differ_by_rounding_do_not_differ(make_runs):
    runs = make_runs()
    by_place = {(run.scenario, run.fold): run for run in runs}
    for place, run in enumerate(runs):
        if run.scenario == "all_pairs_raw":
            proba = by_place["multiclass_raw", run.fold].proba * (1 + 1e-9)
            runs[place] = replace(run, proba=proba)
    comparison = Measures(runs, "published").compare(
        "nb", "seeds", "all_pairs_raw", "multiclass_raw", "LL", "paired"
    )
    assert (comparison.difference, comparison.p_value) == (0.0, 1.0)


def test_a_zero_that_rounding_made_negative_is_a_zero(make_runs):
    run = make_runs()[0]
    proba = run.proba.copy()
    proba[0] = [0.4, 0.6, 0.0]
    clean = replace(run, proba=proba.copy())
    proba[0, 2] = -1e-17
    rounded = replace(run, proba=proba)
    for metric, function in (("MSE", brier_score), ("LL", log_loss)):
        expected = function(clean.true, clean.proba)
        assert fold_metric(rounded, metric, "equations") == pytest.approx(expected, rel=1e-12)


def test_rows_that_are_no_probabilities_have_only_published_metrics(make_runs):
    run = make_runs()[0]
    improper = replace(run, proba=run.proba.copy())
    improper.proba[0] = [-1e-6, 0.5, 0.5 + 1e-6]
    assert np.isnan(fold_metric(improper, "LL", "equations"))
    assert np.isfinite(fold_metric(improper, "LL", "published"))


def test_published_values_and_dashes():
    assert published_value("nb", "seeds", "all_pairs_raw_as_published", "LL").value == 0.848
    assert published_value("nb", "steel", "all_pairs_raw", "MSE").value is None
    assert published_value("rf", "pendigits", "one_vs_rest_dgg_enir", "LL").is_significant
