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
        # Every other kill waits for a unit to be done, if any is left, so that on any machine
        # work gets done between the kills; the others come at any moment of the start.
        waits = kill % 2 == 1
        while waits and process.poll() is None and n_left(suite, path, n_units) == left[-1]:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.02 if waits else 2.0))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        left.append(n_left(suite, path, n_units))
    # None of it is lost, and a kill comes in the midst.
    assert left == sorted(left, reverse=True)
    assert any(0 < own < n_units for own in left)

    subprocess.run(command, check=True, capture_output=True)
    with open_store(path) as store:
        finished = store.runs("proper")
    assert [run.identity for run in finished] == [run.identity for run in expected]
    for one, other in zip(finished, expected, strict=True):
        np.testing.assert_array_equal(one.proba, other.proba)
