import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calibrant._core.probability_floor import (
    apply_probability_floor,
    floor_frequencies,
    overall_frequency,
)


@pytest.mark.parametrize(
    ("options", "floor"), [({}, 0.1 * 0.25 / 12.1), ({"pseudo_count": 0.5}, 0.5 * 0.25 / 12.5)]
)
def test_the_floor_is_a_proportional_part_of_the_pseudo_count(options, floor):
    # The classes have one half, one quarter and one quarter of the 12 rows.
    floored = apply_probability_floor([[1.0, 0.0, 0.0]], [6, 3, 3], **options)
    np.testing.assert_allclose(floored, [[1 - 2 * floor, floor, floor]])


def test_probabilities_above_the_floor_do_not_change():
    proba = np.array([[0.97, 0.02, 0.01], [1.0, 0.0, 0.0]])
    floored = apply_probability_floor(proba, [6, 3, 3])
    np.testing.assert_allclose(floored[0], proba[0], rtol=1e-14)
    np.testing.assert_allclose(apply_probability_floor(floored, [6, 3, 3]), floored, rtol=1e-14)


def test_the_floor_falls_as_the_number_of_rows_grows():
    certain = [[1.0, 0.0, 0.0]]
    few, many = (
        apply_probability_floor(certain, [5, 3, 0]),
        apply_probability_floor(certain, [500, 300, 0]),
    )
    assert 0 < many[0, 1] < few[0, 1] / 50
    assert 0 < many[0, 2] < few[0, 2] / 50


def test_a_class_without_rows_counts_as_the_pseudo_count():
    floored = apply_probability_floor([[1.0, 0.0, 0.0]], [10, 1, 0])
    np.testing.assert_allclose(floored[0, 2] / floored[0, 1], 0.1)


def test_a_side_without_rows_gets_a_proportional_part_of_half_a_row():
    assert floor_frequencies([0.0], [9], 0.5)[0] == pytest.approx(0.25 / 9.5)
    assert floor_frequencies([1.0], [9], 0.2)[0] == pytest.approx(1 - 0.4 / 9.5)


def test_frequencies_that_the_rows_support_do_not_change():
    proba = np.array([[0.3, 0.7], [0.05, 0.95]])
    np.testing.assert_array_equal(apply_probability_floor(proba, [20, 30]), proba)
    np.testing.assert_array_equal(floor_frequencies([0.1, 0.9], [20, 30], 0.4), [0.1, 0.9])


def test_frequencies_of_small_groups_are_moved_further():
    low = floor_frequencies([0.0, 0.0, 0.0], [1, 10, 1000], 0.3)
    np.testing.assert_allclose(low, [0.3 * 0.5 / 1.5, 0.3 * 0.5 / 10.5, 0.3 * 0.5 / 1000.5])


@given(st.data())
def test_the_two_sides_are_treated_alike(data):
    n = data.draw(st.integers(1, 10))
    frequency = data.draw(arrays(float, n, elements=st.floats(0, 1)))
    n_rows = data.draw(arrays(float, n, elements=st.floats(0, 1e6)))
    overall = data.draw(st.floats(0.01, 0.99))
    np.testing.assert_allclose(
        floor_frequencies(1.0 - frequency, n_rows, 1.0 - overall),
        1.0 - floor_frequencies(frequency, n_rows, overall),
        rtol=0,
        atol=1e-12,
    )


@given(st.data())
def test_rows_sum_to_one_without_zeros(data):
    n_classes = data.draw(st.integers(2, 6))
    proba = data.draw(arrays(float, (5, n_classes), elements=st.floats(0, 1)))
    proba[proba.sum(axis=1) == 0] = 1.0
    proba /= proba.sum(axis=1, keepdims=True)
    count = data.draw(arrays(float, n_classes, elements=st.sampled_from([0, 0.5, 1, 7, 900])))
    count[0] = 3.0
    floored = apply_probability_floor(proba, count)
    np.testing.assert_allclose(floored.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert (floored > 0).all()
    # At most a tenth of a row is moved.
    assert np.abs(floored - proba).sum(axis=1).max() <= 2 * 0.1 / (count.sum() + 0.1) + 1e-12


def test_the_overall_frequency_is_never_zero_or_one():
    assert overall_frequency(np.zeros(4), np.ones(4)) == pytest.approx(0.1)
    assert overall_frequency(np.ones(4), np.ones(4)) == pytest.approx(0.9)
    assert overall_frequency(np.array([1.0, 0.0]), np.array([3.0, 1.0])) == pytest.approx(0.7)
