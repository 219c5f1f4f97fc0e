"""Numbers of rows at which a simulated quantity is as small as wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, floor, inf, isfinite, log, log10

import numpy as np

from calibrant._core.fitting import LARGEST_SEED
from calibrant._core.phrases import count
from calibrant._core.threads import one_blas_thread
from calibrant._core.typing import FloatArray
from calibrant._core.workers import Progress, distribute

# Simulates data of a number of rows with a seed, and returns what is to become small.
Simulation = Callable[[int, int], FloatArray | float]


def simulate_sizes(
    simulate: Simulation,
    sizes: Sequence[int],
    n_repeats: int,
    rng: np.random.RandomState,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> FloatArray:
    """Simulate data sets of several sizes.

    Parameters
    ----------
    simulate : callable
        The simulation of one data set.
    sizes : sequence of int
        Numbers of rows.
    n_repeats : int
        The number of data sets of each size.
    rng : RandomState
        The source of the seeds.
    n_jobs : int, default=None
        Number of processes. The results do not depend on it.
    progress : callable, default=None
        Wraps the iterator of finished simulations.

    Returns
    -------
    ndarray of shape (n_sizes, n_repeats, ...)
        What the simulation returns.
    """
    seeds = rng.randint(LARGEST_SEED, size=(len(sizes), n_repeats))
    # The sizes alternate, so that the estimate of the time left is based on all of them.
    calls = [
        (i, j, size, int(seeds[i, j])) for j in range(n_repeats) for i, size in enumerate(sizes)
    ]
    finished = distribute(partial(_call, simulate), calls, n_jobs)
    done = dict(progress(finished, len(calls)) if progress else finished)
    return np.array([[done[i, j] for j in range(n_repeats)] for i in range(len(sizes))])


def _call(
    simulate: Simulation, i: int, j: int, size: int, seed: int
) -> tuple[tuple[int, int], FloatArray | float]:
    with one_blas_thread():
        return (i, j), simulate(size, seed)


def find_rows(sizes: Sequence[int], values: FloatArray, wanted: float) -> float:
    """Return the number of rows at which a decreasing quantity falls to the wanted value.

    Between the sizes, its logarithm is linear in that of the size. Outside, it is proportional to
    the inverse square root of the size.

    Parameters
    ----------
    sizes : sequence of int
        Increasing numbers of rows.
    values : ndarray of shape (n_sizes,)
        The quantity at these sizes. It may be infinite.
    wanted : float
        The wanted value.

    Returns
    -------
    float
        The number of rows; infinity if the quantity is infinite at the largest size.
    """
    above = np.flatnonzero(~(values <= wanted))
    first = int(above[-1]) + 1 if len(above) else 0
    known = min(first, len(sizes) - 1)
    by_root = sizes[known] * float(values[known] / wanted) ** 2
    if first in (0, len(sizes)) or not isfinite(values[first - 1]):
        return max(by_root, float(sizes[first - 1])) if first else by_root
    low, high = log(values[first - 1] / wanted), log(wanted / values[first])
    return float(sizes[first - 1] * (sizes[first] / sizes[first - 1]) ** (low / (low + high)))


def round_up(n_rows: float) -> int | float:
    """Round a number of rows up to two digits, which is as precise as a simulation.

    Examples
    --------
    >>> from calibrant.planning.simulation import round_up
    >>> round_up(7.2), round_up(123.0), round_up(4561.0)
    (8, 130, 4600)
    """
    if not isfinite(n_rows):
        return inf
    unit = 10 ** max(floor(log10(max(n_rows, 1.0))) - 1, 0)
    return ceil(n_rows / unit - 1e-9) * unit


def name_rows(n_rows: float, noun: str) -> str:
    """Return a rounded number of rows with its noun.

    Examples
    --------
    >>> from calibrant.planning.simulation import name_rows
    >>> name_rows(1200, "new row"), name_rows(float("inf"), "new row")
    ('about 1,200 new rows', 'more new rows than were simulated')
    """
    if not isfinite(n_rows):
        return f"more {noun}s than were simulated"
    return f"about {count(int(n_rows), noun)}"
