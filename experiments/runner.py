"""Run an experiment: data set x fold x classifier x scenario, resumable and in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from joblib import Parallel, delayed, parallel_config

from calibrant._core.signals import ignore_interrupts_in_worker
from calibrant.datasets import dataset_names
from calibrant.datasets.storage import provide_datasets
from experiments.arena.methods import ARENA_CLASSIFIERS
from experiments.paper.experiment import CLASSIFIERS, PROTOCOLS
from experiments.rendering import Cell, Table
from experiments.store import Run, Store
from experiments.tasks import Unit


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
    "arena": Suite(classifiers=tuple(ARENA_CLASSIFIERS), protocol="arena"),
    **{
        f"arena-{n_train}": Suite(
            # Seeds and Development have hardly more than 200 rows to train and test on.
            tuple(
                name
                for name in dataset_names()
                if n_train < 200 or name not in ("seeds", "development")
            ),
            tuple(ARENA_CLASSIFIERS),
            n_folds=3,
            protocol=f"arena-{n_train}",
        )
        for n_train in (50, 100, 200)
    },
    "out-of-bag": Suite(classifiers=("rf",), protocol="out-of-bag"),
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
        ("classifiers", classifiers, suite.classifiers),
    ):
        unknown = [item for item in chosen or () if item not in known]
        if unknown:
            raise ValueError(f"{kind} must be among {', '.join(known)}. Got {', '.join(unknown)}.")
    if as_published and suite.protocol != "proper":
        raise ValueError(
            f"--as-published is for the paper's experiment. Got suite {name}. Leave it out."
        )
    return replace(
        suite,
        data_sets=tuple(data_sets or suite.data_sets),
        classifiers=tuple(classifiers or suite.classifiers),
        protocol="as-published" if as_published else suite.protocol,
    )


def units(suite: Suite) -> list[Unit]:
    """List all units of a suite, fold by fold."""
    return [
        Unit(suite.protocol, data_set, classifier, approach, fold, suite.n_folds)
        for fold in range(suite.n_folds)
        for classifier in suite.classifiers
        for data_set in suite.data_sets
        for approach in PROTOCOLS[suite.protocol].approaches()
    ]


def pending(suite: Suite, store: Store) -> list[Unit]:
    """Units of a suite of which the store lacks a run."""
    done = store.identities()
    protocol = PROTOCOLS[suite.protocol]
    return [
        unit
        for unit in units(suite)
        if not all(unit.identity(name) in done for name in protocol.scenario_names(unit))
    ]


def run_suite(
    suite: Suite,
    store: Store,
    *,
    n_jobs: int = 1,
    progress: Callable[[Iterable[Any], int], Iterable[Any]] | None = None,
) -> None:
    """Run what the store lacks, and add each result as it comes in.

    The work goes to the active backend of joblib: processes, or a Dask cluster.

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
    # Here, once, rather than in every process.
    provide_datasets(dict.fromkeys(unit.data_set for unit in work))
    # In batches of one unit, so that each is stored as soon as it is done.
    finished: Iterator[list[Run]] = Parallel(
        n_jobs=n_jobs, batch_size=1, return_as="generator_unordered"
    )(delayed(run_unit)(unit) for unit in work)
    for runs in progress(finished, len(work)) if progress else finished:
        store.add(runs)


def run_unit(unit: Unit) -> list[Run]:
    """Run one unit, by the protocol that it names, in this process alone."""
    ignore_interrupts_in_worker()
    with parallel_config(backend="sequential"):
        return PROTOCOLS[unit.protocol].run(unit)


def status_table(store: Store) -> Table:
    """How much of every suite a store has, by protocol and classifier."""
    suites = [replace(SUITES["paper"], protocol="as-published")]
    suites += [suite for name, suite in SUITES.items() if name != "smoke"]
    rows = []
    for suite in suites:
        for classifier in suite.classifiers:
            part = replace(suite, classifiers=(classifier,))
            total, left = len(units(part)), len(pending(part, store))
            cells = [suite.protocol, ARENA_CLASSIFIERS[classifier], f"{total - left}", f"{total}"]
            rows.append([Cell(text) for text in cells])
    return Table(
        f"{store.path}",
        ["protocol", "classifier", "done", "units"],
        rows,
        "A unit is one approach on one fold of one data set.",
    )
