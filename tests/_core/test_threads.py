import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from calibrant._core.threads import one_blas_thread


def n_blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))  # loads the library
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpool_limits(limits=2, user_api="blas"):
        if n_blas_threads() != {2}:
            pytest.skip("BLAS does not take a number of threads here")
        yield


def test_limits_that_overlap_hold_until_the_last_one_ends(two_threads):
    """As in two threads that predict at the same time."""
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    assert n_blas_threads() == {1}
    second.__enter__()
    first.__exit__(None, None, None)
    assert n_blas_threads() == {1}
    second.__exit__(None, None, None)
    assert n_blas_threads() == {2}


def test_limits_nest(two_threads):
    with one_blas_thread():
        with one_blas_thread():
            assert n_blas_threads() == {1}
        assert n_blas_threads() == {1}
    assert n_blas_threads() == {2}


def test_an_error_ends_the_limit(two_threads):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / 0  # noqa: B018
    assert n_blas_threads() == {2}
