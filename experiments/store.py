"""The results store: a SQLite file with one row per run, including predicted probabilities."""

from __future__ import annotations

import json
import platform
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from calibrant._core.typing import FloatArray, IndexArray

SCHEMA_VERSION = 2
SCHEMA = """
CREATE TABLE run (
    experiment TEXT NOT NULL,
    data_set TEXT NOT NULL,
    classifier TEXT NOT NULL,
    method TEXT NOT NULL,
    fold INTEGER NOT NULL,
    n_folds INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    implementation TEXT NOT NULL,
    versions TEXT NOT NULL,
    n_problems INTEGER NOT NULL,
    model_seconds REAL NOT NULL,
    calibration_seconds REAL,
    n_classes INTEGER NOT NULL,
    y_true BLOB NOT NULL,
    proba BLOB NOT NULL,
    error TEXT,
    PRIMARY KEY (experiment, data_set, classifier, method, fold)
)
"""
IDENTITY = "experiment, data_set, classifier, method, fold"
PACKAGES = (
    "calibrant",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "probmetrics",
    "torch",
    "venn-abers",
    "netcal",
)


class Case(NamedTuple):
    """A classifier on a data set."""

    classifier: str
    data_set: str


class Identity(NamedTuple):
    """The fields that identify a run in a store."""

    experiment: str
    data_set: str
    classifier: str
    method: str
    fold: int


@dataclass(frozen=True, eq=False)
class Run:
    """One method with one classifier on one fold of one data set.

    Attributes
    ----------
    experiment, data_set, classifier, method : str
        Names of the experiment, the data set, the classifier and the method.
    fold, n_folds : int
        Number of the held-out fold, from 0, and number of folds. In experiments that draw their
        training rows at random, a fold is a draw.
    seed : int
        Seed of all randomness in the run.
    implementation : str
        Package that provides the classifier.
    versions : dict of str to str
        Versions of Python and of the packages.
    n_problems : int
        Number of scoring problems.
    model_seconds : float
        Time taken to fit the models.
    calibration_seconds : float or None
        Time taken to calibrate them; None means uncalibrated.
    y_true : ndarray of shape (n_test,)
        True classes of the test rows, as indices.
    proba : ndarray of shape (n_test, n_classes)
        Predicted probabilities; no rows if the method failed.
    error : str or None
        Why the method failed; None means that it did not.
    """

    experiment: str
    data_set: str
    classifier: str
    method: str
    fold: int
    n_folds: int
    seed: int
    implementation: str
    versions: dict[str, str]
    n_problems: int
    model_seconds: float
    calibration_seconds: float | None
    y_true: IndexArray
    proba: FloatArray
    error: str | None = None

    @property
    def case(self) -> Case:
        """The classifier and the data set."""
        return Case(self.classifier, self.data_set)

    @property
    def identity(self) -> Identity:
        """The fields that identify the run in a store."""
        return Identity(self.experiment, self.data_set, self.classifier, self.method, self.fold)


@lru_cache
def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that the results depend on."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


