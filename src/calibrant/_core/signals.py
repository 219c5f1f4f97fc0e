"""The end of commands and of their worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from functools import cache
from types import FrameType

# How long a worker may outlive a command that was killed.
SECONDS_BETWEEN_LOOKS = 0.5


def tie_worker_to_command() -> None:
    """Ignore Ctrl-C if this is a worker process, and end it if its command ends.

    A terminal sends the signal to a command and to all its workers. The command handles the
    signal and stops the workers. A command that is killed cannot stop them.
    """
    if multiprocessing.current_process().name == "MainProcess":
        return
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _watch_parent()


@cache
def _watch_parent() -> None:
    """Start a thread that ends this process when the one that started it ends; once per process."""
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid is None:
        return
    # Other processes may start workers for it, and an orphan has another parent.
    has_parent = _is_child_of if os.getppid() == parent.pid else _is_running

    def watch(process: int) -> None:
        while has_parent(process):
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, args=(parent.pid,), daemon=True, name="watch-parent").start()


def _is_child_of(process: int) -> bool:
    return os.getppid() == process


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)  # which sends no signal
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to someone else
        return True
    return True


@cache
def _commands() -> set[int]:
    """Return the processes that are commands: this one, or none."""
    return set()


def is_command() -> bool:
    """Whether this process is a command, not a program that uses the library or a worker."""
    return os.getpid() in _commands()


def begin_command() -> None:
    """Make a command clean up when it is asked to end: the signal becomes an exit."""
    _commands().add(os.getpid())

    def leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, leave)
