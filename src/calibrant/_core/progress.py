"""Progress on standard error: rich's bar where it can be shown, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TypeVar

T = TypeVar("T")

# In a log, which nobody watches, a line a minute is enough.
SECONDS_BETWEEN_LINES = 60.0


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
        from rich.progress import Progress
    except ImportError:
        yield from _plain(items, total, title)
        return
    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield from _plain(items, total, title)
        return
    # The time left follows from all items so far: they may take a second or minutes each.
    with Progress(console=console, speed_estimate_period=math.inf) as bar:
        task = bar.add_task(title, total=total)
        for item in items:
            yield item
            bar.advance(task)


def _plain(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    wait, end = (0.0, "\r") if sys.stderr.isatty() else (SECONDS_BETWEEN_LINES, "\n")
    began = shown = time.perf_counter()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.perf_counter()
        if now - shown >= wait or done == total:
            shown = now
            left = timedelta(seconds=math.ceil((now - began) * (total - done) / done))
            sys.stderr.write(f"{title}: {done} of {total}, {left} left")
            sys.stderr.write(end if done < total else "\n")
            sys.stderr.flush()
