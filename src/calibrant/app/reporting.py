"""Messages of a process on the progress of its task."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# Messages are sent no more often than this.
SECONDS_BETWEEN_MESSAGES = 0.2


class Reporter:
    """Sends messages on the progress of a task.

    Parameters
    ----------
    send : callable
        Sends a message.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send = send

    def say(self, step: str) -> None:
        """Say what is being done, if it is unknown how long it takes."""
        self._send({"progress": {"step": step}})

    def track(self, items: Iterable[Any], total: int) -> Iterator[Any]:
        """Yield the items of a cross-validation, and say how many are done."""
        sent = 0.0
        self._send({"progress": {"step": "Evaluating the models", "done": 0, "total": total}})
        for done, item in enumerate(items, start=1):
            yield item
            now = time.monotonic()
            if now - sent >= SECONDS_BETWEEN_MESSAGES or done == total:
                sent = now
                progress = {"step": "Evaluating the models", "done": done, "total": total}
                self._send({"progress": progress})
