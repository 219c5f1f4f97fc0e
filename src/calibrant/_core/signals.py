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

# The environment variable in which workers inherit the number of the command's process. A worker
# that starts after the command was killed could not find it out: its parent is then the first
# process of the system.
COMMAND = "CALIBRANT_COMMAND_PROCESS"
FIRST_PROCESS = 1
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
    """Start a thread that ends this process when its parent ends; once per process."""
    parent = os.getppid()
    if parent == FIRST_PROCESS:
        parent = int(os.environ.get(COMMAND) or FIRST_PROCESS)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="watch-parent").start()


def begin_command() -> None:
    """Make a command clean up when it is asked to end, and let its workers know it.

    The signal that asks it to end becomes an exit.
    """
    os.environ[COMMAND] = str(os.getpid())

    def leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, leave)
