"""``python -m experiments``: run the experiments, build their tables and pictures."""

from __future__ import annotations

import sqlite3
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calibrant.cli.arguments import DEFAULT_JOBS, PLAIN, Jobs, SeveralValues
from calibrant.cli.messages import one_line_errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.rendering import Table
    from experiments.store import Run

app = typer.Typer(help="Rerun the paper's experiment and build its tables.", **PLAIN)


class SuiteName(StrEnum):
    """Suites of the bench."""

    paper = "paper"
    smoke = "smoke"
    arena = "arena"
    arena_50 = "arena-50"
    arena_100 = "arena-100"
    arena_200 = "arena-200"
    out_of_bag = "out-of-bag"


class TableName(StrEnum):
    """Tables of the bench."""

    data_sets = "data-sets"
    results = "results"
    effects = "effects"
    approaches = "approaches"
    times = "times"
    folds = "folds"
    methods = "methods"
    classifiers = "classifiers"
    harmed = "harmed"
    losses = "losses"


class Format(StrEnum):
    """Formats of a table."""

    text = "text"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"


class Form(StrEnum):
    """Forms of the metrics."""

    published = "published"
    equations = "equations"


class TestName(StrEnum):
    """Tests of significance."""

    welch = "welch"
    paired = "paired"
    corrected = "corrected"


StoreFile = Annotated[Path, typer.Option(help="The SQLite file of results.")]
AsPublished = Annotated[
    bool, typer.Option("--as-published", help="With what the published numbers rest on.")
]
Classifiers = Annotated[list[str] | None, typer.Option(help="Only these, such as nb rf.")]


@app.command("run", cls=SeveralValues)
def bench_run(
    suite: Annotated[SuiteName, typer.Option(help="What to run.")] = SuiteName.paper,
    data_sets: Annotated[list[str] | None, typer.Option(help="Only these data sets.")] = None,
    classifiers: Classifiers = None,
    jobs: Jobs = DEFAULT_JOBS,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Run on a Dask cluster instead, such as tcp://host:8786."
        ),
    ] = None,
    store: StoreFile = Path("results.sqlite"),
    as_published: AsPublished = False,
) -> None:
    """Run the experiment, or what is left of it: a run that is stored is not run again."""
    from calibrant._core.progress import track
    from experiments.arena.peers import check_peers
    from experiments.cluster import dask_cluster
    from experiments.runner import run_suite, select_suite
    from experiments.store import Store

    with one_line_errors(sqlite3.DatabaseError):
        chosen = select_suite(suite.value, data_sets, classifiers, as_published=as_published)
        if suite.value.startswith("arena"):
            check_peers()
        cluster = nullcontext() if dask is None else dask_cluster(dask)
        with cluster, Store(store) as results:
            run_suite(
                chosen,
                results,
                n_jobs=jobs,
                progress=lambda items, total: track(items, total, "running"),
            )


@app.command("tables")
def bench_tables(
    store: StoreFile = Path("results.sqlite"),
    table: Annotated[TableName, typer.Option(help="Which table.")] = TableName.results,
    format: Annotated[Format, typer.Option(help="How to print it.")] = Format.text,  # noqa: A002
    metrics: Annotated[Form, typer.Option(help="The form of the metrics.")] = Form.published,
    test: Annotated[TestName, typer.Option(help="The test of significance.")] = TestName.paired,
    as_published: AsPublished = False,
    suite: Annotated[SuiteName, typer.Option(help="Of which suite.")] = SuiteName.paper,
) -> None:
    """Print a table: of the paper (with the published values beside ours) or of the arena."""
    from experiments.arena.tables import ARENA_TABLES, arena_losses
    from experiments.paper.approaches import approaches_data, approaches_tables
    from experiments.paper.effects import effects_data, effects_table
    from experiments.paper.losses import Measures
    from experiments.paper.results import results_data, results_tables
    from experiments.paper.tables import data_sets_table, folds_table, times_table
    from experiments.rendering import render

    with one_line_errors(sqlite3.DatabaseError):
        if table is TableName.data_sets:
            print(render(data_sets_table(), format.value), end="")
            return
        if _is_arena(suite) != (table.value in ARENA_TABLES):
            names = (
                ARENA_TABLES
                if _is_arena(suite)
                else [name for name in TableName if name not in ARENA_TABLES]
            )
            raise ValueError(
                f"--table must be one of {', '.join(names)} for suite {suite.value}. "
                f"Got {table.value}. Choose another table or suite."
            )
        runs = _runs_of(store, suite, None, as_published=as_published)
        if _is_arena(suite):
            losses = arena_losses(runs)
            print(render(ARENA_TABLES[table.value](losses, suite.value), format.value), end="")
            return
        measures = Measures(runs, metrics.value)
        tables: dict[TableName, Callable[[], list[Table]]] = {
            TableName.results: lambda: results_tables(measures, test.value),
            TableName.effects: lambda: [effects_table(measures, test.value)],
            TableName.approaches: lambda: approaches_tables(measures, test.value),
            TableName.times: lambda: [times_table(runs)],
            TableName.folds: lambda: [folds_table(runs)],
        }
        # As CSV a table is data: numbers that are not rounded, a row for each.
        data: dict[TableName, Callable[[], list[Table]]] = {
            TableName.results: lambda: [results_data(measures, test.value)],
            TableName.effects: lambda: [effects_data(measures, test.value)],
            TableName.approaches: lambda: [approaches_data(measures)],
        }
        make = (tables | data if format is Format.csv else tables)[table]
        print("\n".join(render(one, format.value) for one in make()), end="")


