"""A progress bar on standard error: rich's where it is installed, else a plain line."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def track(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    """Yield the items, showing how many are done and the time left.

    Parameters
    ----------
    items : iterable
        The work, done as it is iterated.
    total : int
        The number of items.
    title : str
        What is going on, in a few words.

    Yields
    ------
    object
        Each item in turn.
    """
    try:
        from rich.console import Console
        from rich.progress import track as rich_track
    except ImportError:
        yield from _plain(items, total, title)
    else:
        yield from rich_track(items, total=total, description=title, console=Console(stderr=True))


def _plain(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    began = time.perf_counter()
    shown = -1
    for done, item in enumerate(items, start=1):
        yield item
        percent = 100 * done // total
        if percent > shown:
            shown = percent
            left = (time.perf_counter() - began) * (total - done) / done
            sys.stderr.write(f"\r{title}: {done} of {total}, {left:.0f} s left ")
            sys.stderr.flush()
    sys.stderr.write("\n")
