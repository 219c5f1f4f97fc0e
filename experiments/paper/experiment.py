"""The paper's experiment, with its errors corrected and as published."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sklearn.model_selection import StratifiedKFold

from calibrant._core.typing import FloatArray
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
from experiments.paper.as_published import (
    CLASSIFIERS_AS_PUBLISHED,
    TrainingRows,
    predict_with_faulty_coupling,
    predict_without_floor,
    preprocess_as_published,
)
from experiments.paper.losses import PaperLosses
from experiments.paper.methods import CORRECT_METHODS, METHODS, MULTICLASS, PaperMethod
from experiments.paper.published import published_folds
from experiments.paper.tables import TABLES
from experiments.preprocessing import preprocess_split
from experiments.rendering import Table
from experiments.store import Run

N_TREES = 500


@dataclass(frozen=True, kw_only=True)
class PaperExperiment(Experiment):
    """The paper's methods on folds of its data sets."""

    classifiers: tuple[str, ...] = ("nb", "rf")

    @property
    @abstractmethod
    def methods(self) -> tuple[PaperMethod, ...]:
        """The methods, in the order of the paper."""

    @abstractmethod
    def predict(self, method: PaperMethod, model: Any, X: FloatArray) -> FloatArray:
        """Return the class probabilities of a model fitted for a method."""

    def method_groups(self, classifier: str) -> list[tuple[str, ...]]:  # noqa: ARG002 (the same for all)
        """Return one group of methods per approach."""
        groups = groupby(self.methods, key=lambda method: method.approach)
        return [tuple(method.name for method in methods) for _, methods in groups]

    def evaluate(self, task: Task, split: Split) -> Iterator[Outcome]:
        """Fit the methods of one approach, the uncalibrated ones first."""
        methods = [METHODS[name] for name in task.methods]
        model_seconds = 0.0
        for is_calibrated, group in groupby(methods, key=lambda method: method.is_calibrated):
            # Methods that differ only in the coupling share a model.
            versions = list(group)
            model = versions[0].make_estimator(split.estimator, random_state=task.seed)
            start = time.perf_counter()
            model.fit(split.X, split.y)
            seconds = time.perf_counter() - start
            if not is_calibrated:
                model_seconds = seconds
            for method in versions:
                yield Outcome(
                    method.name,
                    self.predict(method, model, split.X_test),
                    model_seconds,
                    seconds - model_seconds if is_calibrated else None,
                    n_problems=1 if method.approach == MULTICLASS else len(model.estimators_),
                )

    @property
    def tables(self) -> Mapping[str, TableType]:
        """The tables of the paper, and the metrics of every fold."""
        return TABLES

    def make_tables(self, name: str, runs: Sequence[Run], options: TableOptions) -> list[Table]:
        """Make a table of the runs."""
        return TABLES[name].make(PaperLosses(runs, self.methods, options.metrics), options)

    def ranked_losses(self, runs: Sequence[Run], metrics: str) -> tuple[FloatArray, list[str]]:
        """Return the log losses of all finished cases and the titles of the methods."""
        return PaperLosses(runs, self.methods, metrics).ranked_losses()


@dataclass(frozen=True, kw_only=True)
class CorrectExperiment(PaperExperiment):
    """Preprocessing within folds, scikit-learn's classifiers and correct coupling."""

    @property
    def methods(self) -> tuple[PaperMethod, ...]:
        """The five methods of the paper."""
        return tuple(CORRECT_METHODS.values())

    def predict(self, method: PaperMethod, model: Any, X: FloatArray) -> FloatArray:  # noqa: ARG002 (the same for all)
        """Return the class probabilities of the model."""
        return model.predict_proba(X)

    def split(self, task: Task) -> Split:
        """Split by stratified folds and fit the preprocessing on the training rows only."""
        data = load_cached(task.data_set)
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=0)
        train, test = list(folds.split(data.data, data.target))[task.fold]
        X, X_test = preprocess_split(data, train, test)
        estimator = CLASSIFIERS[task.classifier].make(task.seed, N_TREES)
        return Split(X, data.target[train], X_test, data.target[test], estimator)


@dataclass(frozen=True, kw_only=True)
class PublishedExperiment(PaperExperiment):
    """The authors' folds, preprocessing and classifiers, with both couplings of all pairs."""

    @property
    def methods(self) -> tuple[PaperMethod, ...]:
        """The five methods of the paper, and all pairs with the faulty coupling."""
        return tuple(METHODS.values())

    def predict(self, method: PaperMethod, model: Any, X: FloatArray) -> FloatArray:
        """Return the class probabilities of the model, without the probability floor."""
        if method.has_faulty_coupling:
            return predict_with_faulty_coupling(model, X)
        if method.is_calibrated:
            return predict_without_floor(model, X)
        return model.predict_proba(X)

    def split(self, task: Task) -> Split:
        """Preprocess the whole data set, then take the authors' fold."""
        data = load_cached(task.data_set)
        X, categorical = preprocess_as_published(data)
        train, test = list(published_folds(task.data_set))[task.fold]
        rows = TrainingRows(X[train], data.target[train], categorical, task.seed, N_TREES)
        estimator = CLASSIFIERS_AS_PUBLISHED[task.classifier](rows)
        return Split(rows.X, rows.y, X[test], data.target[test], estimator)
