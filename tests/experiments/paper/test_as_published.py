from itertools import product

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.combination import couple
from calibrant.datasets import load_dataset, make_waveform
from experiments.paper.as_published import (
    CLASSIFIERS_AS_PUBLISHED,
    E1071NaiveBayes,
    TrainingRows,
    faulty_couple,
    predict_with_faulty_coupling,
    predict_without_floor,
    preprocess_as_published,
    tune_forest,
)


def exact_pairs(proba):
    i, j = np.triu_indices(proba.shape[1], 1)
    return proba[:, i] / (proba[:, i] + proba[:, j])


def test_the_fault_does_not_show_with_three_classes():
    proba = np.random.default_rng(0).dirichlet(np.ones(3), size=100)
    np.testing.assert_allclose(faulty_couple(exact_pairs(proba)), proba, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("n_classes", "median_error", "right_top_class"),
    [(4, 0.10, 0.70), (5, 0.09, 0.69), (10, 0.13, 0.41)],
)
def test_the_fault_shows_from_four_classes_on(n_classes, median_error, right_top_class):
    # Measured with the R function on exact pairs, on a sample of unknown size, hence the
    # tolerance. The next test checks entry by entry that the matrix is filled as in R.
    proba = np.random.default_rng(0).dirichlet(np.ones(n_classes), size=4000)
    faulty = faulty_couple(exact_pairs(proba))
    error = np.median(np.abs(faulty - proba).max(axis=1))
    right = np.mean(faulty.argmax(axis=1) == proba.argmax(axis=1))
    assert error == pytest.approx(median_error, abs=0.02)
    assert right == pytest.approx(right_top_class, abs=0.07)
    i, j = np.triu_indices(n_classes, 1)
    R = np.zeros((len(proba), n_classes, n_classes))
    R[:, i, j], R[:, j, i] = exact_pairs(proba), 1 - exact_pairs(proba)
    np.testing.assert_allclose(couple(R), proba, rtol=0, atol=1e-12)


def test_the_matrix_is_filled_as_r_fills_it():
    """Write R's upper.tri and lower.tri assignments out, one entry at a time."""
    pairs = np.random.default_rng(0).uniform(0.1, 0.9, size=6)
    matrix, system, position = np.zeros((4, 4)), np.zeros((5, 5)), 0
    for column in range(4):
        for row in range(column):
            matrix[row, column] = pairs[position]
            system[row, column] = -pairs[position] * (1 - pairs[position])
            position += 1
    position = 0
    for column in range(4):
        for row in range(column + 1, 4):
            matrix[row, column] = 1 - pairs[position]
            system[row, column] = -pairs[position] * (1 - pairs[position])
            position += 1
    for k in range(4):
        system[k, k] = np.sum(matrix[:, k] ** 2)
    system[4, :4] = system[:4, 4] = 1
    expected = np.linalg.solve(system, [0, 0, 0, 0, 1])[:4]
    np.testing.assert_allclose(faulty_couple(pairs[None])[0], expected, rtol=0, atol=1e-12)


def test_systems_without_a_solution_give_nan():
    # Of all pairs of 0 and 1 for four classes, two make R's solve fail.
    pairs = np.array(list(product([0.0, 1.0], repeat=6)))
    unsolved = pairs[np.isnan(faulty_couple(pairs)).any(axis=1)]
    np.testing.assert_array_equal(unsolved, [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]])


@pytest.mark.parametrize("method", [None, "sigmoid"])
def test_the_pairs_of_a_model_are_coupled_in_row_major_order(method):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(150, 3)), np.repeat(np.arange(5), 30)
    X[:, 0] += y
    model = CalibratedClassifier(GaussianNB(), method=method, strategy="all-pairs", cv=3)
    model.fit(X, y)
    by_pair = {
        (negative, positive): 1 - proba
        for negative, positive, proba in zip(
            model.code_.argmin(axis=0),
            model.code_.argmax(axis=0),
            model.predict_problem_proba(X),
            strict=True,
        )
    }
    pairs = np.column_stack([by_pair[i, j] for i in range(5) for j in range(i + 1, 5)])
    np.testing.assert_array_equal(predict_with_faulty_coupling(model, X), faulty_couple(pairs))


def test_naive_bayes_differs_from_scikit_learns_by_the_degrees_of_freedom():
    X, y = make_waveform(2000, random_state=0)
    ours = E1071NaiveBayes().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours, GaussianNB().fit(X, y).predict_proba(X), rtol=0, atol=0.01)


def test_naive_bayes_by_hand():
    X = np.array([[0.0, 0], [2.0, 1], [1.0, 1], [5.0, 0], [7.0, 0], [6.0, 0]])
    y = np.array(["a", "a", "a", "b", "b", "b"])
    model = E1071NaiveBayes(categorical=(1,)).fit(X, y)

    def density(x, mean, sd):
        return np.exp(-((x - mean) ** 2) / (2 * sd**2)) / (sd * np.sqrt(2 * np.pi))

    # Class b never has category 1, so that its frequency of 0 becomes .001.
    joint = np.array([0.5 * density(3, 1, 1) * 2 / 3, 0.5 * density(3, 6, 1) * 0.001])
    np.testing.assert_allclose(model.predict_proba([[3.0, 1]])[0], joint / joint.sum())
    assert model.predict([[3.0, 1]]) == ["a"]


def test_a_constant_feature_gets_the_threshold_as_standard_deviation():
    X = np.array([[1.0], [1.0], [2.0], [3.0]])
    model = E1071NaiveBayes().fit(X, [0, 0, 1, 1])
    assert model.sd_[0, 0] == 0.001


def test_without_a_floor_probabilities_can_be_zero_and_are_the_same_otherwise():
    X, y = make_waveform(200, random_state=0)
    model = CalibratedClassifier(GaussianNB(), strategy="one-vs-rest", cv=5, random_state=0)
    floored = model.fit(X, y).predict_proba(X)
    proba = predict_without_floor(model, X)
    assert (proba == 0).any()
    assert (floored > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(proba, floored, rtol=0, atol=0.01)


def test_tuning_continues_while_the_error_falls():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40))
    y = (X[:, 0] > 0).astype(int)
    # One feature decides, so that trying more features is better. The start is 6.
    tuned = tune_forest(RandomForestClassifier(50, random_state=0), X, y)
    assert tuned.max_features > 6
    assert not hasattr(tuned, "estimators_")


def test_the_whole_data_set_is_scaled_and_categories_stay_codes(paper_data):
    X, categorical = preprocess_as_published(load_dataset("abalone"))
    assert categorical == (0,)
    assert set(X[:, 0]) == {0.0, 1.0, 2.0}
    np.testing.assert_allclose(X[:, 1:].mean(axis=0), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(X[:, 1:].std(axis=0, ddof=1), 1)


def test_the_authors_classifiers_are_made_from_the_training_rows():
    X, y = make_waveform(60, random_state=0)
    rows = TrainingRows(X, y, categorical=(3,), seed=5, n_trees=20)
    assert CLASSIFIERS_AS_PUBLISHED["nb"](rows).categorical == (3,)
    forest = CLASSIFIERS_AS_PUBLISHED["rf"](rows)
    assert (forest.random_state, forest.n_estimators) == (5, 20)
    assert isinstance(forest.max_features, int)
