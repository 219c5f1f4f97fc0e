"""A real cluster of two worker processes gives what one process gives, whoever dies."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from typer.testing import CliRunner

from calibrant import CalibratedClassifier
from experiments import cluster as experiments_cluster
from experiments.commands import app
from experiments.registry import EXPERIMENTS
from experiments.runner import find_pending, run_experiment
from experiments.store import Store, open_store

pytestmark = pytest.mark.slow

SEEDS = EXPERIMENTS["smoke"].restrict(["seeds"])
RUN_SEEDS = ["run", "--experiment", "smoke", "--data-sets", "seeds"]
ROOT = Path(__file__).parents[2]
ANY_PORT = {"dashboard_address": ":0"}  # a page that no test reads, and its port may be taken


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, **ANY_PORT) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.fixture
def rows():
    return make_classification(
        150, 8, n_informative=5, n_redundant=0, n_classes=3, weights=[0.5, 0.3], random_state=0
    )


@pytest.mark.parametrize(
    "model",
    [
        CalibratedClassifier(LogisticRegression(), strategy="one-vs-rest", random_state=0),
        CalibratedClassifier(
            RandomForestClassifier(10), strategy="all-pairs", method="sigmoid", cv=3, random_state=0
        ),
        CalibratedClassifier(RandomForestClassifier(60), random_state=0),
        CalibratedClassifier(GaussianNB(), random_state=0),
    ],
    ids=["paper", "forest", "forest's votes", "default"],
)
def test_a_fit_on_the_cluster_equals_a_serial_one(client, rows, model):
    X, y = rows
    weight = np.linspace(0.5, 1.5, len(y))
    expected = model.fit(X, y, sample_weight=weight).predict_proba(X)
    with parallel_config(backend="dask"):
        proba = model.fit(X, y, sample_weight=weight).predict_proba(X)
    np.testing.assert_array_equal(proba, expected)


def test_rows_are_sent_once_for_all_fits(client, rows, monkeypatch):
    calls = Counter()

    def counted(method):
        def call(*args, **kwargs):
            calls[method.__name__] += 1
            return method(*args, **kwargs)

        return call

    for method in (Client.submit, Client.scatter):
        monkeypatch.setattr(Client, method.__name__, counted(method))
    with parallel_config(backend="dask"):
        CalibratedClassifier(LogisticRegression(), strategy="one-vs-rest").fit(*rows)
    assert calls["scatter"] == 2  # for the three models, and for their many refits
    assert calls["submit"] > 4


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


def test_an_experiment_on_the_cluster_equals_a_serial_one(
    paper_data, cluster, serial_runs, tmp_path
):
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


def test_a_worker_killed_in_the_midst_loses_nothing(
    paper_data, cluster, client, serial_runs, tmp_path
):
    path = tmp_path / "results.sqlite"
    command = [sys.executable, "-m", "experiments", *RUN_SEEDS]
    command += ["--dask", cluster.scheduler_address, "--store", str(path)]
    client.restart()  # so that the first tasks take a while, for the imports
    pids = client.run(os.getpid)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        # A worker is stopped with work in hand, so that on any machine there is some to lose
        # when it is killed, and some stored by the other one.
        while not (busy := [worker for worker, tasks in client.processing().items() if tasks]):
            assert process.poll() is None, process.stderr.read()
        os.kill(pids[busy[0]], signal.SIGSTOP)
        while n_left(path) == len(SEEDS.list_tasks()):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        os.kill(pids[busy[0]], signal.SIGKILL)
        left = n_left(path)
        _, said = process.communicate()
    assert process.returncode == 0, said
    assert left > 0
    assert pids[busy[0]] not in client.run(os.getpid).values()
    assert_same_runs(path, serial_runs)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(experiments_cluster, "CONNECTION_TIMEOUT", 0.5)


def invoke(address):
    return CliRunner().invoke(app, ["run", "--experiment", "smoke", "--dask", address])


def assert_one_line(result, said):
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.fixture
def silent_stranger():
    """The address of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield "tcp://{}:{}".format(*server.getsockname())


@pytest.mark.parametrize("address", ["garbage", "http://127.0.0.1:9", "127.0.0.1:9"])
def test_an_address_without_a_scheduler_gets_one_line(impatient, address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_one_line(invoke(address), f"no scheduler answers at {address!r}. Start one with")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_no_scheduler_gets_one_line(impatient, silent_stranger):
    assert_one_line(invoke(silent_stranger), "no scheduler answers")


def test_a_cluster_without_workers_gets_one_line(monkeypatch):
    monkeypatch.setattr(experiments_cluster, "WORKER_TIMEOUT", 0.1)
    with LocalCluster(n_workers=0, **ANY_PORT) as empty:
        address = empty.scheduler_address
        assert_one_line(invoke(address), f"PYTHONPATH=. dask worker {address}")


def test_without_dask_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert_one_line(invoke("127.0.0.1:8786"), "pip install 'calibrant[dask]'")


def test_a_cluster_that_goes_away_keeps_what_is_stored(paper_data, tmp_path):
    path = tmp_path / "results.sqlite"
    with (
        LocalCluster(n_workers=2, processes=False, **ANY_PORT) as cluster,
        pytest.raises(ConnectionError, match="The cluster stopped before the end"),
        experiments_cluster.dask_cluster(cluster.scheduler_address),
        Store(path) as store,
    ):
        run_experiment(SEEDS, store, progress=lambda runs, _: closing_after_one(runs, cluster))
    assert 0 < n_left(path) < len(SEEDS.list_tasks())


def closing_after_one(runs, cluster):
    yield next(runs)
    cluster.close()
    yield from runs