class Store:
    """Runs in a SQLite file, which stays valid if the process crashes or is killed.

    Every call to `add` is one transaction: either all of its runs are stored or none are. Stores
    in the first format, in which experiments have no names, are converted when they are opened.

    Parameters
    ----------
    path : Path
        The SQLite file. It is created if it does not exist.
    """

    def __init__(self, path: Path):
        self.path = path
        self._connection = sqlite3.connect(path)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connection.close()

    def add(self, runs: Iterable[Run]) -> None:
        """Add runs in one transaction, skipping those that are already stored."""
        with self._connection:
            self._connection.executemany(
                f"INSERT OR IGNORE INTO run VALUES ({', '.join('?' * 16)})",
                [
                    (
                        *run.identity,
                        run.n_folds,
                        run.seed,
                        run.implementation,
                        json.dumps(run.versions, sort_keys=True),
                        run.n_problems,
                        run.model_seconds,
                        run.calibration_seconds,
                        run.proba.shape[1],
                        _pack(run.y_true.astype("<i2")),
                        _pack(run.proba.astype("<f8")),
                        run.error,
                    )
                    for run in runs
                ],
            )

    def identities(self) -> set[Identity]:
        """Return the identities of all stored runs."""
        rows = self._connection.execute(f"SELECT {IDENTITY} FROM run")
        return {Identity(*row) for row in rows}

    def drop_damaged(self) -> list[Identity]:
        """Remove runs whose content is damaged, so that they are run again, and return them."""
        rows = self._connection.execute(f"SELECT {IDENTITY}, n_classes, y_true, proba FROM run")
        damaged = [Identity(*row[:5]) for row in rows if not _is_intact(*row[5:])]
        with self._connection:
            self._connection.executemany(
                "DELETE FROM run WHERE experiment = ? AND data_set = ? AND classifier = ? "
                "AND method = ? AND fold = ?",
                damaged,
            )
        return damaged

    def runs(self, experiment: str) -> list[Run]:
        """Return the runs of an experiment.

        Parameters
        ----------
        experiment : str
            Name of the experiment.

        Returns
        -------
        list of Run
            The runs, ordered by data set, classifier, method and fold.

        Raises
        ------
        ValueError
            If the content of a run is damaged.
        """
        rows = self._connection.execute(
            f"SELECT * FROM run WHERE experiment = ? ORDER BY {IDENTITY}", [experiment]
        )
        return [self._to_intact_run(row) for row in rows]

    def _to_intact_run(self, row: tuple[Any, ...]) -> Run:
        if not _is_intact(*row[12:15]):
            name = ", ".join(f"{value}" for value in row[:5])
            raise ValueError(
                f"The runs of a store must be intact, but the run ({name}) of {self.path} is "
                f"damaged. Repeat it with: python -m experiments run --experiment {row[0]} "
                f"--store {self.path}"
            )
        return _to_run(row)

    def _prepare(self) -> None:
        """Create the table of a new file and convert that of an old one."""
        try:
            (schema_version,) = self._connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"A store must be a SQLite file, but {self.path} is not one ({error}). "
                "Choose another file."
            ) from None
        if schema_version == SCHEMA_VERSION:
            return
        with self._connection:
            # Two processes may open a new store at the same time; the second one waits here.
            self._connection.execute("BEGIN IMMEDIATE")
            columns = [row[1] for row in self._connection.execute("PRAGMA table_info(run)")]
            (n_tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if "protocol" in columns:
                _convert_version_1(self._connection, columns)
            elif n_tables == 0:
                self._connection.execute(SCHEMA)
            elif "experiment" not in columns or schema_version > SCHEMA_VERSION:
                raise ValueError(
                    f"{self.path} must be a store of this version (format {SCHEMA_VERSION}), but "
                    "it was written by something else. Choose another file."
                )
            self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def open_store(path: Path) -> Store:
    """Open an existing store.

    Parameters
    ----------
    path : Path
        The SQLite file.

    Returns
    -------
    Store
        The store.
    """
    if not path.is_file():
        raise FileNotFoundError(
            f"The store must be a file, but {path} does not exist. "
            "Create it with: python -m experiments run --store FILE"
        )
    return Store(path)


def _convert_version_1(connection: sqlite3.Connection, columns: list[str]) -> None:
    """Convert a store that identifies an experiment by a protocol and a number of folds."""
    if "error" not in columns:
        connection.execute("ALTER TABLE run ADD COLUMN error TEXT")
    for old, new in (("protocol", "experiment"), ("scenario", "method"), ("true", "y_true")):
        connection.execute(f'ALTER TABLE run RENAME COLUMN "{old}" TO {new}')
    connection.execute(
        "UPDATE run SET experiment = CASE n_folds WHEN 3 THEN 'smoke' ELSE 'paper' END "
        "WHERE experiment = 'proper'"
    )


def _to_run(row: tuple[Any, ...]) -> Run:
    experiment, data_set, classifier, method, fold, n_folds = row[:6]
    seed, implementation, versions, n_problems, model, calibration = row[6:12]
    n_classes, y_true, proba, error = row[12:]
    return Run(
        experiment=experiment,
        data_set=data_set,
        classifier=classifier,
        method=method,
        fold=fold,
        n_folds=n_folds,
        seed=seed,
        implementation=implementation,
        versions=json.loads(versions),
        n_problems=n_problems,
        model_seconds=model,
        calibration_seconds=calibration,
        y_true=_unpack(y_true, "<i2").astype(np.intp),
        proba=_unpack(proba, "<f8").reshape(-1, n_classes),
        error=error,
    )


def _is_intact(n_classes: int, y_true: bytes, proba: bytes) -> bool:
    """Return whether the arrays of a run can be read."""
    try:
        _unpack(y_true, "<i2")
        _unpack(proba, "<f8").reshape(-1, n_classes)
    except (zlib.error, ValueError, TypeError):
        return False
    return True


def _pack(array: NDArray[Any]) -> bytes:
    return zlib.compress(array.tobytes())


def _unpack(packed: bytes, dtype: str) -> NDArray[Any]:
    return np.frombuffer(zlib.decompress(packed), dtype=dtype)
