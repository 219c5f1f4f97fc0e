import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from experiments.store import Store, installed_versions, open_store

# The table of stores in the first format, in which experiments have no names.
OLD_SCHEMA = """
CREATE TABLE run (
    protocol TEXT NOT NULL,
    data_set TEXT NOT NULL,
    classifier TEXT NOT NULL,
    scenario TEXT NOT NULL,
    fold INTEGER NOT NULL,
    n_folds INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    implementation TEXT NOT NULL,
    versions TEXT NOT NULL,
    n_problems INTEGER NOT NULL,
    model_seconds REAL NOT NULL,
    calibration_seconds REAL,
    n_classes INTEGER NOT NULL,
    true BLOB NOT NULL,
    proba BLOB NOT NULL,
    error TEXT,
    PRIMARY KEY (protocol, data_set, classifier, scenario, fold, n_folds)
)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_runs_come_back_to_the_last_bit(path, make_run):
    run = make_run()
    with Store(path) as store:
        store.add([run])
    with open_store(path) as store:
        (back,) = store.runs("paper")
        assert store.runs("as-published") == []
        assert store.identities() == {run.identity}
    assert back.identity == run.identity
    assert (back.seed, back.versions, back.calibration_seconds) == (7, {"numpy": "2"}, None)
    np.testing.assert_array_equal(back.proba, run.proba)
    np.testing.assert_array_equal(back.y_true, run.y_true)


def test_a_failed_run_keeps_its_error_and_its_number_of_classes(path, make_run):
    with Store(path) as store:
        store.add([make_run(proba=np.empty((0, 3)), error="RuntimeError: no")])
        (back,) = store.runs("paper")
    assert back.error == "RuntimeError: no"
    assert back.proba.shape == (0, 3)


def test_runs_are_of_one_experiment_and_in_order(path, make_run):
    runs = [make_run(fold=fold) for fold in (2, 0, 1)]
    with Store(path) as store:
        store.add([*runs, make_run(experiment="smoke", n_folds=3)])
        assert [run.fold for run in store.runs("paper")] == [0, 1, 2]
        assert len(store.runs("smoke")) == 1


def test_a_run_is_stored_once(path, make_run):
    with Store(path) as store:
        store.add([make_run(), make_run(fold=1)])
        store.add([make_run(proba=np.zeros((20, 3)))])
        first, _ = store.runs("paper")
    np.testing.assert_array_equal(first.proba, make_run().proba)


def test_runs_are_added_together_or_not_at_all(path, make_run):
    broken = replace(make_run(fold=1), versions={1: object()})
    with Store(path) as store:
        with pytest.raises(TypeError):
            store.add([make_run(), broken])
        assert store.identities() == set()


def test_a_missing_store_raises_a_clear_error(path):
    with pytest.raises(FileNotFoundError, match=r"does not exist\. Create it with"):
        open_store(path)


def test_a_file_that_is_not_a_database_is_refused_and_left_alone(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("not a database, and longer than the header of one " * 10)
    with pytest.raises(ValueError, match=r"must be a SQLite file, but .*notes\.txt is not one"):
        open_store(notes)
    assert notes.read_text().startswith("not a database")


@pytest.mark.parametrize("statement", ["CREATE TABLE run (x)", "CREATE TABLE other (x)"])
def test_a_database_of_something_else_is_refused_and_left_alone(path, statement):
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ValueError, match="written by something else"):
        open_store(path)
    assert path.read_bytes() == before


def test_a_store_of_a_later_format_is_refused(path):
    with Store(path):
        pass
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ValueError, match="must be a store of this version"):
        open_store(path)


@pytest.fixture(params=["with errors", "without errors"])
def old_store(request, path, make_run, tmp_path):
    """A store with the table of earlier versions, and the runs that it should hold now."""
    runs = {
        ("proper", 10): make_run(),
        ("proper", 3): make_run(experiment="smoke", n_folds=3),
        ("as-published", 10): make_run(experiment="as-published"),
        ("arena-50", 3): make_run(experiment="arena-50", method="raw", n_folds=3),
    }
    with Store(tmp_path / "new.sqlite") as store:
        store.add(runs.values())
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(OLD_SCHEMA)
        connection.execute("ATTACH ? AS new", [str(tmp_path / "new.sqlite")])
        connection.execute("INSERT INTO run SELECT * FROM new.run")
        connection.execute(
            "UPDATE run SET protocol = 'proper' WHERE protocol IN ('paper', 'smoke')"
        )
    if request.param == "without errors":  # the table before the arena
        with connection:
            connection.execute("ALTER TABLE run DROP COLUMN error")
    connection.close()
    return path, runs


def test_a_store_of_an_earlier_format_is_converted(old_store, make_run):
    path, expected = old_store
    for _ in range(2):
        with open_store(path) as store:
            assert store.identities() == {run.identity for run in expected.values()}
            for run in expected.values():
                (back,) = store.runs(run.experiment)
                assert (back.n_folds, back.error) == (run.n_folds, None)
                np.testing.assert_array_equal(back.proba, run.proba)
                np.testing.assert_array_equal(back.y_true, run.y_true)


def test_a_converted_store_can_be_added_to(old_store, make_run):
    path, _ = old_store
    with open_store(path) as store:
        store.add([make_run(), make_run(fold=1, error="failed", proba=np.empty((0, 3)))])
        assert [run.error for run in store.runs("paper")] == [None, "failed"]


def test_versions_are_those_of_the_installed_packages():
    versions = installed_versions()
    assert versions["numpy"] == np.__version__
    assert "python" in versions


@pytest.mark.parametrize("damage", [b"", b"no zlib", b"x\x9c\x03\x00\x00\x00\x00\x02"], ids=repr)
def test_a_damaged_run_is_named_and_can_be_repeated(path, make_run, damage):
    run = make_run()
    with Store(path) as store:
        store.add([run])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE run SET proba = ?", [damage])
    connection.close()
    with open_store(path) as store:
        with pytest.raises(ValueError, match=rf"the run \(paper, .*{run.fold}\) of .* is damaged"):
            store.runs("paper")
        assert store.drop_damaged() == [run.identity]
        assert store.identities() == set()
        store.add([run])
        (back,) = store.runs("paper")
        assert store.drop_damaged() == []
    np.testing.assert_array_equal(back.proba, run.proba)