@app.command("ranks", cls=SeveralValues)
def bench_ranks(
    store: StoreFile = Path("results.sqlite"),
    suite: Annotated[SuiteName, typer.Option(help="Of which suite.")] = SuiteName.arena,
    classifiers: Classifiers = None,
    metrics: Annotated[
        Form, typer.Option(help="The form of the log loss, in the paper's suite.")
    ] = Form.equations,
    as_published: AsPublished = False,
    output: Annotated[Path, typer.Option(help="The picture to write.")] = Path("ranks.png"),
) -> None:
    """Draw the critical-difference diagram of the arena's methods or the paper's scenarios."""
    from experiments.arena.tables import arena_losses
    from experiments.paper.losses import Measures
    from experiments.ranks import draw_ranks, scenario_losses

    with one_line_errors(sqlite3.DatabaseError):
        runs = _runs_of(store, suite, classifiers, as_published=as_published)
        if _is_arena(suite):
            arena = arena_losses(runs)
            losses, names = arena.means(), arena.methods
        else:
            losses, names = scenario_losses(Measures(runs, metrics.value))
        draw_ranks(losses, names, output)
    print(f"Critical-difference diagram: {output}")


def _is_arena(suite: SuiteName) -> bool:
    return suite not in (SuiteName.paper, SuiteName.smoke)


def _runs_of(
    store: Path, suite: SuiteName, classifiers: list[str] | None, *, as_published: bool
) -> list[Run]:
    """Return the runs of a suite, of which there must be some."""
    from experiments.runner import select_suite
    from experiments.store import open_store

    chosen = select_suite(suite.value, None, classifiers, as_published=as_published)
    with open_store(store) as results:
        runs = results.runs(chosen.protocol, chosen.n_folds)
    runs = [run for run in runs if run.classifier in chosen.classifiers]
    if not runs:
        asked = f"--suite {suite.value}" + (" --as-published" if as_published else "")
        raise ValueError(
            f"{store} must hold runs of {asked}. It has none. Choose another suite, or run: "
            f"python -m experiments run {asked} --store {store}"
        )
    return runs


@app.command("report")
def bench_report(
    store: StoreFile = Path("results.sqlite"),
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path(
        "bench.html"
    ),
) -> None:
    """Write a page of the paper's tables, the erratum and the arena."""
    from calibrant._core.files import check_writable, write_atomically
    from experiments.page import render_bench
    from experiments.store import open_store

    with one_line_errors(sqlite3.DatabaseError):
        check_writable(output)
        with open_store(store) as results:
            page = render_bench(results)
        write_atomically(output, page.encode("utf-8"))
    print(f"Open {output} in a browser.")


@app.command("status")
def bench_status(store: StoreFile = Path("results.sqlite")) -> None:
    """Print how much of each suite a store has."""
    from experiments.rendering import render
    from experiments.runner import status_table
    from experiments.store import open_store

    with one_line_errors(sqlite3.DatabaseError), open_store(store) as results:
        print(render(status_table(results), "text"), end="")
