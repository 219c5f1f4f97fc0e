import multiprocessing
import signal
import time

import pytest

from calibrant._core.signals import SECONDS_BETWEEN_LOOKS, tie_worker_to_command


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


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_live_as_long_as_the_process_that_started_them(method):
    # The parent of a worker of a fork server is the server.
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply_async(survives).get(timeout=60)
