"""The number of threads of linear algebra."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread.

    The last bits of a product depend on the number of threads. And threads that wait for each
    other make thousands of small products many times slower on a busy machine.
    """
    return _LIMIT


class _SharedLimit(AbstractContextManager[None]):
    """The limit, which holds for the whole process while any of its threads needs it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_users = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._n_users == 0:
                self._limiter = _thread_pools().limit(limits=1, user_api="blas")
            self._n_users += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._limiter.restore_original_limits()


_LIMIT = _SharedLimit()


@cache
def _thread_pools() -> Any:
    return ThreadpoolController()  # slow, because it inspects all loaded libraries
