from calibrant.datasets import dataset_names, load_dataset
from experiments.classifiers import CLASSIFIERS
from experiments.registry import ARENAS, EXPERIMENTS


def test_experiments_use_known_classifiers_and_data_sets():
    for name, experiment in EXPERIMENTS.items():
        assert experiment.name == name
        assert set(experiment.classifiers) <= set(CLASSIFIERS)
        assert set(experiment.data_sets) <= set(dataset_names())


def test_the_arena_has_all_classifiers_and_its_sizes():
    assert EXPERIMENTS["arena"].classifiers == tuple(CLASSIFIERS)
    sizes = {name: getattr(one, "n_train", None) for name, one in EXPERIMENTS.items()}
    assert {name: size for name, size in sizes.items() if size} == {
        "arena-25": 25,
        "arena-50": 50,
        "arena-100": 100,
        "arena-200": 200,
        "arena-500": 500,
    }


def test_data_sets_are_left_out_if_fewer_than_50_test_rows_remain(paper_data):
    n_rows = {name: len(load_dataset(name).target) for name in dataset_names()}
    for experiment in ARENAS[1:]:
        large_enough = {name for name, n in n_rows.items() if n - experiment.n_train >= 50}
        assert set(experiment.data_sets) == large_enough
