import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibrant.calibrators._cross_fitting import fold_of_points, held_out_masks


@given(
    st.lists(st.integers(0, 2), min_size=4, max_size=60),
    st.integers(1, 20),
    st.integers(2, 6),
)
def test_folds_keep_groups_together_and_leave_every_class(labels, n_groups, n_folds):
    y = np.unique(labels, return_inverse=True)[1]
    group = np.unique(np.arange(len(y)) % n_groups, return_inverse=True)[1]
    fold = fold_of_points(y, group, n_folds, np.random.RandomState(0))
    assert fold.max() < n_folds
    for test in held_out_masks(fold):
        assert test.any()
        assert set(y[~test]) == set(y)
        assert not set(group[test]) & set(group[~test])


def test_nothing_is_held_out_of_a_single_group():
    y = np.array([0, 1, 0, 1])
    fold = fold_of_points(y, np.zeros(4, dtype=int), 5, np.random.RandomState(0))
    np.testing.assert_array_equal(fold, -1)
    assert list(held_out_masks(fold)) == []
