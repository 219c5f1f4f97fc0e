"""Experiments on a Dask cluster of two worker processes, and what happens if these die."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from distributed import Client, LocalCluster
from typer.testing import CliRunner

from experiments import cluster as experiments_cluster
from experiments.commands import app
from experiments.registry import EXPERIMENTS
from experiments.runner import find_pending, run_experiment
from experiments.store import Store, open_store

pytestmark = pytest.mark.slow

SEEDS = EXPERIMENTS["smoke"].restrict(["seeds"])
RUN_SEEDS = ["run", "--experiment", "smoke", "--data-sets", "seeds"]
ROOT = Path(__file__).parents[2]
ANY_PORT = {"dashboard_address": ":0"}  # the usual port of the dashboard may be taken


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, **ANY_PORT) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def serial_runs(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("serial") / "results.sqlite") as store:
        run_experiment(SEEDS, store)
        return store.runs("smoke")


def assert_same_runs(path, expected):
    with open_store(path) as store:
        runs = store.runs("smoke")
    assert [(run.identity, run.seed) for run in runs] == [(r.identity, r.seed) for r in expected]
    for one, other in zip(runs, expected, strict=True):
        np.testing.assert_array_equal(one.proba, other.proba)
        np.testing.assert_array_equal(one.y_true, other.y_true)


def test_runs_on_a_cluster_equal_serial_runs(paper_data, cluster, serial_runs, tmp_path):
    path = tmp_path / "results.sqlite"
    arguments = [*RUN_SEEDS, "--dask", cluster.scheduler_address, "--store", str(path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert_same_runs(path, serial_runs)


def n_left(path):
    if not path.exists():
        return len(SEEDS.list_tasks())
    with open_store(path) as store:
        return len(find_pending(SEEDS, store))


def test_another_worker_takes_over_from_a_killed_one(
    paper_data, cluster, client, serial_runs, tmp_path
):
    path = tmp_path / "results.sqlite"
    command = [sys.executable, "-m", "experiments", *RUN_SEEDS]
    command += ["--dask", cluster.scheduler_address, "--store", str(path)]
    client.restart()  # imports then make the first tasks slow
    pids = client.run(os.getpid)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        # A busy worker is stopped until the other one has stored a run. So on any machine, work
        # is lost when the stopped worker is killed, and work is left to do.
        while not (busy := [worker for worker, tasks in client.processing().items() if tasks]):
            assert process.poll() is None, process.stderr.read()
        os.kill(pids[busy[0]], signal.SIGSTOP)
        while n_left(path) == len(SEEDS.list_tasks()):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        os.kill(pids[busy[0]], signal.SIGKILL)
        left = n_left(path)
        _, stderr = process.communicate()
    assert process.returncode == 0, stderr
    assert left > 0
    assert pids[busy[0]] not in client.run(os.getpid).values()
    assert_same_runs(path, serial_runs)


@pytest.fixture
def short_timeout(monkeypatch):
    monkeypatch.setattr(experiments_cluster, "CONNECTION_TIMEOUT", 0.5)


def invoke(address):
    return CliRunner().invoke(app, ["run", "--experiment", "smoke", "--dask", address])


def assert_one_line(result, message):
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.fixture
def silent_server():
    """The address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield "tcp://{}:{}".format(*server.getsockname())


@pytest.mark.parametrize("address", ["garbage", "http://127.0.0.1:9", "127.0.0.1:9"])
def test_an_address_without_a_scheduler_gives_a_one_line_error(
    short_timeout, address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert_one_line(invoke(address), f"no scheduler answers at {address!r}. Start one in")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_a_scheduler_gives_a_one_line_error(short_timeout, silent_server):
    assert_one_line(invoke(silent_server), "no scheduler answers")


def test_a_cluster_without_workers_gives_a_one_line_error(monkeypatch):
    monkeypatch.setattr(experiments_cluster, "WORKER_TIMEOUT", 0.1)
    with LocalCluster(n_workers=0, **ANY_PORT) as empty:
        address = empty.scheduler_address
        assert_one_line(invoke(address), f"PYTHONPATH=. dask worker {address}")


def test_a_scheduler_without_the_experiments_gives_a_one_line_error(tmp_path):
    address_file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "dask", "scheduler", "--port", "0"]
    command += ["--dashboard-address", ":0", "--scheduler-file", str(address_file)]
    elsewhere = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=elsewhere, stderr=subprocess.DEVNULL
    ) as scheduler:
        try:
            while not address_file.exists():
                assert scheduler.poll() is None
                time.sleep(0.05)
            address = json.loads(address_file.read_text())["address"]
            assert_one_line(invoke(address), "The scheduler and its workers must be able to import")
        finally:
            scheduler.terminate()


def test_without_dask_the_error_names_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert_one_line(invoke("127.0.0.1:8786"), "pip install 'calibrant[dask]'")


def test_runs_stored_before_the_cluster_stopped_are_kept(paper_data, tmp_path):
    path = tmp_path / "results.sqlite"
    with (
        LocalCluster(n_workers=2, processes=False, **ANY_PORT) as cluster,
        pytest.raises(ConnectionError, match="The cluster stopped before the end"),
        experiments_cluster.dask_cluster(cluster.scheduler_address),
        Store(path) as store,
    ):
        run_experiment(SEEDS, store, progress=lambda runs, _: close_after_one_run(runs, cluster))
    assert 0 < n_left(path) < len(SEEDS.list_tasks())


def close_after_one_run(runs, cluster):
    yield next(runs)
    cluster.close()
    yield from runs
