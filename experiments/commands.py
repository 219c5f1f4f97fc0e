"""The command line: ``python -m experiments``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from calibrant._core.files import check_writable, write_atomically
from calibrant._core.progress import track
from calibrant.cli.arguments import (
    DEFAULT_JOBS,
    PLAIN,
    Jobs,
    choose_from,
    output_to,
)
from calibrant.cli.messages import one_line_errors
from calibrant.cli.parsing import SeveralValues
from experiments.arena.experiment import ArenaExperiment
from experiments.arena.losses import ArenaLosses, compute_losses
from experiments.arena.tables import SPLITS, TABLES_OF_ALL
from experiments.cluster import dask_cluster
from experiments.experiment import Experiment, TableOptions
from experiments.page import render_results
from experiments.paper.losses import METRICS, TESTS
from experiments.paper.tables import DATA_SETS
from experiments.ranks import draw_ranks
from experiments.registry import ARENAS, EXPERIMENTS, SPLITS_EXPERIMENTS
from experiments.rendering import FORMATS, render
from experiments.runner import make_status_table, run_experiment
from experiments.store import Run, Store, open_store

DATA_SETS_TABLE, SPLITS_TABLE = "data-sets", "splits"
TABLE_NAMES = [
    DATA_SETS_TABLE,
    *TABLES_OF_ALL,
    SPLITS_TABLE,
    *dict.fromkeys(name for experiment in EXPERIMENTS.values() for name in experiment.tables),
]
DEFAULT_TABLES = dict.fromkeys(next(iter(each.tables)) for each in EXPERIMENTS.values())


def _list_below(title: str, descriptions: Mapping[str, str]) -> str:
    """Return a paragraph of help with one line per name."""
    lines = [f"  {name:<14}{description}" for name, description in descriptions.items()]
    return "\n".join(["\b", f"{title}:", *lines])  # "\b" keeps the line breaks


def _list_tables() -> str:
    """Return the tables with their descriptions, once for all experiments that have them."""
    paragraphs = [
        _list_below("All experiments", {DATA_SETS_TABLE: DATA_SETS.description}),
        _list_below(
            "All experiments of the arena",
            {name: table.description for name, table in TABLES_OF_ALL.items()},
        ),
        _list_below("All experiments with splits", {SPLITS_TABLE: SPLITS.description}),
    ]
    for tables, group in groupby(EXPERIMENTS.values(), key=lambda experiment: experiment.tables):
        title = f"Experiments {', '.join(experiment.name for experiment in group)}"
        paragraphs.append(
            _list_below(title, {name: table.description for name, table in tables.items()})
        )
    return "\n\n".join(paragraphs)


app = typer.Typer(
    help="Run the paper's experiment and the arena, and build their tables.",
    add_completion=False,
    **PLAIN,
)


def _one_of(names: Iterable[str], description: str) -> Any:
    """Return an option that takes one of a few names, which are listed in its help."""
    names = list(names)
    return typer.Option(help=f"{description}: {', '.join(names)}.", **choose_from(names))


StoreFile = Annotated[Path, typer.Option(metavar="FILE", help="SQLite file with the results.")]
ExperimentName = Annotated[
    str,
    typer.Option(help="Name of the experiment (see run --help).", **choose_from(EXPERIMENTS)),
]
Classifiers = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Use only these classifiers, such as nb rf."),
]
DEFAULT_STORE = Path("results.sqlite")


@app.command(
    "run",
    cls=SeveralValues,
    epilog=_list_below("Experiments", {each.name: each.title for each in EXPERIMENTS.values()}),
)
def run_command(
    experiment: Annotated[
        str, typer.Option(help="Name of the experiment (listed below).", **choose_from(EXPERIMENTS))
    ] = "paper",
    data_sets: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Use only these data sets, such as seeds ecoli."),
    ] = None,
    classifiers: Classifiers = None,
    jobs: Jobs = DEFAULT_JOBS,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Run on a Dask cluster instead, such as tcp://host:8786."
        ),
    ] = None,
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Run an experiment, or resume it. Finished tasks are not repeated."""
    with one_line_errors(sqlite3.DatabaseError):
        chosen = EXPERIMENTS[experiment].restrict(data_sets, classifiers)
        chosen.check_environment()
        cluster = nullcontext() if dask is None else dask_cluster(dask)
        with cluster, Store(store) as results:
            run_experiment(
                chosen,
                results,
                n_jobs=jobs,
                progress=lambda items, total: track(items, total, "running"),
            )


