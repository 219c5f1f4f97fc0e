import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibrant._core.cross_fitting import cross_fit, fold_of_points


@given(
    st.lists(st.integers(0, 2), min_size=4, max_size=60),
    st.integers(1, 20),
    st.integers(2, 6),
)
def test_folds_keep_groups_together_and_every_class_in_training(labels, n_groups, n_folds):
    y = np.unique(labels, return_inverse=True)[1]
    group = np.unique(np.arange(len(y)) % n_groups, return_inverse=True)[1]
    fold = fold_of_points(y, group, n_folds, np.random.RandomState(0))
    assert fold.max() < n_folds
    for test in (fold == number for number in np.unique(fold[fold >= 0])):
        assert set(y[~test]) == set(y)
        assert not set(group[test]) & set(group[~test])


def test_nothing_is_held_out_of_a_single_group():
    y = np.array([0, 1, 0, 1])
    fold = fold_of_points(y, np.zeros(4, dtype=int), 5, np.random.RandomState(0))
    np.testing.assert_array_equal(fold, -1)


def test_each_fold_is_predicted_from_the_others():
    values = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    fold = np.array([0, 1, 0, 2, -1])

    def sum_of_others(train, test):
        return np.column_stack([np.full(test.sum(), values[train].sum()), values[test]])

    predicted = cross_fit(fold, sum_of_others, 2)
    np.testing.assert_array_equal(predicted[:, 0], [26.0, 29.0, 26.0, 23.0, np.nan])
    np.testing.assert_array_equal(predicted[:4, 1], values[:4])
