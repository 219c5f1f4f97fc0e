import multiprocessing
import signal

from calibrant._core.signals import ignore_interrupts_in_worker


def is_ignored() -> bool:
    ignore_interrupts_in_worker()
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_only_workers_ignore_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        assert not is_ignored()
    finally:
        signal.signal(signal.SIGINT, before)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(is_ignored)
