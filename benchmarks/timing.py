"""Timing of work against a peer, and of how it scales with the size of the input."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

Work = Callable[[], object]
Timer = Callable[[], float]

# Over three orders of magnitude of n, time proportional to n log n fits an exponent of about 1.1.
# The remaining 0.1 allows for noise.
N_LOG_N = 1.2


@dataclass(frozen=True)
class Row:
    """One row of the benchmark table.

    Attributes
    ----------
    title : str
        What was timed, and against what.
    seconds, peer_seconds : float or None
        Median seconds of calibrant and of its peer. ``None`` means not applicable.
    ratio : float
        The median ratio of the time of calibrant to that of its peer, or the inverse for a
        speedup. For growth, the exponent.
    limit : float
        The largest acceptable ratio, or the smallest one for a speedup.
    speedup : bool
        Whether larger ratios are better.
    """

    title: str
    seconds: float | None
    peer_seconds: float | None
    ratio: float
    limit: float
    speedup: bool = False

    @property
    def holds(self) -> bool:
        """Whether the ratio is within its limit."""
        return self.ratio >= self.limit if self.speedup else self.ratio <= self.limit


def measure(
    title: str,
    work: Work,
    peer: Work,
    limit: float,
    *,
    repeats: int = 5,
    speedup: bool = False,
) -> Row:
    """Time work and its peer alternately, after one untimed run of each.

    Parameters
    ----------
    title : str
        The title of the row.
    work : callable
        The work of calibrant.
    peer : callable
        The work of the peer.
    limit : float
        The limit on the ratio.
    repeats : int, default=5
        The number of timed runs.
    speedup : bool, default=False
        Whether to compute the ratio of the peer to calibrant, which must be at least the limit,
        instead of the ratio of calibrant to the peer, which must be at most the limit.

    Returns
    -------
    Row
        The medians of the times and of the ratios.
    """
    timers = make_timer(work), make_timer(peer)
    return compare(title, *timers, limit, repeats=repeats, speedup=speedup)


def compare(
    title: str,
    timer: Timer,
    peer_timer: Timer,
    limit: float,
    *,
    repeats: int = 5,
    speedup: bool = False,
) -> Row:
    """Do the same as `measure`, given timers that run the work and return its seconds."""
    timer(), peer_timer()
    turns = [(timer(), peer_timer()) for _ in range(repeats)]
    ratios = [peer / mine if speedup else mine / peer for mine, peer in turns]
    seconds, peer_seconds = (median(times) for times in zip(*turns, strict=True))
    return Row(title, seconds, peer_seconds, median(ratios), limit, speedup)


def growth(
    title: str,
    make_work: Callable[[int], Work],
    sizes: Sequence[int],
    limit: float = N_LOG_N,
    *,
    repeats: int = 3,
) -> Row:
    """Estimate the exponent with which time grows with the size of the input.

    Parameters
    ----------
    title : str
        The title of the row.
    make_work : callable
        Prepares an input of a given size, untimed, and returns the work on it.
    sizes : sequence of int
        The sizes, which must be large enough for fixed costs to be negligible.
    limit : float
        The largest acceptable exponent.
    repeats : int, default=3
        The number of times that each size is timed.

    Returns
    -------
    Row
        The exponent as the ratio, and the time of the largest size.
    """
    timers = [make_timer(make_work(size)) for size in sizes]
    timers[0]()
    turns = [[timer() for timer in timers] for _ in range(repeats)]
    seconds = np.median(turns, axis=0)
    exponent = fit_exponent(sizes, seconds.tolist())
    return Row(title, float(seconds[-1]), None, exponent, limit)


def fit_exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """Return the slope of log cost as a function of log size."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def make_timer(work: Work) -> Timer:
    """Return a function that runs the work and returns its seconds."""

    def timer() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return timer
