import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier

from calibrant.generation.closed_form.batches import SplitBatch

ESTIMATORS = [GaussianNB(), KNeighborsClassifier(), LinearDiscriminantAnalysis()]


def test_labels_are_unions_of_cells(make_rows, make_splits, strategy):
    X, y = make_rows(n_classes=4)
    batch = SplitBatch(X, make_splits(y, strategy))
    for problem_batch in batch.problems:
        problem = problem_batch.problem
        for label, cells in zip(
            np.unique(problem.labels[problem.rows]), problem_batch.label_cells, strict=True
        ):
            in_cells = np.isin(batch.cell, cells)
            np.testing.assert_array_equal(in_cells, problem.member & (problem.labels == label))


def test_training_rows_are_those_of_the_splits(make_rows, make_splits, strategy):
    X, y = make_rows()
    splits = make_splits(y, strategy)
    batch = SplitBatch(X, splits)
    for problem_batch in batch.problems:
        for full_split, position in zip(
            problem_batch.full_split, problem_batch.positions, strict=True
        ):
            train = batch.in_training[full_split] & problem_batch.problem.member
            np.testing.assert_array_equal(np.flatnonzero(train), np.sort(splits[position].train))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_rows_may_be_in_any_order_and_test_rows_may_be_repeated(compare, make_rows, estimator):
    X, y = make_rows()
    order = np.random.default_rng(0).permutation(90)
    splits = [(order[:50], order[60:]), (order[20:80], order[[5, 3, 3, 8]])]
    assert compare(estimator, X, y, splits=splits).n_refits == 1


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_repeated_training_rows_are_left_to_refits(compare, make_rows, estimator):
    X, y = make_rows()
    splits = [(np.r_[:60, :20], np.r_[60:90]), (np.r_[30:90], np.r_[:30])]
    comparison = compare(estimator, X, y, splits=splits)
    assert comparison.n_refits == comparison.n_splits


def test_negative_weights_are_left_to_refits(compare, make_counts):
    X, y = make_counts()
    weight = np.ones(len(y))
    weight[::30] = -0.1
    comparison = compare(MultinomialNB(), X, y, fit_params={"sample_weight": weight})
    assert comparison.n_refits == comparison.n_splits
