"""One SQLite file of results: a row a run, with its raw predictions."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

SCHEMA = """
CREATE TABLE IF NOT EXISTS run (
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
IDENTITY = "protocol, data_set, classifier, scenario, fold, n_folds"
Identity = tuple[str, str, str, str, int, int]


@dataclass(frozen=True, eq=False)
class Run:
    """One classifier in one scenario on one fold of one data set.

    Attributes
    ----------
    protocol : str
        How the experiment was done, such as "proper" or "as-published".
    data_set, classifier, scenario : str
        What was run.
    fold, n_folds : int
        The fold that was held out, from 0, and the number of folds.
    seed : int
        The seed of all that is random in it.
    implementation : str
        The module of the classifier.
    versions : dict of str to str
        Versions of Python and of the packages.
    n_problems : int
        The number of scoring problems.
    model_seconds, calibration_seconds : float
        The time to fit the models, and to calibrate them (None without calibration).
    true : ndarray of shape (n_test,)
        The true class of each held-out row.
    proba : ndarray of shape (n_test, n_classes)
        Its predicted probabilities; no rows if it failed.
    error : str or None
        Why it failed.
    """

    protocol: str
    data_set: str
    classifier: str
    scenario: str
    fold: int
    n_folds: int
    seed: int
    implementation: str
    versions: dict[str, str]
    n_problems: int
    model_seconds: float
    calibration_seconds: float | None
    true: NDArray[np.intp]
    proba: NDArray[np.float64]
    error: str | None = None

    @property
    def identity(self) -> Identity:
        """What no two runs of a store share."""
        return (
            self.protocol,
            self.data_set,
            self.classifier,
            self.scenario,
            self.fold,
            self.n_folds,
        )


class Store:
    """Results in one SQLite file, safe against being killed at any moment.

    Every `add` is one transaction: its runs are in the file wholly or not at all. A run
    that is there already is not added again.

    Parameters
    ----------
    path : Path
        The file; made when it is not there.
    """

    def __init__(self, path: Path):
        self.path = path
        self._connection = sqlite3.connect(path)
        with self._connection:
            self._connection.execute(SCHEMA)
            columns = [row[1] for row in self._connection.execute("PRAGMA table_info(run)")]
            if "error" not in columns:  # a store of the time before the arena
                self._connection.execute("ALTER TABLE run ADD COLUMN error TEXT")

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
        """Add runs in one transaction."""
        with self._connection:
            self._connection.executemany(
                f"INSERT OR IGNORE INTO run VALUES ({', '.join('?' * 16)})",
                [
                    (
                        *run.identity,
                        run.seed,
                        run.implementation,
                        json.dumps(run.versions, sort_keys=True),
                        run.n_problems,
                        run.model_seconds,
                        run.calibration_seconds,
                        run.proba.shape[1],
                        _pack(run.true.astype("<i2")),
                        _pack(run.proba.astype("<f8")),
                        run.error,
                    )
                    for run in runs
                ],
            )

    def identities(self) -> set[Identity]:
        """Return what has been run."""
        return set(self._connection.execute(f"SELECT {IDENTITY} FROM run"))

    def runs(self, protocol: str, n_folds: int | None = None) -> list[Run]:
        """Return the runs of a protocol, in a fixed order.

        Parameters
        ----------
        protocol : str
            How the experiment was done.
        n_folds : int, default=None
            The number of folds, by which suites of one protocol differ; None is any.

        Returns
        -------
        list of Run
            The runs.
        """
        rows = self._connection.execute(
            "SELECT * FROM run WHERE protocol = ? AND n_folds = ifnull(?, n_folds) "
            f"ORDER BY {IDENTITY}",
            [protocol, n_folds],
        )
        return [_to_run(row) for row in rows]


def open_store(path: Path) -> Store:
    """Open a store that must be there.

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
            f"{path} must be a file of results. It does not exist. "
            "Make it with: python -m experiments run --store FILE"
        )
    return Store(path)


def _to_run(row: tuple[Any, ...]) -> Run:
    protocol, data_set, classifier, scenario, fold, n_folds = row[:6]
    seed, implementation, versions, n_problems, model, calibration = row[6:12]
    n_classes, true, proba, error = row[12:]
    return Run(
        protocol=protocol,
        data_set=data_set,
        classifier=classifier,
        scenario=scenario,
        fold=fold,
        n_folds=n_folds,
        seed=seed,
        implementation=implementation,
        versions=json.loads(versions),
        n_problems=n_problems,
        model_seconds=model,
        calibration_seconds=calibration,
        true=_unpack(true, "<i2").astype(np.intp),
        proba=_unpack(proba, "<f8").reshape(-1, n_classes),
        error=error,
    )


def _pack(array: NDArray[Any]) -> bytes:
    return zlib.compress(array.tobytes())


def _unpack(packed: bytes, dtype: str) -> NDArray[Any]:
    return np.frombuffer(zlib.decompress(packed), dtype=dtype)
