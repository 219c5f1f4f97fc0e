import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import special

from calibrant._core.rowwise import (
    log_softmax,
    normalize_rows,
    repeat_frequencies,
    row_maxima,
    row_sums,
    softmax,
)

tables = arrays(
    float,
    array_shapes(min_dims=2, max_dims=2, max_side=12),
    elements=st.one_of(st.floats(-800, 800), st.sampled_from([0.0, 1.0, 1e-300])),
)


@given(tables)
def test_results_agree_with_numpy_and_scipy(values):
    np.testing.assert_allclose(
        row_sums(values), values.sum(axis=1, keepdims=True), rtol=1e-13, atol=1e-11
    )
    np.testing.assert_array_equal(row_maxima(values), values.max(axis=1, keepdims=True))
    np.testing.assert_allclose(softmax(values), special.softmax(values, axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        log_softmax(values), special.log_softmax(values, axis=1), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_softmax_differs_from_scipys_at_most_in_the_last_bits(n_classes):
    logit = np.random.default_rng(0).normal(scale=5.0, size=(1000, n_classes))
    np.testing.assert_array_max_ulp(softmax(logit), special.softmax(logit, axis=1), maxulp=4)


@pytest.mark.parametrize("reduce", [row_sums, row_maxima])
def test_rows_with_nan_give_nan(reduce):
    values = np.array([[0.0, np.nan, 1.0], [0.0, 1.0, 2.0]])
    np.testing.assert_array_equal(np.isnan(reduce(values)), [[True], [False]])


def test_arrays_without_rows_give_arrays_without_rows():
    for function in (row_sums, row_maxima, softmax, log_softmax, normalize_rows):
        assert len(function(np.zeros((0, 3)))) == 0


def test_normalized_rows_sum_to_one_and_rows_of_zeros_become_uniform():
    normalized = normalize_rows(np.array([[1.0, 3.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(normalized, [[0.25, 0.75], [0.5, 0.5]])


def test_normalized_rows_do_not_depend_on_the_order_of_columns():
    rng = np.random.default_rng(0)
    values, order = rng.uniform(size=(500, 7)), rng.permutation(7)
    np.testing.assert_array_equal(
        normalize_rows(values[:, order]), normalize_rows(values)[:, order]
    )


def test_class_frequencies_are_repeated_in_every_row():
    frequencies = repeat_frequencies(np.array([1.0, 3.0]), 2)
    np.testing.assert_array_equal(frequencies, [[0.25, 0.75], [0.25, 0.75]])
