import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibrant._core.binning import equal_weight_groups, group_means, pool_ties
from calibrant.calibrators._point_batches import PointBatch


@st.composite
def batches(draw):
    """The points of one to five problems, many of them tied."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 30), min_size=1, max_size=5))
    n_distinct = draw(st.integers(1, 40))
    return [
        (
            rng.integers(n_distinct, size=size) / n_distinct,
            rng.integers(2, size=size).astype(float),
            rng.choice([1 / 3, 1.0, 2.5], size=size),
        )
        for size in sizes
    ]


def check_equal(batch, problems):
    assert len(batch) == len(problems)
    for points, expected in zip(batch, problems, strict=True):
        for found, array in zip(points, expected, strict=True):
            np.testing.assert_array_equal(found, array)


@given(batches())
def test_joined_problems_can_be_taken_apart(problems):
    batch = PointBatch.join(problems)
    check_equal(batch, problems)
    assert [len(score) for score, _, _ in problems] == np.bincount(batch.problem).tolist()
    np.testing.assert_array_equal(batch.total_weights(), [weight.sum() for *_, weight in problems])


@given(batches())
def test_ties_are_pooled_as_in_single_problems(problems):
    pooled = PointBatch.join(problems).pool_ties()
    check_equal(pooled, [pool_ties(*points) for points in problems])
    assert pooled.pool_ties() is pooled


@given(batches(), st.data())
def test_neighbors_are_grouped_as_in_single_problems(problems, data):
    n_groups = [data.draw(st.integers(1, 20)) for _ in problems]
    grouped = PointBatch.join(problems).pool_ties().group_neighbors(np.array(n_groups))
    expected = []
    for points, number in zip(problems, n_groups, strict=True):
        score, target, weight = pool_ties(*points)
        first = equal_weight_groups(weight, number)
        expected.append(group_means(score, target, weight, first))
    check_equal(grouped, expected)
