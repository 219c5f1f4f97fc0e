"""An experiment that is killed ten times ends in the same table as an undisturbed one."""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments.commands import app
from experiments.registry import EXPERIMENTS
from experiments.runner import find_pending, run_experiment
from experiments.store import Store, open_store

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
N_KILLS = 10
PART = {"data_sets": ["seeds", "ecoli"], "classifiers": ["nb"]}


@pytest.fixture
def experiment(paper_data):
    return EXPERIMENTS["paper"].restrict(**PART)


def start(path):
    options = [
        word for name, values in PART.items() for word in (f"--{name.replace('_', '-')}", *values)
    ]
    command = ["run", "--experiment", "paper", *options, "--jobs", "2", "--store", str(path)]
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=ROOT,
    )


def n_left(experiment, path):
    if not path.exists():
        return len(experiment.list_tasks())
    with open_store(path) as store:
        return len(find_pending(experiment, store))


def table(path):
    result = CliRunner().invoke(app, ["tables", "--store", str(path), "--format", "csv"])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_ten_kills_change_nothing(experiment, tmp_path):
    whole, killed = tmp_path / "whole.sqlite", tmp_path / "killed.sqlite"
    start_time = time.perf_counter()
    with Store(whole) as store:
        run_experiment(experiment, store)
    seconds_per_task = (time.perf_counter() - start_time) / len(experiment.list_tasks())

    rng = random.Random(0)
    left = [n_left(experiment, killed)]
    for _ in range(N_KILLS):
        process = start(killed)
        while n_left(experiment, killed) == left[-1]:
            assert process.poll() is None
            time.sleep(0.01)
        # The kill comes at a random moment of the next two tasks.
        time.sleep(rng.uniform(0, 2 * seconds_per_task))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        left.append(n_left(experiment, killed))
    # Every start got something done, nothing was lost, and the last kill came before the end.
    assert all(after < before for before, after in pairwise(left))
    assert left[-1] > 0

    assert start(killed).wait() == 0
    with open_store(whole) as one, open_store(killed) as other:
        for run, again in zip(one.runs("paper"), other.runs("paper"), strict=True):
            assert run.identity == again.identity
            np.testing.assert_array_equal(run.proba, again.proba)
    assert table(killed) == table(whole)
