"""A run that is killed again and again ends in the same table as one that is not."""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments.commands import app
from experiments.runner import pending, run_suite, select_suite, units
from experiments.store import Store, open_store

pytestmark = pytest.mark.slow

N_KILLS = 10
PART = {"data_sets": ["seeds", "ecoli"], "classifiers": ["nb"]}


@pytest.fixture
def suite(paper_data):
    return select_suite("paper", **PART, as_published=False)


def start(path):
    options = [word for name, own in PART.items() for word in (f"--{name.replace('_', '-')}", *own)]
    command = ["run", "--suite", "paper", *options, "--jobs", "2", "--store", str(path)]
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def n_left(suite, path):
    if not path.exists():
        return len(units(suite))
    with open_store(path) as store:
        return len(pending(suite, store))


def table(path):
    result = CliRunner().invoke(app, ["tables", "--store", str(path), "--format", "csv"])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_ten_kills_change_nothing(suite, tmp_path):
    whole, killed = tmp_path / "whole.sqlite", tmp_path / "killed.sqlite"
    began = time.perf_counter()
    with Store(whole) as store:
        run_suite(suite, store)
    seconds_a_unit = (time.perf_counter() - began) / len(units(suite))

    rng = random.Random(0)
    left = [n_left(suite, killed)]
    for _ in range(N_KILLS):
        process = start(killed)
        while n_left(suite, killed) == left[-1]:
            assert process.poll() is None
            time.sleep(0.01)
        # Work is under way: the kill comes at any moment of the next two units.
        time.sleep(rng.uniform(0, 2 * seconds_a_unit))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        left.append(n_left(suite, killed))
    # Each time work was done, none of it was lost, and the last kill came in the midst.
    assert all(after < before for before, after in pairwise(left))
    assert left[-1] > 0

    assert start(killed).wait() == 0
    with open_store(whole) as one, open_store(killed) as other:
        for run, again in zip(one.runs("proper"), other.runs("proper"), strict=True):
            assert run.identity == again.identity
            np.testing.assert_array_equal(run.proba, again.proba)
    assert table(killed) == table(whole)
