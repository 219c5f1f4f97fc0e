import numpy as np
import pytest

from calibrant.datasets import dataset_names, load_dataset
from experiments.arena.methods import SPLITS_METHODS
from experiments.classifiers import CLASSIFIERS
from experiments.experiment import Task
from experiments.registry import ARENAS, EXPERIMENTS, SPLITS_EXPERIMENTS


def test_experiments_use_known_classifiers_and_data_sets():
    for name, experiment in EXPERIMENTS.items():
        assert experiment.name == name
        assert set(experiment.classifiers) <= set(CLASSIFIERS)
        assert set(experiment.data_sets) <= set(dataset_names())


def test_the_arena_has_all_classifiers_and_its_sizes():
    assert EXPERIMENTS["arena"].classifiers == tuple(CLASSIFIERS)
    assert {arena.name: arena.n_train for arena in ARENAS if arena.n_train} == {
        "arena-25": 25,
        "arena-50": 50,
        "arena-100": 100,
        "arena-200": 200,
        "arena-500": 500,
    }


@pytest.mark.parametrize("n_train", [50, 100, 200])
def test_splits_are_compared_on_the_first_draws_of_the_arena(n_train, paper_data):
    splits, arena = (EXPERIMENTS[f"{name}-{n_train}"] for name in ("splits", "arena"))
    assert splits in SPLITS_EXPERIMENTS
    assert splits.methods == tuple(SPLITS_METHODS)
    assert splits.n_folds < arena.n_folds
    assert splits.data_sets == arena.data_sets
    for data_set in ("ecoli", "heart"):
        rows, expected = (
            one.split(Task(one.name, data_set, "nb", (), fold=1)) for one in (splits, arena)
        )
        np.testing.assert_array_equal(rows.X, expected.X)
        np.testing.assert_array_equal(rows.X_test, expected.X_test)


def test_data_sets_are_left_out_if_fewer_than_50_test_rows_remain(paper_data):
    n_rows = {name: len(load_dataset(name).target) for name in dataset_names()}
    for experiment in ARENAS[:-1]:
        large_enough = {name for name, n in n_rows.items() if n - experiment.n_train >= 50}
        assert set(experiment.data_sets) == large_enough
