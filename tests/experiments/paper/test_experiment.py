import numpy as np
import pytest

from calibrant import CalibratedClassifier
from experiments.paper.experiment import N_TREES
from experiments.registry import EXPERIMENTS


def tasks(experiment, data_set, classifier="nb"):
    """The tasks of the first fold, one per approach."""
    return EXPERIMENTS[experiment].restrict([data_set], [classifier]).list_tasks()[:3]


def test_models_and_calibration_are_timed_separately(paper_data):
    _, one_vs_rest, _ = tasks("paper", "seeds")
    raw, calibrated = EXPERIMENTS["paper"].run(one_vs_rest)
    assert raw.calibration_seconds is None
    assert calibrated.model_seconds == raw.model_seconds > 0
    assert calibrated.calibration_seconds is not None
    assert raw.n_problems == calibrated.n_problems == 3


def test_both_couplings_share_the_models_of_all_pairs(paper_data):
    _, _, all_pairs = tasks("as-published", "ecoli")
    runs = {run.method: run for run in EXPERIMENTS["as-published"].run(all_pairs)}
    assert len(runs) == 4
    for name in ("all_pairs_raw", "all_pairs_dgg_enir"):
        correct, faulty = runs[name], runs[f"{name}_as_published"]
        assert correct.model_seconds == faulty.model_seconds
        assert correct.calibration_seconds == faulty.calibration_seconds
        assert np.abs(correct.proba - faulty.proba).max() > 0.01


def test_published_probabilities_have_no_floor_and_ours_have_one(paper_data):
    _, one_vs_rest, _ = tasks("as-published", "seeds")
    _, published = EXPERIMENTS["as-published"].run(one_vs_rest)
    assert (published.proba == 0).any()
    _, one_vs_rest, _ = tasks("paper", "seeds")
    _, corrected = EXPERIMENTS["paper"].run(one_vs_rest)
    assert corrected.proba.min() > 0


def test_predictions_are_those_of_the_library(paper_data):
    experiment = EXPERIMENTS["paper"]
    _, _, all_pairs = tasks("paper", "seeds")
    split = experiment.split(all_pairs)
    model = CalibratedClassifier(
        split.estimator,
        method="enir",
        strategy="all-pairs",
        cv="monte-carlo",
        random_state=all_pairs.seed,
    )
    expected = model.fit(split.X, split.y).predict_proba(split.X_test)
    run = experiment.run(all_pairs)[-1]
    assert run.method == "all_pairs_dgg_enir"
    np.testing.assert_array_equal(run.proba, expected)
    np.testing.assert_array_equal(run.y_true, split.y_test)


@pytest.mark.parametrize("experiment", ["paper", "as-published"])
def test_folds_partition_the_rows(experiment, paper_data):
    experiment = EXPERIMENTS[experiment].restrict(["seeds"], ["nb"])
    splits = [experiment.split(task) for task in experiment.list_tasks()[::3]]
    assert sum(len(split.y_test) for split in splits) == 210
    assert {len(split.y) + len(split.y_test) for split in splits} == {210}


def test_the_forest_has_as_many_trees_as_in_the_paper(paper_data):
    forest = EXPERIMENTS["paper"].split(tasks("paper", "seeds", "rf")[0]).estimator
    assert forest.get_params()["n_estimators"] == N_TREES == 500


def test_log_losses_are_ranked_on_finished_cases(make_paper_runs, paper_losses):
    runs = make_paper_runs() + make_paper_runs(data_set="ecoli", seed=1)
    unfinished = make_paper_runs(data_set="heart", folds=1)
    losses, titles = EXPERIMENTS["paper"].ranked_losses(runs + unfinished, "equations")
    assert losses.shape == (2, 5)
    assert titles[0] == "multi-class raw"
    method = EXPERIMENTS["paper"].methods[0]
    expected = paper_losses(runs, "equations").mean(runs[0].case, method, "LL")
    assert losses[1, 0] == pytest.approx(expected, abs=1e-6)
