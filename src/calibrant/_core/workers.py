"""Independent calls, in worker processes as soon as these would save time."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from calibrant._core.signals import is_command, tie_worker_to_command

T = TypeVar("T")
# Wraps the iterator of results, for example to show how many are done. It is called with the
# iterator and the number of results.
Progress = Callable[[Iterable[Any], int], Iterator[Any]]

# Worker processes take 1.3 seconds to start and import pandas and scikit-learn on idle cores. None
# are started unless they would save more than this constant.
WORKER_START_SECONDS = 2.0


def distribute(
    function: Callable[..., T], calls: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[T]:
    """Yield the results of calls in any order, each as soon as it is there.

    Parameters
    ----------
    function : callable
        The function. Its results must say which call they belong to.
    calls : sequence of tuple
        The arguments of each call.
    n_jobs : int or None
        Number of processes. ``None`` means 1 and -1 means one per core.

    Yields
    ------
    object
        The results.
    """
    n_workers = min(len(calls), effective_n_jobs(n_jobs))
    # CPU time rather than elapsed time: on a busy machine, workers would have to wait, too.
    start = time.process_time()
    for n_done, call in enumerate(calls):
        seconds_left = (time.process_time() - start) / max(n_done, 1) * (len(calls) - n_done)
        if seconds_left * (1.0 - 1.0 / n_workers) > WORKER_START_SECONDS:
            options = worker_options()
            yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", **options)(
                delayed(_run)(function, call) for call in calls[n_done:]
            )
            return
        yield function(*call)


def worker_options() -> dict[str, Any]:
    """Return options for `joblib.Parallel` that tie workers of a command to it when they start.

    A program that uses the library gets none, because joblib would start new workers whenever the
    program alternates between these options and its own. Its workers are tied by their first task.
    """
    takes_options = "backend_kwargs" in inspect.signature(Parallel).parameters  # since joblib 1.5
    return {"initializer": tie_worker_to_command} if is_command() and takes_options else {}


def _run(function: Callable[..., T], call: tuple[Any, ...]) -> T:
    """Make one call in a worker process."""
    tie_worker_to_command()
    return function(*call)
