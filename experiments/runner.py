"""Running experiments in parallel, and resuming them where they stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib import Parallel, delayed, parallel_config

from calibrant._core.signals import tie_worker_to_command
from calibrant._core.workers import worker_options
from calibrant.datasets.storage import provide_datasets
from experiments.classifiers import CLASSIFIERS
from experiments.experiment import Experiment, Task
from experiments.rendering import Table, plain_rows
from experiments.store import Run, Store


def find_pending(experiment: Experiment, store: Store) -> list[Task]:
    """Return the tasks of an experiment that have a run missing from the store."""
    done = store.identities()
    return [
        task
        for task in experiment.list_tasks()
        if not all(task.identity(method) in done for method in task.methods)
    ]


def run_experiment(
    experiment: Experiment,
    store: Store,
    *,
    n_jobs: int = 1,
    progress: Callable[[Iterable[Any], int], Iterable[Any]] | None = None,
) -> None:
    """Run the pending tasks of an experiment and store each one as soon as it is done.

    The tasks run on joblib's active backend: processes or a Dask cluster.

    Parameters
    ----------
    experiment : Experiment
        The experiment to run.
    store : Store
        The store to add runs to. Tasks that it already contains are not run again.
    n_jobs : int, default=1
        Number of parallel processes. The results do not depend on it.
    progress : callable, default=None
        Takes the iterator of finished tasks and their number, and returns an iterator that shows
        progress.
    """
    store.drop_damaged()
    tasks = find_pending(experiment, store)
    # Download missing files once, before any process needs them.
    provide_datasets(dict.fromkeys(task.data_set for task in tasks))
    # A larger batch would be stored only when the last of its tasks is done.
    finished: Iterator[list[Run]] = Parallel(
        n_jobs=n_jobs, batch_size=1, return_as="generator_unordered", **worker_options()
    )(delayed(run_task)(experiment, task) for task in tasks)
    for runs in progress(finished, len(tasks)) if progress else finished:
        store.add(runs)


def run_task(experiment: Experiment, task: Task) -> list[Run]:
    """Run one task in this process, without nested parallelism."""
    tie_worker_to_command()
    with parallel_config(backend="sequential"):
        return experiment.run(task)


def make_status_table(experiments: Iterable[Experiment], store: Store) -> Table:
    """Tabulate how many tasks of each experiment and classifier are done.

    Parameters
    ----------
    experiments : iterable of Experiment
        The experiments to list.
    store : Store
        The results.

    Returns
    -------
    Table
        The table.
    """
    rows = []
    for experiment in experiments:
        for classifier in experiment.classifiers:
            part = experiment.restrict(classifiers=[classifier])
            n_tasks = len(part.list_tasks())
            n_done = n_tasks - len(find_pending(part, store))
            rows.append((experiment.name, CLASSIFIERS[classifier].title, n_done, n_tasks))
    return Table(
        f"{store.path}",
        ["experiment", "classifier", "done", "tasks"],
        plain_rows(rows),
        "A task is a group of methods on one fold of one data set.",
    )
