from itertools import islice

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold

from calibrant._core.splits import check_split, make_draws, make_folds, resample_rows

class_indices = st.lists(st.integers(0, 3), min_size=4, max_size=40).map(
    lambda labels: np.unique(labels, return_inverse=True)[1]
)


def draw_groups(data, n_rows):
    groups = data.draw(st.lists(st.integers(0, 5), min_size=n_rows, max_size=n_rows))
    groups[:2] = [0, 1]
    return np.array(groups)


@given(class_indices, st.integers(2, 4))
def test_folds_hold_out_each_row_once_except_the_only_row_of_a_class(y, n_folds):
    folds = np.array(list(make_folds(y, None, n_folds, np.random.RandomState(0))))
    assert len(folds) == n_folds
    alone = np.bincount(y)[y] == 1
    np.testing.assert_array_equal(folds.sum(axis=0), ~alone)
    for test in folds:
        assert set(y[~test]) == set(y)


@given(class_indices, st.integers(2, 4))
def test_folds_are_stratified(y, n_folds):
    folds = list(make_folds(y, None, n_folds, np.random.RandomState(0)))
    for k in np.flatnonzero(np.bincount(y) > 1):
        sizes = [np.count_nonzero(test & (y == k)) for test in folds]
        assert max(sizes) - min(sizes) <= 1


@given(class_indices.filter(lambda y: np.bincount(y).max() > 1), st.data())
def test_folds_keep_groups_together_and_every_class_in_training(y, data):
    groups = draw_groups(data, len(y))
    folds = list(make_folds(y, groups, 2, np.random.RandomState(0)))
    assert np.sum(folds, axis=0).max() <= 1
    for test in folds:
        assert not set(groups[test]) & set(groups[~test])
        assert set(y[~test]) == set(y)


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8),
    reason="before version 1.8, StratifiedGroupKFold assigned shuffled groups to other folds",
)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_groups_are_assigned_to_folds_as_by_scikit_learn(n_folds, seed):
    rng = np.random.RandomState(seed)
    # Classes are numbered in the order of their first rows, on which the result must not depend.
    y = np.r_[0:4, rng.choice(4, size=200, p=[0.5, 0.3, 0.1, 0.1])]
    groups = rng.randint(rng.choice([20, 60, 150]), size=len(y))
    splitter = StratifiedGroupKFold(
        n_folds, shuffle=True, random_state=np.random.RandomState(0).randint(2**31 - 1)
    )
    expected = [test for _, test in splitter.split(y, y, groups)]
    folds = make_folds(y, groups, n_folds, np.random.RandomState(0))
    for test, rows in zip(folds, expected, strict=True):
        np.testing.assert_array_equal(np.flatnonzero(test), rows)


def test_more_folds_than_rows_of_any_class_are_refused_with_groups():
    y = np.repeat([0, 1], 3)
    with pytest.raises(ValueError, match=r"size of the largest class, 3, got 4\. Use fewer"):
        list(make_folds(y, np.arange(6), 4, np.random.RandomState(0)))


@given(class_indices, st.floats(0.05, 0.5))
def test_draws_hold_out_the_same_number_of_rows_and_keep_every_class_in_training(y, test_size):
    draws = list(islice(make_draws(y, None, test_size, np.random.RandomState(0)), 10))
    n_repeated = np.count_nonzero(np.bincount(y)[y] > 1)
    for test in draws:
        assert set(y[~test]) == set(y)
        assert test.sum() <= max(1, int(test_size * n_repeated))


def test_draws_hold_out_each_class_in_proportion_on_average():
    y = np.repeat([0, 1, 2], [50, 25, 3])
    draws = np.array(list(islice(make_draws(y, None, 0.2, np.random.RandomState(0)), 4000)))
    assert set(draws.sum(axis=1)) == {15}
    proportion = [draws[:, y == k].mean() for k in range(3)]
    np.testing.assert_allclose(proportion, 15 / 78, rtol=0, atol=0.01)


@given(class_indices, st.data())
def test_draws_keep_groups_together_and_every_class_in_training(y, data):
    groups = draw_groups(data, len(y))
    for test in islice(make_draws(y, groups, 0.3, np.random.RandomState(0)), 5):
        assert not set(groups[test]) & set(groups[~test])
        assert set(y[~test]) == set(y)


@given(class_indices, st.data())
def test_resampled_rows_are_twice_the_rows_of_each_class(y, data):
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y))))
    kept[0] = True
    rows = np.flatnonzero(kept)
    resampled = resample_rows(rows, y, np.random.RandomState(0))
    np.testing.assert_array_equal(np.unique(resampled), rows)
    np.testing.assert_array_equal(np.bincount(y[resampled]), 2 * np.bincount(y[rows]))


def test_resampled_rows_do_not_depend_on_the_order_of_the_class_labels():
    y = np.tile([0, 1, 2], 10)
    rows = np.arange(20)
    first, second = (resample_rows(rows, labels, np.random.RandomState(0)) for labels in (y, 2 - y))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("groups", [None, np.arange(60) // 3], ids=["ungrouped", "grouped"])
def test_folds_do_not_depend_on_the_order_of_the_class_labels(groups):
    y = np.random.default_rng(0).integers(0, 3, size=60)
    relabeled = np.array([2, 0, 1])[y]
    folds, other = (
        list(make_folds(labels, groups, 5, np.random.RandomState(0))) for labels in (y, relabeled)
    )
    np.testing.assert_array_equal(folds, other)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, "at most the number of rows, 4, got 5"),
        (np.array([0, 0, 1, 1]), "at most the number of groups, 2, got 5"),
        (np.zeros(4), "at least two groups, got 1"),
    ],
)
def test_impossible_folds_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        list(make_folds(np.array([0, 1, 0, 1]), groups, 5, np.random.RandomState(0)))


@pytest.mark.parametrize(
    "split",
    [([0, 1], [2, 3]), (np.array([0, 1]), np.array([2, 3])), ([True, True, False, False], [2, 3])],
    ids=["lists", "arrays", "mask"],
)
def test_splits_may_be_row_numbers_or_masks(split):
    train, test = check_split(split, 4, None)
    np.testing.assert_array_equal(train, [0, 1])
    np.testing.assert_array_equal(test, [2, 3])


@pytest.mark.parametrize(
    ("split", "groups", "message"),
    [
        ([0, 1, 2], None, r"yield \(train, test\) pairs"),
        (([0, 1], [1, 2]), None, "must be disjoint, got a split with 1 row in both"),
        (([0, 1], [2, 9]), None, "row numbers from 0 to 3"),
        (([0, 1], [2, 3]), np.array(["a", "b", "b", "c"]), "keep groups together.*'b'"),
    ],
)
def test_invalid_splits_are_refused(split, groups, message):
    with pytest.raises(ValueError, match=message):
        check_split(split, 4, groups)
