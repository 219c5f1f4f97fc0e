import multiprocessing
import os
import signal
import time

from calibrant._core.signals import COMMAND, SECONDS_BETWEEN_LOOKS, tie_worker_to_command


def is_ignored() -> bool:
    tie_worker_to_command()
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_only_workers_ignore_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        assert not is_ignored()
    finally:
        signal.signal(signal.SIGINT, before)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(is_ignored)


def survives() -> bool:
    tie_worker_to_command()
    time.sleep(3 * SECONDS_BETWEEN_LOOKS)
    return True


def test_workers_of_programs_that_a_command_started_are_tied_to_these_programs(monkeypatch):
    monkeypatch.setenv(COMMAND, str(os.getppid()))  # inherited from a command
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(survives).get(timeout=60)
