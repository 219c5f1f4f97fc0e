"""The number of threads of linear algebra."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread.

    The last bits of a product depend on the number of threads. And threads that wait for each
    other make thousands of small products many times slower on a busy machine.
    """
    return _thread_pools().limit(limits=1, user_api="blas")


@cache
def _thread_pools() -> Any:
    return ThreadpoolController()  # slow, because it inspects all loaded libraries
