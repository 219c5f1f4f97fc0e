"""Run an experiment: data set x fold x classifier x scenario, resumable and in parallel."""

from __future__ import annotations

import platform
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from joblib import Parallel, delayed

from calibrant.bench.protocols import CLASSIFIERS, PROTOCOLS
from calibrant.bench.render import Cell, Table
from calibrant.bench.scenarios import Scenario
from calibrant.bench.store import Identity, Run, Store
from calibrant.datasets import dataset_names

PACKAGES = ("calibrant", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex")


@dataclass(frozen=True)
class Suite:
    """What to run.

    Attributes
    ----------
    data_sets : tuple of str
        Names of data sets.
    classifiers : tuple of str
        Names of classifiers.
    n_folds : int
        The number of folds.
    protocol : str
        How the experiment is done.
    """

    data_sets: tuple[str, ...] = dataset_names()
    classifiers: tuple[str, ...] = tuple(CLASSIFIERS)
    n_folds: int = 10
    protocol: str = "proper"


SUITES = {
    "paper": Suite(),
    "smoke": Suite(("seeds", "development", "ecoli"), ("nb",), n_folds=3),
}


def select_suite(
    name: str,
    data_sets: list[str] | None,
    classifiers: list[str] | None,
    *,
    as_published: bool,
) -> Suite:
    """Return a suite, or a part of it.

    Parameters
    ----------
    name : str
        One of ``SUITES``.
    data_sets, classifiers : list of str or None
        What to keep of it; None is all.
    as_published : bool
        Whether to run it as published.

    Returns
    -------
    Suite
        What to run.
    """
    suite = SUITES[name]
    for kind, chosen, known in (
        ("data-sets", data_sets, dataset_names()),
        ("classifiers", classifiers, tuple(CLASSIFIERS)),
    ):
        unknown = [item for item in chosen or () if item not in known]
        if unknown:
            raise ValueError(f"{kind} must be among {', '.join(known)}. Got {', '.join(unknown)}.")
    return replace(
        suite,
        data_sets=tuple(data_sets or suite.data_sets),
        classifiers=tuple(classifiers or suite.classifiers),
        protocol="as-published" if as_published else "proper",
    )


@dataclass(frozen=True)
class Unit:
    """The least that is worth resuming at: one approach on one fold.

    It yields several runs, which share fitted models.
    """

    protocol: str
    data_set: str
    classifier: str
    approach: str
    fold: int
    n_folds: int

    @property
    def seed(self) -> int:
        """Seed of the fold, the same for all approaches on it."""
        return zlib.crc32(f"{self.data_set}/{self.fold}".encode()) % 2**31

    def scenarios(self) -> list[Scenario]:
        """Return the scenarios of this unit's approach."""
        scenarios = PROTOCOLS[self.protocol].scenarios()
        return [scenario for scenario in scenarios if scenario.approach == self.approach]

    def identity(self, scenario: str) -> Identity:
        """Return the identity of the run of one of its scenarios."""
        return (
            self.protocol,
            self.data_set,
            self.classifier,
            scenario,
            self.fold,
            self.n_folds,
        )


def units(suite: Suite) -> list[Unit]:
    """List all units of a suite, fold by fold."""
    approaches = dict.fromkeys(
        scenario.approach for scenario in PROTOCOLS[suite.protocol].scenarios()
    )
    return [
        Unit(suite.protocol, data_set, classifier, approach, fold, suite.n_folds)
        for fold in range(suite.n_folds)
        for classifier in suite.classifiers
        for data_set in suite.data_sets
        for approach in approaches
    ]


def pending(suite: Suite, store: Store) -> list[Unit]:
    """Units of a suite of which the store lacks a run."""
    done = store.identities()
    return [
        unit
        for unit in units(suite)
        if not all(unit.identity(scenario.name) in done for scenario in unit.scenarios())
    ]


def run_suite(
    suite: Suite,
    store: Store,
    *,
    n_jobs: int = 1,
    progress: Callable[[Iterable[Any], int], Iterable[Any]] | None = None,
) -> None:
    """Run what the store lacks, and add each result as it comes in.

    Parameters
    ----------
    suite : Suite
        What to run.
    store : Store
        Where results go; what it has already is not run again.
    n_jobs : int, default=1
        The number of parallel processes. The results are the same for every number.
    progress : callable, default=None
        Wraps the iterator of finished units, given their number, to show progress.
    """
    work = pending(suite, store)
    finished: Iterator[list[Run]] = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(run_unit)(unit) for unit in work
    )
    for runs in progress(finished, len(work)) if progress else finished:
        store.add(runs)


def run_unit(unit: Unit) -> list[Run]:
    """Fit and predict all scenarios of one approach on one fold.

    Parameters
    ----------
    unit : Unit
        What to run.

    Returns
    -------
    list of Run
        The finished runs.
    """
    protocol = PROTOCOLS[unit.protocol]
    fold = protocol.fold(unit.data_set, unit.fold, unit.n_folds, unit.classifier, unit.seed)
    runs: list[Run] = []
    model_seconds = 0.0
    for scenario in unit.scenarios():
        model = scenario.estimator(fold.classifier, random_state=unit.seed)
        began = time.perf_counter()
        model.fit(fold.X, fold.y)
        seconds = time.perf_counter() - began
        # The same models are fitted without and with calibration, in this order.
        if not scenario.calibrates:
            model_seconds = seconds
        for name, view in protocol.views(scenario, model).items():
            runs.append(
                Run(
                    *unit.identity(name),
                    seed=unit.seed,
                    implementation=type(fold.classifier).__module__.split(".")[0],
                    versions=versions(),
                    n_problems=len(getattr(model, "estimators_", ())) if scenario.parameters else 1,
                    model_seconds=model_seconds,
                    calibration_seconds=seconds - model_seconds if scenario.calibrates else None,
                    true=fold.y_test,
                    proba=view.predict_proba(fold.X_test),
                )
            )
    return runs


def status_table(store: Store) -> Table:
    """How much of the paper suite a store has, by protocol and classifier."""
    rows = []
    for protocol in PROTOCOLS:
        for classifier in CLASSIFIERS:
            suite = replace(SUITES["paper"], protocol=protocol, classifiers=(classifier,))
            total, left = len(units(suite)), len(pending(suite, store))
            cells = [protocol, CLASSIFIERS[classifier], f"{total - left}", f"{total}"]
            rows.append([Cell(text) for text in cells])
    return Table(
        f"{store.path}",
        ["protocol", "classifier", "done", "units"],
        rows,
        "A unit is one approach on one fold of one data set.",
    )


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that the results depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
