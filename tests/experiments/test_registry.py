from calibrant.datasets import dataset_names
from experiments.classifiers import CLASSIFIERS
from experiments.registry import EXPERIMENTS


def test_experiments_use_known_classifiers_and_data_sets():
    for name, experiment in EXPERIMENTS.items():
        assert experiment.name == name
        assert set(experiment.classifiers) <= set(CLASSIFIERS)
        assert set(experiment.data_sets) <= set(dataset_names())


def test_the_arena_has_all_classifiers_and_its_sizes():
    assert EXPERIMENTS["arena"].classifiers == tuple(CLASSIFIERS)
    sizes = {name: getattr(one, "n_train", None) for name, one in EXPERIMENTS.items()}
    assert {name: size for name, size in sizes.items() if size} == {
        "arena-50": 50,
        "arena-100": 100,
        "arena-200": 200,
    }


def test_data_sets_with_hardly_200_rows_are_not_trained_on_200():
    left_out = set(EXPERIMENTS["arena"].data_sets) - set(EXPERIMENTS["arena-200"].data_sets)
    assert left_out == {"seeds", "development"}
