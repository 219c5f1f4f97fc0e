import numpy as np
import pytest

from calibrant.generation import HeldOutScores


def test_tied_scores_stay_tied_when_grouped():
    rng = np.random.default_rng(0)
    for score in (1 / 3, 0.1, 0.7):
        weight = rng.uniform(0.1, 3.0, size=1000)
        target = rng.integers(0, 2, size=1000)
        scores = HeldOutScores(np.full(1000, score), target, weight, np.arange(1000), 20)
        assert set(scores.points()[0]) == {score}


def test_grouping_averages_neighbors():
    rng = np.random.default_rng(0)
    score, target = rng.uniform(size=1003), rng.integers(0, 2, size=1003)
    weight = rng.uniform(0.5, 2.0, size=1003)
    grouped = HeldOutScores(score, target, weight, np.arange(1003), 100).points()
    mean_score, frequency, total = grouped
    assert len(mean_score) == 10
    order = np.argsort(score)
    sizes = []
    for index, rows in enumerate(np.split(order, np.arange(1, 10) * 1003 // 10)):
        sizes.append(len(rows))
        assert mean_score[index] == pytest.approx(np.average(score[rows], weights=weight[rows]))
        assert frequency[index] == pytest.approx(np.average(target[rows], weights=weight[rows]))
        assert total[index] == pytest.approx(weight[rows].sum())
    assert set(sizes) <= {100, 101}


def test_points_belong_to_their_row_or_to_its_group():
    rows = np.array([2, 0, 2])
    points = HeldOutScores(np.zeros((3, 2)), np.zeros(3), np.ones(3), rows)
    np.testing.assert_array_equal(points.point_groups(None), rows)
    np.testing.assert_array_equal(points.point_groups(np.array(["a", "b", "c"])), ["c", "a", "c"])
    averaged = HeldOutScores(np.zeros(3), np.zeros(3), np.ones(3), rows, group_size=2)
    assert averaged.point_groups(None) is None


def test_points_can_be_taken_by_a_mask():
    scores = HeldOutScores(np.arange(4.0), np.array([0, 1, 0, 1]), np.ones(4), np.arange(4), 2)
    taken = scores.take(np.array([True, False, True, True]))
    np.testing.assert_array_equal(taken.score, [0.0, 2.0, 3.0])
    np.testing.assert_array_equal(taken.target, [0, 0, 1])
    np.testing.assert_array_equal(taken.rows, [0, 2, 3])
    assert taken.group_size == 2
