from dataclasses import replace

import numpy as np
import pytest

from experiments.arena.methods import GENERAL_METHODS, METHODS, PAPER_METHODS
from experiments.arena.peers import SVM_PEERS
from experiments.registry import EXPERIMENTS
from experiments.runner import find_pending, run_experiment
from experiments.store import Store

FEW = ("raw", "auto")


def first_task(experiment):
    return experiment.list_tasks()[0]


@pytest.fixture
def arena(paper_data):
    """The arena on Seeds with naive Bayes and few methods."""
    small = replace(EXPERIMENTS["arena"], methods=FEW)
    return small.restrict(["seeds"], ["nb"])


def fail(given):
    raise RuntimeError("this method does not work")


def return_nan(given):
    return np.full((len(given.X_test), len(np.unique(given.y))), np.nan)


def test_the_error_of_a_failed_method_is_recorded(arena, monkeypatch, tmp_path):
    monkeypatch.setitem(METHODS, "failing", fail)
    monkeypatch.setitem(METHODS, "without numbers", return_nan)
    experiment = replace(arena, methods=(*FEW, "failing", "without numbers"))
    runs = experiment.run(first_task(experiment))
    errors = {run.method: run.error for run in runs}
    assert errors == {
        "raw": None,
        "auto": None,
        "failing": "RuntimeError: this method does not work",
        "without numbers": "The probabilities are missing or not finite.",
    }
    with Store(tmp_path / "store.sqlite") as store:
        store.add(runs)
        stored = {run.method: run for run in store.runs("arena")}
    assert {name: run.error for name, run in stored.items()} == errors
    assert stored["failing"].proba.shape == stored["without numbers"].proba.shape == (0, 3)


def test_an_arena_of_50_rows_trains_on_50_and_resumes(tmp_path, paper_data):
    experiment = replace(EXPERIMENTS["arena-50"], methods=FEW).restrict(["seeds"], ["nb"])
    assert len(experiment.split(first_task(experiment)).y) == 50
    with Store(tmp_path / "store.sqlite") as store:
        run_experiment(experiment, store)
        assert find_pending(experiment, store) == []
        runs = store.runs("arena-50")
    assert len(runs) == 2 * experiment.n_folds
    # Seeds has 210 rows, of which 50 were trained on.
    assert {len(run.y_true) for run in runs} == {160}


def test_draws_differ_and_methods_share_the_rows_of_a_draw(paper_data):
    experiment = replace(EXPERIMENTS["arena-100"], methods=FEW).restrict(["seeds"], ["nb"])
    first, second = (experiment.run(task) for task in experiment.list_tasks()[:2])
    np.testing.assert_array_equal(first[0].y_true, first[1].y_true)
    assert not np.array_equal(first[0].proba, second[0].proba)


@pytest.mark.parametrize("data_set", ["yeast", "abalone"])
def test_25_rows_of_many_classes_can_be_drawn(data_set, paper_data):
    experiment = replace(EXPERIMENTS["arena-25"], methods=FEW).restrict([data_set], ["nb"])
    split = experiment.split(first_task(experiment))
    assert len(split.y) == 25
    # The rarest classes may be missing; the others are numbered without gaps.
    assert set(split.y_test) <= set(split.y) == set(range(split.y.max() + 1))
    assert [run.error for run in experiment.run(first_task(experiment))] == [None, None]


def test_large_data_sets_are_capped(paper_data):
    experiment = EXPERIMENTS["arena"].restrict(["pendigits"], ["nb"])
    split = experiment.split(first_task(experiment))
    assert len(split.y) + len(split.y_test) == 1000
    small = EXPERIMENTS["arena-50"].restrict(["pendigits"], ["nb"])
    assert len(small.split(first_task(small)).y_test) == 2000


def test_some_methods_run_with_one_classifier_only():
    for name in ("arena", "arena-50"):
        groups = EXPERIMENTS[name].method_groups
        assert groups("nb") == [(*GENERAL_METHODS, *PAPER_METHODS)]
        assert groups("svm") == [(*GENERAL_METHODS, *SVM_PEERS)]
        assert groups("rf") == [tuple(GENERAL_METHODS)]


def test_the_time_of_a_method_includes_the_time_saved_by_caching(paper_data):
    names = ("raw", "temperature", "vector scaling")
    experiment = replace(EXPERIMENTS["arena-50"], methods=names).restrict(["seeds"], ["lr"])
    raw, first, second = experiment.run(first_task(experiment))
    assert raw.calibration_seconds is None
    assert raw.model_seconds == first.model_seconds == second.model_seconds
    # The second method finds all of its refits in the cache, and is charged for them.
    assert second.calibration_seconds > 0.5 * first.calibration_seconds


def test_only_experiments_with_peers_need_their_packages(monkeypatch):
    monkeypatch.setattr("experiments.arena.peers.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="not installed"):
        EXPERIMENTS["arena-200"].check_environment()
    EXPERIMENTS["out-of-bag"].check_environment()
