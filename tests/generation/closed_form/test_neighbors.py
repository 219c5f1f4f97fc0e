import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from calibrant.generation.closed_form import neighbors

ESTIMATORS = [KNeighborsClassifier(), KNeighborsClassifier(9, weights="distance")]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_scores_equal_refits(compare, make_rows, estimator, strategy):
    assert compare(estimator, *make_rows(), strategy).n_refits == 1


PARAMETERS = [
    {"p": 1},
    {"p": 3.5},
    {"metric": "chebyshev"},
    {"metric": "minkowski", "metric_params": {"w": [1.0, 2.0, 0.5, 3.0]}},
    {"metric": "seuclidean", "metric_params": {"V": [1.0, 2.0, 0.5, 3.0]}, "algorithm": "brute"},
    {"algorithm": "kd_tree", "leaf_size": 3},
    {"algorithm": "ball_tree"},
    {"algorithm": "brute"},
    {"n_neighbors": 1},
    {"n_neighbors": 40},
]


@pytest.mark.parametrize("weights", ["uniform", "distance", None])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_metrics_algorithms_and_weights(compare, make_rows, parameters, weights):
    estimator = KNeighborsClassifier(weights=weights, **parameters)
    assert compare(estimator, *make_rows()).n_refits == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": lambda a, b: np.abs(a - b).max()},
        {"weights": lambda distance: 1.0 / (1.0 + distance)},
    ],
    ids=["metric", "weights"],
)
def test_callable_metrics_and_weights_are_left_to_refits(compare, make_rows, parameters):
    comparison = compare(KNeighborsClassifier(**parameters), *make_rows(45))
    assert comparison.n_refits == comparison.n_splits


def test_sparse_features_are_left_to_refits(compare, make_counts):
    X, y = make_counts()
    comparison = compare(KNeighborsClassifier(), sparse.csr_array(X), y)
    assert comparison.n_refits == comparison.n_splits


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_tied_neighbors_are_chosen_as_in_refits(compare, weights, strategy):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(80, 2)).astype(float)
    y = rng.integers(0, 3, size=80)
    compare(KNeighborsClassifier(3, weights=weights), X, y, strategy)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_ties_between_rows_with_one_label_need_no_refit(compare, weights):
    comparison = compare(KNeighborsClassifier(weights=weights), *load_iris(return_X_y=True))
    assert comparison.n_refits < comparison.n_splits / 2


def test_rows_that_occur_twice(compare, make_rows):
    X, y = make_rows(40)
    estimator = KNeighborsClassifier(4, weights="distance")
    assert compare(estimator, np.r_[X, X], np.r_[y, y]).n_refits < 10


@pytest.mark.parametrize("seed", [6, 8, 9])
def test_distances_that_lose_digits_in_a_search_are_left_to_refits(compare, seed):
    # Among so few rows, far from zero, a search computes distances from squared norms.
    X = 1e4 + np.random.default_rng(seed).normal(scale=10.0, size=(24, 1))
    y = np.arange(24) % 4
    assert compare(KNeighborsClassifier(2, weights="distance"), X, y, n_splits=3).n_refits > 1


def test_the_search_widens_if_the_nearest_rows_are_held_out(compare, make_rows):
    X, y = make_rows(120, 2)
    order = np.argsort(X[:, 0])
    X, y = X[order], y[order]
    X[:, 1:] = 0.0
    splits = [(np.r_[60:120], np.r_[:60]), (np.r_[:60], np.r_[60:120])]
    assert compare(KNeighborsClassifier(3), X, y, splits=splits).n_refits <= 2


def test_searches_that_would_be_too_large_are_left_to_refits(compare, make_rows, monkeypatch):
    monkeypatch.setattr(neighbors, "MAX_NEIGHBORS", 90 * 20)
    X, y = make_rows()
    assert compare(KNeighborsClassifier(1), X, y).n_refits == 1
    comparison = compare(KNeighborsClassifier(9), X, y)
    assert comparison.n_refits == comparison.n_splits


def test_more_features_than_rows(compare, make_rows):
    assert compare(KNeighborsClassifier(), *make_rows(40, 2, 60)).n_refits == 1


@pytest.mark.parametrize("shift", [1e4, 1e6, 1e9])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_rows_far_from_zero(compare, make_rows, estimator, shift):
    X, y = make_rows()
    compare(estimator, X + shift, y)


def test_a_constant_feature(compare, make_rows):
    X, y = make_rows()
    X[:, 0] = 0.1
    assert compare(KNeighborsClassifier(), X, y).n_refits == 1
