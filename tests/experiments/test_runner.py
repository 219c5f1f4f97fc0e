import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from joblib import effective_n_jobs, parallel_config

from experiments.paper.experiment import PROTOCOLS
from experiments.runner import SUITES, pending, run_suite, run_unit, select_suite, units
from experiments.store import Run, Store, open_store

SEEDS = replace(SUITES["smoke"], data_sets=("seeds",), n_folds=2)


def make_run(fold=0, scenario="multiclass_raw"):
    rng = np.random.default_rng(fold)
    return Run(
        protocol="proper",
        data_set="seeds",
        classifier="nb",
        scenario=scenario,
        fold=fold,
        n_folds=10,
        seed=7,
        implementation="sklearn",
        versions={"numpy": "2"},
        n_problems=3,
        model_seconds=0.5,
        calibration_seconds=None,
        true=rng.integers(0, 3, size=20),
        proba=rng.dirichlet(np.ones(3), size=20),
    )


def test_runs_come_back_to_the_last_bit(tmp_path):
    run = make_run()
    with Store(tmp_path / "results.sqlite") as store:
        store.add([run])
    with open_store(tmp_path / "results.sqlite") as store:
        (back,) = store.runs("proper")
        assert store.runs("as-published") == []
    assert back.identity == run.identity
    assert (back.seed, back.versions, back.calibration_seconds) == (7, {"numpy": "2"}, None)
    np.testing.assert_array_equal(back.proba, run.proba)
    np.testing.assert_array_equal(back.true, run.true)


def test_suites_of_one_protocol_are_told_apart_by_their_folds(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        store.add([make_run(), make_run(fold=1), replace(make_run(), n_folds=3)])
        assert len(store.runs("proper")) == 3
        assert [run.fold for run in store.runs("proper", 10)] == [0, 1]
        assert [run.n_folds for run in store.runs("proper", 3)] == [3]
        assert store.runs("as-published", 10) == []


def test_a_run_is_stored_once(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        store.add([make_run(), make_run(fold=1)])
        store.add([make_run()])
        assert len(store.runs("proper")) == 2


def test_a_unit_is_stored_wholly_or_not_at_all(tmp_path):
    broken = replace(make_run(fold=1), versions={1: object()})
    with Store(tmp_path / "results.sqlite") as store:
        with pytest.raises(TypeError):
            store.add([make_run(), broken])
        assert store.identities() == set()


def test_a_missing_store_gets_one_clear_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"It does not exist\. Make it with"):
        open_store(tmp_path / "nothing.sqlite")


def test_a_file_that_is_no_store_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, and longer than the header of one " * 10)
    with pytest.raises(sqlite3.DatabaseError):
        open_store(path)
    assert path.read_text().startswith("not a database")


def test_units_cover_the_suite():
    suite = SUITES["paper"]
    assert len(units(suite)) == 12 * 2 * 10 * 3
    assert len(set(units(suite))) == len(units(suite))


def test_parts_of_a_suite_can_be_chosen():
    suite = select_suite("paper", ["seeds"], ["nb"], as_published=True)
    assert (suite.data_sets, suite.classifiers) == (("seeds",), ("nb",))
    assert (suite.n_folds, suite.protocol) == (10, "as-published")
    with pytest.raises(ValueError, match=r"data-sets must be among abalone, .* Got iris"):
        select_suite("paper", ["iris"], None, as_published=False)
    with pytest.raises(ValueError, match=r"classifiers must be among nb, rf\. Got svm"):
        select_suite("paper", None, ["svm"], as_published=False)


def test_what_is_stored_is_not_run_again(tmp_path, paper_data):
    with Store(tmp_path / "results.sqlite") as store:
        run_suite(SEEDS, store)
        assert pending(SEEDS, store) == []
        first = store.runs("proper")
        assert len(first) == 5 * 2
        store._connection.execute("DELETE FROM run WHERE scenario = 'all_pairs_raw' AND fold = 0")
        store._connection.commit()
        assert [unit.approach for unit in pending(SEEDS, store)] == ["all-pairs"]
        run_suite(SEEDS, store)
        for one, other in zip(first, store.runs("proper"), strict=True):
            assert one.identity == other.identity
            np.testing.assert_array_equal(one.proba, other.proba)


def test_results_do_not_depend_on_the_number_of_jobs(tmp_path, paper_data):
    stores = []
    for n_jobs in (1, 2):
        with Store(tmp_path / f"{n_jobs}.sqlite") as store:
            run_suite(SEEDS, store, n_jobs=n_jobs)
            stores.append(store.runs("proper"))
    for one, other in zip(*stores, strict=True):
        np.testing.assert_array_equal(one.proba, other.proba)


def test_a_unit_spreads_its_work_no_further(monkeypatch):
    monkeypatch.setattr(type(PROTOCOLS["proper"]), "run", lambda self, unit: effective_n_jobs(-1))
    with parallel_config(backend="threading", n_jobs=2):
        assert run_unit(units(SEEDS)[0]) == 1


def test_model_and_calibration_are_timed_apart(paper_data):
    unit = next(unit for unit in units(SEEDS) if unit.approach == "one-vs-rest")
    raw, calibrated = run_unit(unit)
    assert raw.calibration_seconds is None
    assert calibrated.model_seconds == raw.model_seconds > 0
    assert calibrated.calibration_seconds > raw.model_seconds
    assert raw.n_problems == calibrated.n_problems == 3


def test_all_pairs_as_published_share_the_models_of_all_pairs(paper_data):
    suite = select_suite("paper", ["ecoli"], ["nb"], as_published=True)
    unit = next(unit for unit in units(suite) if unit.approach == "all-pairs")
    runs = {run.scenario: run for run in run_unit(unit)}
    assert len(runs) == 4
    for name in ("all_pairs_raw", "all_pairs_dgg_enir"):
        right, faulty = runs[name], runs[f"{name}_as_published"]
        assert right.model_seconds == faulty.model_seconds
        assert np.abs(right.proba - faulty.proba).max() > 0.01


def test_published_folds_are_ten():
    with pytest.raises(ValueError, match=r"n_folds must be 10, .* Got 3"):
        PROTOCOLS["as-published"].fold("seeds", 0, 3, "nb", 0)


def test_a_store_from_before_the_arena_is_read_and_added_to(tmp_path):
    path = tmp_path / "old.sqlite"
    with Store(path) as store:
        store.add([make_run()])
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE run DROP COLUMN error")
    connection.close()
    with Store(path) as store:
        store.add([make_run(fold=1)])
        assert [run.error for run in store.runs("proper")] == [None, None]
