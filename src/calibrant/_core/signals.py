"""Handling of Ctrl-C in worker processes."""

from __future__ import annotations

import multiprocessing
import signal
import threading


def ignore_interrupts_in_worker() -> None:
    """Ignore Ctrl-C if this is a worker process.

    A terminal sends the signal to a command and to all its workers. The command handles the
    signal and stops the workers.
    """
    in_worker = multiprocessing.current_process().name != "MainProcess"
    if in_worker and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
