"""Ctrl-C: a terminal sends it to a command and to all its workers."""

from __future__ import annotations

import multiprocessing
import signal
import threading


def ignore_interrupts_in_worker() -> None:
    """Ignore Ctrl-C in a worker process: the command stops it, and has the word."""
    in_worker = multiprocessing.current_process().name != "MainProcess"
    if in_worker and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
