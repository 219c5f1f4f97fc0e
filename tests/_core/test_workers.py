import os
import subprocess
import sys

import pytest

from calibrant._core import workers
from calibrant._core.workers import distribute, worker_options

COMMAND = """
from calibrant._core.signals import begin_command
from calibrant._core.workers import worker_options

begin_command()
print(list(worker_options()))
"""
CALLS = [(k, k + 1) for k in range(5)]


def multiply(a, b):
    return a, a * b, os.getpid()


@pytest.mark.parametrize(("seconds", "elsewhere"), [(-1.0, True), (1e6, False)])
def test_workers_are_started_if_they_save_time(monkeypatch, seconds, elsewhere):
    monkeypatch.setattr(workers, "WORKER_START_SECONDS", seconds)
    found = sorted(distribute(multiply, CALLS, 2))
    assert [each[:2] for each in found] == [(a, a * b) for a, b in CALLS]
    assert all((process != os.getpid()) == elsewhere for _, _, process in found)


def test_only_commands_tie_their_workers_when_they_start():
    assert worker_options() == {}
    command = subprocess.run([sys.executable, "-c", COMMAND], capture_output=True, check=True)
    assert command.stdout.decode().strip() == "['initializer']"
