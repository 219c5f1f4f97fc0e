import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import special

from calibrant._core.rowwise import log_softmax, row_maxima, row_sums, softmax

tables = arrays(
    float,
    array_shapes(min_dims=2, max_dims=2, max_side=12),
    elements=st.one_of(st.floats(-800, 800), st.sampled_from([0.0, 1.0, 1e-300])),
)


@given(tables)
def test_rows_are_reduced_as_numpy_and_scipy_do(values):
    np.testing.assert_allclose(
        row_sums(values), values.sum(axis=1, keepdims=True), rtol=1e-13, atol=1e-11
    )
    np.testing.assert_array_equal(row_maxima(values), values.max(axis=1, keepdims=True))
    np.testing.assert_allclose(softmax(values), special.softmax(values, axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        log_softmax(values), special.log_softmax(values, axis=1), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("reduced", [row_sums, row_maxima])
def test_a_row_without_a_number_stays_so(reduced):
    values = np.array([[0.0, np.nan, 1.0], [0.0, 1.0, 2.0]])
    np.testing.assert_array_equal(np.isnan(reduced(values)), [[True], [False]])


def test_no_rows_stay_no_rows():
    for of_rows in (row_sums, row_maxima, softmax, log_softmax):
        assert len(of_rows(np.zeros((0, 3)))) == 0
