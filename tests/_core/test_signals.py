import multiprocessing
import signal

from calibrant._core.signals import tie_worker_to_command


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
