"""``calibrant report``: a page on the probabilities that models predict for a data file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from calibrant._core.registries import MODELS
from calibrant.cli.arguments import (
    DEFAULT_JOBS,
    Categories,
    DataFile,
    Groups,
    Ignore,
    Jobs,
    Seed,
    Target,
    choose_from,
    output_to,
)
from calibrant.cli.messages import one_line_errors

DEFAULT_MODELS = ["random-forest", "naive-bayes", "logistic"]


def report(
    data: DataFile,
    target: Target,
    groups: Groups = None,
    ignore: Ignore = None,
    categories: Categories = None,
    model: Annotated[
        list[str],
        typer.Option(
            help=f"Classifiers to compare: {', '.join(MODELS)}.", **choose_from(MODELS, "NAMES")
        ),
    ] = DEFAULT_MODELS,
    folds: Annotated[
        int,
        typer.Option(min=2, metavar="INTEGER", help="Number of cross-validation folds."),
    ] = 5,
    repeats: Annotated[
        int,
        typer.Option(min=1, metavar="INTEGER", help="Number of cross-validation repeats."),
    ] = 3,
    seed: Seed = 0,
    jobs: Jobs = DEFAULT_JOBS,
    output: Annotated[Path, output_to("HTML report to write.")] = Path("report.html"),
) -> None:
    """Write a report on whether predicted probabilities can be trusted.

    The report is a single HTML page that compares classifiers with and without calibration.
    """
    from calibrant._core.files import check_writable
    from calibrant.report import Commands
    from calibrant.report.cross_validation import EvaluationSettings
    from calibrant.report.tables import report_on_table
    from calibrant.report.text import summarize
    from calibrant.tabular import describe_table, read_table

    models = list(dict.fromkeys(model))
    columns = _spell_columns(data, target, groups, ignore or (), categories or ())
    repeat = ["calibrant", "report", *columns]
    repeat += [word for name in models for word in ("--model", name)]
    repeat += ["--folds", str(folds), "--repeats", str(repeats), "--seed", str(seed)]

    def spell_fit(index: int, calibrated: bool) -> list[str]:
        method = [] if calibrated else ["--method", "none"]
        words = ["calibrant", "fit", *columns, "--model", models[index], *method]
        return [*words, "--seed", str(seed), "-o", "model.skops"]

    with one_line_errors():
        check_writable(output)
        table = read_table(data)
        schema = describe_table(
            table, target, groups=groups, ignore=ignore or (), categories=categories or ()
        )
        analysis = report_on_table(
            table,
            schema,
            output,
            title="standard input" if data == "-" else Path(data).name,
            models=models,
            settings=EvaluationSettings(folds, repeats, seed, jobs),
            commands=Commands([*repeat, "-o", str(output)], spell_fit),
        )
    print(summarize(analysis))
    print(f"Open {output} in a browser.")


def _spell_columns(
    data: str, target: str, groups: str | None, ignore: Sequence[str], categories: Sequence[str]
) -> list[str]:
    """Return the arguments that say which file and columns to use."""
    words = [data, "--target", target]
    words += [] if groups is None else ["--groups", groups]
    # With an equals sign, a name may begin with a dash.
    words += [f"--ignore={name}" for name in ignore]
    words += [f"--categories={name}" for name in categories]
    return words
