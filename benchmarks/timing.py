"""Time work beside its peer, and its growth with the size of the input."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

Work = Callable[[], object]

# Over three decades of n, n log n fits an exponent of about 1.1; a tenth more for noise.
N_LOG_N = 1.2


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    what : str
        What was measured, and beside what.
    ours, peer : float or None
        Median seconds; None where there is nothing of the kind.
    ratio : float
        The median of the ratios of the repeats: ours by peer, or peer by ours for a
        speedup. For growth, the exponent.
    limit : float
        What the ratio may be at most, or must be at least for a speedup.
    speedup : bool
        Whether a high ratio is a good one.
    """

    what: str
    ours: float | None
    peer: float | None
    ratio: float
    limit: float
    speedup: bool = False

    @property
    def holds(self) -> bool:
        """Whether the ratio keeps to the limit."""
        return self.ratio >= self.limit if self.speedup else self.ratio <= self.limit


def measure(
    what: str,
    ours: Work,
    peer: Work | float,
    limit: float,
    *,
    repeats: int = 5,
    speedup: bool = False,
) -> Row:
    """Time ours and its peer in turns, after one untimed turn of each.

    Parameters
    ----------
    what : str
        The name of the row.
    ours, peer : callable
        The work. The peer may be a number of seconds, where a published time is all there is.
    limit : float
        The limit of the ratio.
    repeats : int, default=5
        The number of turns.
    speedup : bool, default=False
        False: ours by peer must be at most the limit. True: peer by ours at least.

    Returns
    -------
    Row
        Medians of the seconds and of the ratios.
    """
    peer_seconds = (lambda: peer) if isinstance(peer, float | int) else _timed(peer)
    return compare(what, _timed(ours), peer_seconds, limit, repeats=repeats, speedup=speedup)


def compare(
    what: str,
    ours: Callable[[], float],
    peer: Callable[[], float],
    limit: float,
    *,
    repeats: int = 5,
    speedup: bool = False,
) -> Row:
    """Do as `measure` does with work that times itself: both return seconds."""
    ours(), peer()
    turns = [(ours(), peer()) for _ in range(repeats)]
    ratios = [theirs / own if speedup else own / theirs for own, theirs in turns]
    own, theirs = (median(seconds) for seconds in zip(*turns, strict=True))
    return Row(what, own, theirs, median(ratios), limit, speedup)


def growth(
    what: str,
    work_of: Callable[[int], Work],
    sizes: Sequence[int],
    limit: float = N_LOG_N,
    *,
    repeats: int = 3,
) -> Row:
    """Fit the exponent of the time over the size.

    Parameters
    ----------
    what : str
        The name of the row.
    work_of : callable
        Makes the input of a size, untimed, and returns the work on it.
    sizes : sequence of int
        The sizes, large enough that what does not grow counts for little.
    limit : float
        The highest exponent.
    repeats : int, default=3
        How often each size is timed, in turns.

    Returns
    -------
    Row
        The exponent as ratio; ours is the time of the last size.
    """
    timed = [_timed(work_of(size)) for size in sizes]
    timed[0]()
    turns = [[seconds() for seconds in timed] for _ in range(repeats)]
    seconds = np.median(turns, axis=0)
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    return Row(what, float(seconds[-1]), None, float(exponent), limit)


def _timed(work: Work) -> Callable[[], float]:
    def seconds() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return seconds
