import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from joblib import effective_n_jobs, parallel_config

from experiments.registry import EXPERIMENTS
from experiments.runner import find_pending, make_status_table, run_experiment, run_task
from experiments.store import Store

SEEDS = replace(EXPERIMENTS["smoke"], data_sets=("seeds",), n_folds=2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_stored_tasks_are_not_run_again(path, paper_data):
    with Store(path) as store:
        run_experiment(SEEDS, store)
        assert find_pending(SEEDS, store) == []
        first = store.runs("smoke")
    assert len(first) == 5 * 2
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM run WHERE method = 'all_pairs_raw' AND fold = 0")
    connection.close()
    with Store(path) as store:
        (task,) = find_pending(SEEDS, store)
        assert task.methods == ("all_pairs_raw", "all_pairs_dgg_enir")
        run_experiment(SEEDS, store)
        for one, other in zip(first, store.runs("smoke"), strict=True):
            assert one.identity == other.identity
            np.testing.assert_array_equal(one.proba, other.proba)


def test_results_do_not_depend_on_the_number_of_jobs(tmp_path, paper_data):
    results = []
    for n_jobs in (1, 2):
        with Store(tmp_path / f"{n_jobs}.sqlite") as store:
            run_experiment(SEEDS, store, n_jobs=n_jobs)
            results.append(store.runs("smoke"))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one.proba, other.proba)


def test_progress_gets_the_number_of_tasks(path, paper_data):
    shown = []

    def progress(items, total):
        shown.append(total)
        return items

    with Store(path) as store:
        run_experiment(SEEDS, store, progress=progress)
    assert shown == [len(SEEDS.list_tasks())]


def test_a_task_runs_without_nested_parallelism(monkeypatch):
    monkeypatch.setattr(type(SEEDS), "run", lambda self, task: effective_n_jobs(-1))
    with parallel_config(backend="threading", n_jobs=2):
        assert run_task(SEEDS, SEEDS.list_tasks()[0]) == 1


def test_the_status_counts_finished_tasks(path, make_paper_runs):
    with Store(path) as store:
        store.add(make_paper_runs(experiment="smoke", n_folds=3, folds=2))
        table = make_status_table([EXPERIMENTS["smoke"], EXPERIMENTS["paper"]], store)
    rows = [[cell.text for cell in row] for row in table.rows]
    # Two folds of one of three data sets, with three groups of methods.
    assert rows[0] == ["smoke", "naive Bayes", "6", "27"]
    assert rows[1:] == [
        ["paper", "naive Bayes", "0", "360"],
        ["paper", "random forest", "0", "360"],
    ]