@app.command("status")
def status_command(store: StoreFile = DEFAULT_STORE) -> None:
    """Print how much of each experiment is complete."""
    with one_line_errors(sqlite3.DatabaseError), open_store(store) as results:
        print(render(make_status_table(EXPERIMENTS.values(), results), "text"), end="")


@app.command("tables", epilog=_list_tables())
def tables_command(
    experiment: ExperimentName = "paper",
    table: Annotated[
        str | None,
        typer.Option(
            help=f"Name of the table (listed below). By default, {' or '.join(DEFAULT_TABLES)}.",
            **choose_from(TABLE_NAMES),
        ),
    ] = None,
    format: Annotated[str, _one_of(FORMATS, "Format")] = "text",  # noqa: A002
    metrics: Annotated[
        str, _one_of(METRICS, "Definition of the metrics in the paper's tables")
    ] = "published",
    test: Annotated[str, _one_of(TESTS, "t-test in the paper's tables")] = "paired",
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Print a table of an experiment."""
    with one_line_errors(sqlite3.DatabaseError):
        if table == DATA_SETS_TABLE:
            print(render(DATA_SETS.make(), format), end="")
            return
        if table in TABLES_OF_ALL:
            made = TABLES_OF_ALL[table].make(_read_losses(store, ARENAS, "arena"))
            print(render(made, format), end="")
            return
        if table == SPLITS_TABLE:
            parts = SPLITS.make(_read_losses(store, SPLITS_EXPERIMENTS, "splits"))
            print("\n".join(render(part, format) for part in parts), end="")
            return
        chosen = EXPERIMENTS[experiment]
        name = table or next(iter(chosen.tables))
        if name not in chosen.tables:
            raise ValueError(
                f"--table must be one of {', '.join(chosen.tables)} for experiment "
                f"{experiment}, got {name}. Choose another table or another experiment."
            )
        options = TableOptions(metrics, test, as_data=format == "csv")
        parts = chosen.make_tables(name, _read_runs(store, chosen), options)
        print("\n".join(render(part, format) for part in parts), end="")


@app.command("ranks", cls=SeveralValues)
def ranks_command(
    experiment: ExperimentName = "arena",
    classifiers: Classifiers = None,
    metrics: Annotated[
        str, _one_of(METRICS, "Definition of the log loss in the paper's experiments")
    ] = "equations",
    output: Annotated[Path, output_to("Image file to write.")] = Path("ranks.png"),
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Draw the critical-difference diagram of an experiment's methods."""
    with one_line_errors(sqlite3.DatabaseError):
        check_writable(output)
        chosen = EXPERIMENTS[experiment].restrict(classifiers=classifiers)
        losses, names = chosen.ranked_losses(_read_runs(store, chosen), metrics)
        write_atomically(output, draw_ranks(losses, names, output.suffix.lstrip(".") or "png"))
    print(f"Critical-difference diagram: {output}")


@app.command("report")
def report_command(
    output: Annotated[Path, output_to("HTML file to write.")] = Path("experiments.html"),
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Write all tables and diagrams to one HTML page."""
    with one_line_errors(sqlite3.DatabaseError):
        check_writable(output)
        with open_store(store) as results:
            page = render_results(results)
        write_atomically(output, page.encode("utf-8"))
    print(f"Open {output} in a browser.")


def _read_runs(path: Path, experiment: Experiment) -> list[Run]:
    """Return the runs of an experiment and its classifiers, or raise an error if there are none."""
    with open_store(path) as store:
        runs = store.runs(experiment.name)
    runs = [run for run in runs if run.classifier in experiment.classifiers]
    if not runs:
        raise ValueError(
            f"{path} must contain runs of experiment {experiment.name}, but it has none. Choose "
            "another experiment, or run: "
            f"python -m experiments run --experiment {experiment.name} --store {path}"
        )
    return runs


def _read_losses(
    path: Path, experiments: Sequence[ArenaExperiment], target: str
) -> dict[str, ArenaLosses]:
    """Return the losses of all experiments of a make target that have runs, by name."""
    with open_store(path) as store:
        losses = {
            experiment.name: compute_losses(runs, experiment.n_train)
            for experiment in experiments
            if (runs := store.runs(experiment.name))
        }
    if not losses:
        raise ValueError(
            f"{path} must contain runs of the {target} experiments, but it has none. "
            f"Run: make {target} STORE={path}"
        )
    return losses
