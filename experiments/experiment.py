"""The interface of experiments: data sets, classifiers, methods, and how to run them."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Self

from sklearn.utils import Bunch

from calibrant._core.typing import FloatArray, IndexArray
from calibrant.datasets import dataset_names, load_dataset
from experiments.rendering import Table
from experiments.store import Identity, Run, installed_versions


@dataclass(frozen=True)
class Task:
    """The smallest unit of work to resume from: some methods on one fold of one case.

    Attributes
    ----------
    experiment, data_set, classifier : str
        Names of the experiment, the data set and the classifier.
    methods : tuple of str
        Names of the methods. They run together because they share fitted models.
    fold : int
        Number of the held-out fold, from 0.
    """

    experiment: str
    data_set: str
    classifier: str
    methods: tuple[str, ...]
    fold: int

    @property
    def seed(self) -> int:
        """Seed of all randomness on this fold, the same for all classifiers and methods."""
        return zlib.crc32(f"{self.data_set}/{self.fold}".encode()) % 2**31

    def identity(self, method: str) -> Identity:
        """Return the identity of the run of one of the methods."""
        return Identity(self.experiment, self.data_set, self.classifier, method, self.fold)


@dataclass(frozen=True, eq=False)
class Split:
    """Preprocessed training and test rows, and the classifier to fit on them.

    Attributes
    ----------
    X, X_test : ndarray
        Features of the training and test rows.
    y, y_test : ndarray
        Their classes, as indices.
    estimator : classifier
        The unfitted, seeded classifier.
    """

    X: FloatArray
    y: IndexArray
    X_test: FloatArray
    y_test: IndexArray
    estimator: Any


class Outcome(NamedTuple):
    """The result of a method on a split; see `Run` for the fields."""

    method: str
    proba: FloatArray
    model_seconds: float
    calibration_seconds: float | None
    n_problems: int = 1
    error: str | None = None


class TableOptions(NamedTuple):
    """Options of some tables.

    Attributes
    ----------
    metrics : {"published", "equations"}
        Definition of the metrics: the one behind the published numbers, or the paper's equations.
    test : {"welch", "paired", "corrected"}
        Significance test.
    as_data : bool
        Whether to return unrounded numbers, one per row, instead of a table for readers.
    """

    metrics: str = "published"
    test: str = "paired"
    as_data: bool = False


class TableType(NamedTuple):
    """A kind of table.

    Attributes
    ----------
    description : str
        What it shows, for the command-line help.
    make : callable
        Makes the table from the losses of an experiment.
    """

    description: str
    make: Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Experiment(ABC):
    """Methods applied to several classifiers on folds of several data sets.

    Attributes
    ----------
    name : str
        Name on the command line and in stores.
    title : str
        One-line description of the experiment.
    classifiers : tuple of str
        Names of the classifiers.
    data_sets : tuple of str
        Names of the data sets.
    n_folds : int
        Number of folds, or of draws of training rows.
    """

    name: str
    title: str
    classifiers: tuple[str, ...]
    data_sets: tuple[str, ...] = dataset_names()
    n_folds: int = 10

    @abstractmethod
    def method_groups(self, classifier: str) -> list[tuple[str, ...]]:
        """Return the names of the methods run with a classifier, one tuple per task."""

    @abstractmethod
    def split(self, task: Task) -> Split:
        """Return the training and test rows of a task."""

    @abstractmethod
    def evaluate(self, task: Task, split: Split) -> Iterator[Outcome]:
        """Fit the methods of a task and predict the test rows."""

    @property
    @abstractmethod
    def tables(self) -> Mapping[str, TableType]:
        """The tables that `make_tables` can make, by name, the default first."""

    @abstractmethod
    def make_tables(self, name: str, runs: Sequence[Run], options: TableOptions) -> list[Table]:
        """Make a table of this experiment's runs; some consist of several parts."""

    @abstractmethod
    def ranked_losses(self, runs: Sequence[Run], metrics: str) -> tuple[FloatArray, list[str]]:
        """Return the log losses to rank, of shape (n_cases, n_methods), and the method names."""

    def check_environment(self) -> None:  # noqa: B027 (most experiments need nothing)
        """Raise ValueError if a package that the results depend on is missing."""

    def restrict(
        self, data_sets: Sequence[str] | None = None, classifiers: Sequence[str] | None = None
    ) -> Self:
        """Return the experiment with some of its data sets and classifiers.

        Parameters
        ----------
        data_sets, classifiers : sequence of str or None
            Names to keep; None means all.

        Returns
        -------
        Experiment
            The restricted experiment.
        """
        chosen = {"data_sets": data_sets, "classifiers": classifiers}
        kept = {name: tuple(values) for name, values in chosen.items() if values}
        for name, values in kept.items():
            known = getattr(self, name)
            unknown = [value for value in values if value not in known]
            if unknown:
                raise ValueError(
                    f"The {name.replace('_', ' ')} of experiment {self.name} must be among "
                    f"{', '.join(known)}, got {', '.join(unknown)}. Check the spelling."
                )
        return replace(self, **kept)  # type: ignore[arg-type]  # both fields are tuples of names

    def list_tasks(self) -> list[Task]:
        """Return all tasks, fold by fold."""
        return [
            Task(self.name, data_set, classifier, methods, fold)
            for fold in range(self.n_folds)
            for classifier in self.classifiers
            for data_set in self.data_sets
            for methods in self.method_groups(classifier)
        ]

    def run(self, task: Task) -> list[Run]:
        """Run a task in this process.

        Parameters
        ----------
        task : Task
            One of `list_tasks`.

        Returns
        -------
        list of Run
            One run per method.
        """
        split = self.split(task)
        return [
            Run(
                *task.identity(outcome.method),
                n_folds=self.n_folds,
                seed=task.seed,
                implementation=type(split.estimator).__module__.split(".")[0],
                versions=installed_versions(),
                n_problems=outcome.n_problems,
                model_seconds=outcome.model_seconds,
                calibration_seconds=outcome.calibration_seconds,
                y_true=split.y_test,
                proba=outcome.proba,
                error=outcome.error,
            )
            for outcome in self.evaluate(task, split)
        ]


@lru_cache(maxsize=2)
def load_cached(name: str) -> Bunch:
    """Load a data set only once for consecutive tasks in the same process."""
    return load_dataset(name)
