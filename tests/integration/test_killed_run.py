"""A run that is killed again and again ends in the same table as one that is not."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np

from calibrant.bench.runner import SUITES, pending, run_suite
from calibrant.bench.store import Store, open_store


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
    # Kills come at moments that suit the machine: from the start of the process to some units on.
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import calibrant.bench.runner"], check=True)
    start = time.perf_counter() - began
    rng = random.Random(0)
    done = []
    for _ in range(10):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(rng.uniform(0.5, 3.0) * start)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if path.exists():
            with open_store(path) as store:
                done.append(len(pending(suite, store)))
    # Work gets done between the kills, none of it is lost, and the kills come in the midst.
    assert done == sorted(done, reverse=True)
    assert done[-1] < done[0]

    subprocess.run(command, check=True, capture_output=True)
    with open_store(path) as store:
        finished = store.runs("proper")
    assert [run.identity for run in finished] == [run.identity for run in expected]
    for one, other in zip(finished, expected, strict=True):
        np.testing.assert_array_equal(one.proba, other.proba)
