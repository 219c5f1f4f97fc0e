"""A run that is killed again and again ends in the same table as one that is not."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np

from calibrant.bench.runner import SUITES, pending, run_suite, units
from calibrant.bench.store import Store, open_store


def n_left(suite, path, n_units):
    if not path.exists():
        return n_units
    with open_store(path) as store:
        return len(pending(suite, store))


def test_ten_kills_change_nothing(tmp_path, paper_data):
    suite = SUITES["smoke"]
    with Store(tmp_path / "whole.sqlite") as store:
        run_suite(suite, store)
        expected = store.runs("proper")

    path = tmp_path / "killed.sqlite"
    command = [
        *[sys.executable, "-m", "calibrant.cli", "bench", "run", "--suite", "smoke"],
        *["--jobs", "1", "--store", str(path)],
    ]
    rng = random.Random(0)
    left = [n_units := len(units(suite))]
    for kill in range(10):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        # Kills come at any moment up to the first unit done, so that work is left for all of
        # them; every other one waits for that unit, so that on any machine work gets done.
        latest = float("inf") if kill % 2 else time.perf_counter() + rng.uniform(0, 2.0)
        while n_left(suite, path, n_units) == left[-1] and time.perf_counter() < latest:
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        left.append(n_left(suite, path, n_units))
    # None of it is lost, and the last kill comes in the midst.
    assert left == sorted(left, reverse=True)
    assert 0 < left[-1] <= n_units - 5

    subprocess.run(command, check=True, capture_output=True)
    with open_store(path) as store:
        finished = store.runs("proper")
    assert [run.identity for run in finished] == [run.identity for run in expected]
    for one, other in zip(finished, expected, strict=True):
        np.testing.assert_array_equal(one.proba, other.proba)
