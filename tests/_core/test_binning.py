import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calibrant._core.binning import (
    assign_bins,
    default_n_bins,
    equal_weight_groups,
    group_means,
    pool_ties,
    run_starts,
)


def test_groups_have_weighted_means_and_total_weights():
    rng = np.random.default_rng(0)
    score, target = np.sort(rng.normal(size=20)), rng.uniform(size=20)
    weight = rng.uniform(0.5, 2.0, size=20)
    first = np.array([0, 3, 4, 15])
    expected = [
        (np.average(s, weights=w), np.average(t, weights=w), w.sum())
        for s, t, w in zip(*(np.split(v, first[1:]) for v in (score, target, weight)), strict=True)
    ]
    np.testing.assert_allclose(
        np.column_stack(group_means(score, target, weight, first)), expected, rtol=1e-12
    )


@given(st.data())
def test_means_lie_within_their_groups(data):
    n = data.draw(st.integers(1, 20))
    score = np.sort(data.draw(arrays(float, n, elements=st.floats(-1e6, 1e6))))
    weight = data.draw(arrays(float, n, elements=st.sampled_from([0.1, 1 / 3, 1.0, 7.0])))
    target = data.draw(arrays(float, n, elements=st.floats(0, 1)))
    first = equal_weight_groups(weight, data.draw(st.integers(1, n)))
    mean, frequency, total = group_means(score, target, weight, first)
    last = np.r_[first[1:], n] - 1
    assert (mean >= score[first]).all()
    assert (mean <= score[last]).all()
    assert ((frequency >= 0) & (frequency <= 1)).all()
    assert total.sum() == pytest.approx(weight.sum())
    assert total @ frequency == pytest.approx(weight @ target, abs=1e-9)


def test_tied_points_are_merged_and_sorted_by_score():
    score, target, weight = pool_ties(
        np.array([2.0, 1.0, 2.0, 1.0, 3.0]),
        np.array([1.0, 0.0, 0.0, 1.0, 1.0]),
        np.array([3.0, 1.0, 1.0, 1.0, 2.0]),
    )
    np.testing.assert_array_equal(score, [1, 2, 3])
    np.testing.assert_array_equal(target, [0.5, 0.75, 1.0])
    np.testing.assert_array_equal(weight, [2, 4, 2])


def test_scores_between_which_a_slope_could_overflow_are_tied():
    score, _, weight = pool_ties(np.array([0.0, 1e-310, 0.5]), np.zeros(3), np.ones(3))
    np.testing.assert_array_equal(score, [0.0, 0.5])
    np.testing.assert_array_equal(weight, [2, 1])


def test_extreme_weights_and_scores_do_not_overflow():
    score, _, weight = pool_ties(np.array([-1e300, 1e300]), np.ones(2), np.full(2, 1e100))
    np.testing.assert_array_equal(score, [-1e300, 1e300])
    np.testing.assert_array_equal(weight, [1e100, 1e100])


@pytest.mark.parametrize("n_groups", [1, 3, 7, 50])
def test_points_of_equal_weight_are_divided_evenly(n_groups):
    first = equal_weight_groups(np.full(100, 0.2), n_groups)
    assert len(first) == n_groups
    assert np.ptp(np.diff(np.r_[first, 100])) <= 1


@pytest.mark.parametrize("weight", [1.0, 0.1, 0.2, 1 / 3, 0.7, 1e-5, 123.4])
def test_a_point_between_two_groups_belongs_to_the_second(weight):
    np.testing.assert_array_equal(equal_weight_groups(np.full(3, weight), 2), [0, 1])
    np.testing.assert_array_equal(equal_weight_groups(np.full(15, weight), 2), [0, 7])


@given(st.data())
def test_groups_exceed_the_equal_weight_by_at_most_one_point(data):
    n = data.draw(st.integers(1, 40))
    weight = data.draw(arrays(float, n, elements=st.floats(0.1, 5.0)))
    n_groups = data.draw(st.integers(1, 10))
    first = equal_weight_groups(weight, n_groups)
    assert first[0] == 0
    assert 1 <= len(first) <= n_groups
    assert (np.diff(first) > 0).all()
    total = np.add.reduceat(weight, first)
    assert total.max() <= weight.sum() / n_groups + weight.max() + 1e-9


def test_bins_have_equal_weight_and_keep_equal_values_together():
    value = np.array([0.3, 0.1, 0.2, 0.1, 0.9, 0.8])
    np.testing.assert_array_equal(assign_bins(value, np.ones(6), 3), [1, 0, 1, 0, 2, 2])
    weight = np.array([1.0, 0.5, 4.0, 0.5, 1.0, 1.0])
    np.testing.assert_array_equal(assign_bins(value, weight, 2), [1, 0, 0, 0, 1, 1])
    # Empty bins are not counted.
    np.testing.assert_array_equal(assign_bins(value, np.ones(6), 100), [2, 0, 1, 0, 4, 3])
    np.testing.assert_array_equal(assign_bins(np.full(5, 0.4), np.ones(5), 3), np.zeros(5))


@pytest.mark.parametrize(("n_rows", "n_bins"), [(1, 1), (39, 1), (60, 3), (1000, 10)])
def test_default_number_of_bins_leaves_twenty_rows_per_bin(n_rows, n_bins):
    assert default_n_bins(n_rows) == n_bins


def test_runs_start_where_something_changes():
    values = np.array([3, 3, 1, 2, 2, 2])
    np.testing.assert_array_equal(run_starts(values[1:] != values[:-1]), [0, 2, 3])
    np.testing.assert_array_equal(run_starts(np.empty(0, dtype=bool)), [0])


def test_distinct_points_are_only_sorted():
    score, target, weight = np.array([0.3, 0.1, 0.2]), np.array([0.1, 0.7, 0.3]), np.ones(3) / 3
    for pooled, expected in zip(
        pool_ties(score, target, weight),
        ([0.1, 0.2, 0.3], [0.7, 0.3, 0.1], weight),
        strict=True,
    ):
        np.testing.assert_array_equal(pooled, expected)
