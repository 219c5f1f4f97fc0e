"""Progress on standard error: a rich progress bar on a terminal, plain lines otherwise."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

# One line per minute is enough for a log file.
SECONDS_BETWEEN_LINES = 60.0


def track(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    """Yield the items, showing how many are done and the estimated time left.

    Parameters
    ----------
    items : iterable
        The items; the work is done while iterating.
    total : int
        The number of items.
    title : str
        A short description of the work.

    Yields
    ------
    object
        Each item in turn.
    """
    bar = _make_bar()
    if bar is None:
        yield from _track_in_lines(items, total, title)
        return
    with bar:
        task = bar.add_task(title, total=total)
        for item in items:
            yield item
            bar.advance(task)


def track_bytes(blocks: Iterable[bytes], total: int | None, title: str) -> Iterator[bytes]:
    """Yield blocks of bytes, showing the number of bytes done on a terminal.

    Parameters
    ----------
    blocks : iterable of bytes
        The blocks.
    total : int or None
        The total number of bytes; None means unknown.
    title : str
        A short description of the work.

    Yields
    ------
    bytes
        Each block in turn.
    """
    bar = _make_bar(in_bytes=True)
    if bar is None:
        yield from blocks
        return
    with bar:
        task = bar.add_task(title, total=total)
        for block in blocks:
            yield block
            bar.update(task, advance=len(block), refresh=True)


def _make_bar(*, in_bytes: bool = False) -> Progress | None:
    """Return a progress bar, or None if there is no rich or no terminal to draw it on."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
    except ImportError:
        return None
    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        return None
    if in_bytes:
        columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
        return Progress(*columns, console=console)
    # Estimate the time left from all items so far, not just from those of the last half minute.
    return Progress(console=console, speed_estimate_period=math.inf)


def _track_in_lines(items: Iterable[T], total: int, title: str) -> Iterator[T]:
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
