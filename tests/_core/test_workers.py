import os

import pytest

from calibrant._core import workers
from calibrant._core.workers import distribute

CALLS = [(k, k + 1) for k in range(5)]


def multiply(a, b):
    return a, a * b, os.getpid()


@pytest.mark.parametrize(("seconds", "elsewhere"), [(-1.0, True), (1e6, False)])
def test_workers_are_started_if_they_save_time(monkeypatch, seconds, elsewhere):
    monkeypatch.setattr(workers, "WORKER_START_SECONDS", seconds)
    found = sorted(distribute(multiply, CALLS, 2))
    assert [each[:2] for each in found] == [(a, a * b) for a, b in CALLS]
    assert all((process != os.getpid()) == elsewhere for _, _, process in found)
