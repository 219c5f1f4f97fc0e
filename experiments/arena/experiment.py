"""The experiments of the arena: all methods on the same small sets of rows."""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import Bunch

from calibrant._core.typing import FloatArray, IndexArray
from experiments.arena.fit_cache import CachedClassifier, FitCache
from experiments.arena.inputs import MethodInput
from experiments.arena.losses import compute_losses
from experiments.arena.methods import ARENA_METHODS, CLASSIFIER_OF, METHODS, RAW
from experiments.arena.peers import PEERS, check_peers
from experiments.arena.tables import TABLES
from experiments.classifiers import CLASSIFIERS
from experiments.experiment import (
    Experiment,
    Outcome,
    Split,
    TableOptions,
    TableType,
    Task,
    load_cached,
)
from experiments.preprocessing import preprocess_split
from experiments.rendering import Table
from experiments.store import Run

# The arena is about small data and must finish in reasonable time.
MAX_ROWS = 1000
MAX_TEST_ROWS = 2000
N_TREES = 300


@dataclass(frozen=True, kw_only=True)
class ArenaExperiment(Experiment):
    """Methods on folds of at most 1,000 rows, or trained on a few rows drawn at random.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods. Those in `CLASSIFIER_OF` run with one classifier only.
    n_train : int or None
        Number of training rows, drawn by stratified sampling for each fold; the other rows are
        test rows. None means cross-validation.
    """

    classifiers: tuple[str, ...] = tuple(CLASSIFIERS)
    methods: tuple[str, ...] = tuple(ARENA_METHODS)
    n_train: int | None = None

    def method_groups(self, classifier: str) -> list[tuple[str, ...]]:
        """Return one group of all methods for this classifier, since they share fits."""
        return [
            tuple(
                name for name in self.methods if CLASSIFIER_OF.get(name, classifier) == classifier
            )
        ]

    def check_environment(self) -> None:
        """Raise ValueError if a package that provides one of the methods is missing."""
        if any(name in PEERS for name in self.methods):
            check_peers()

    def split(self, task: Task) -> Split:
        """Split the rows and fit the preprocessing on the training rows only."""
        data = load_cached(task.data_set)
        train, test = self._split_rows(data, task)
        # No classifier can predict a class that is missing from the training rows.
        classes = np.unique(data.target[train])
        test = test[np.isin(data.target[test], classes)]
        X, X_test = preprocess_split(data, train, test)
        y, y_test = (np.searchsorted(classes, data.target[rows]) for rows in (train, test))
        estimator = CLASSIFIERS[task.classifier].make(task.seed, N_TREES)
        return Split(X, y, X_test, y_test, estimator)

    def _split_rows(self, data: Bunch, task: Task) -> tuple[IndexArray, IndexArray]:
        rows = np.arange(len(data.target))
        if self.n_train is not None:
            train, test = train_test_split(
                rows, train_size=self.n_train, stratify=data.target, random_state=task.seed
            )
            return train, test[:MAX_TEST_ROWS]
        if len(rows) > MAX_ROWS:
            rows, _ = train_test_split(
                rows, train_size=MAX_ROWS, stratify=data.target, random_state=0
            )
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=0)
        train, test = list(folds.split(rows, data.target[rows]))[task.fold]
        return rows[train], rows[test]

    def evaluate(self, task: Task, split: Split) -> Iterator[Outcome]:
        """Run all methods, recording the error message of any that fails."""
        cache = FitCache()
        given = MethodInput(
            classifier=CachedClassifier(split.estimator, cache),
            needs_refits=CLASSIFIERS[task.classifier].needs_refits,
            X=split.X,
            y=split.y,
            X_test=split.X_test,
            seed=task.seed,
        )
        model_seconds = 0.0
        for name in task.methods:
            cache.saved_seconds = 0.0
            start = time.perf_counter()
            proba, error = _predict(name, given)
            seconds = time.perf_counter() - start + cache.saved_seconds
            if name == RAW:
                model_seconds = seconds
            yield Outcome(
                name,
                proba,
                model_seconds,
                None if name == RAW else seconds - model_seconds,
                error=error,
            )

    @property
    def tables(self) -> Mapping[str, TableType]:
        """The tables of the arena."""
        return TABLES

    def make_tables(self, name: str, runs: Sequence[Run], options: TableOptions) -> list[Table]:  # noqa: ARG002 (tables without options)
        """Make a table of the runs."""
        return [TABLES[name].make(compute_losses(runs, self.n_train), self.name)]

    def ranked_losses(self, runs: Sequence[Run], metrics: str) -> tuple[FloatArray, list[str]]:  # noqa: ARG002 (one definition)
        """Return the mean log losses of all cases and the names of the methods."""
        losses = compute_losses(runs, self.n_train)
        return losses.mean_log_loss, losses.methods


def _predict(name: str, given: MethodInput) -> tuple[FloatArray, str | None]:
    """Run a method silently, and return its probabilities and its error if it failed."""
    n_classes = len(np.unique(given.y))
    nothing = np.empty((0, n_classes))
    silence = io.StringIO()
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(silence),
        contextlib.redirect_stderr(silence),
    ):
        warnings.simplefilter("ignore")
        try:
            proba = METHODS[name](given)
        except Exception as error:  # a peer can raise anything, and that is its result
            return nothing, f"{type(error).__name__}: {error}"
    if proba.shape != (len(given.X_test), n_classes) or not np.isfinite(proba).all():
        return nothing, "The probabilities are missing or not finite."
    return proba, None
