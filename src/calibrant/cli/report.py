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
    Json,
    MergeCase,
    Missing,
    Quiet,
    RareClasses,
    Seed,
    Sheet,
    Target,
    choose_from,
    output_to,
)
from calibrant.cli.messages import Messages, one_line_errors

DEFAULT_MODELS = ["random-forest", "naive-bayes", "logistic"]
DEFAULT_FOLDS, DEFAULT_REPEATS, DEFAULT_SEED = 5, 3, 0


def report(
    data: DataFile,
    target: Target,
    groups: Groups = None,
    ignore: Ignore = None,
    categories: Categories = None,
    sheet: Sheet = None,
    missing: Missing = None,
    merge_case: MergeCase = False,
    rare_classes: RareClasses = "keep",
    model: Annotated[
        list[str],
        typer.Option(
            help=f"Classifiers to compare: {', '.join(MODELS)}.", **choose_from(MODELS, "NAMES")
        ),
    ] = DEFAULT_MODELS,
    folds: Annotated[
        int,
        typer.Option(min=2, metavar="INTEGER", help="Number of cross-validation folds."),
    ] = DEFAULT_FOLDS,
    repeats: Annotated[
        int,
        typer.Option(min=1, metavar="INTEGER", help="Number of cross-validation repeats."),
    ] = DEFAULT_REPEATS,
    seed: Seed = DEFAULT_SEED,
    jobs: Jobs = DEFAULT_JOBS,
    output: Annotated[Path, output_to("HTML report to write.")] = Path("report.html"),
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Write a report on whether predicted probabilities can be trusted.

    The report is a single HTML page that compares classifiers with and without calibration.
    """
    from calibrant.cli.outputs import OutputKind, check_output
    from calibrant.report import Commands, Source, report_to_dict
    from calibrant.report.cross_validation import EvaluationSettings
    from calibrant.report.source import describe_step
    from calibrant.report.tables import report_on_table
    from calibrant.report.text import summarize
    from calibrant.tabular import describe_table, read_table

    models = list(dict.fromkeys(model))
    columns = _spell_columns(data, target, groups, ignore or (), categories or ())
    columns += [] if sheet is None else [f"--sheet={sheet}"]
    columns += [f"--missing={value}" for value in missing or ()]
    columns += ["--merge-case"] if merge_case else []
    columns += [] if rare_classes == "keep" else ["--rare-classes", rare_classes]
    compared = [] if models == DEFAULT_MODELS else models
    seeds = _spell_changed("--seed", seed, DEFAULT_SEED)
    repeat = ["calibrant", "report", *columns]
    repeat += [word for name in compared for word in ("--model", name)]
    repeat += _spell_changed("--folds", folds, DEFAULT_FOLDS)
    repeat += _spell_changed("--repeats", repeats, DEFAULT_REPEATS)

    def spell_fit(index: int, calibrated: bool) -> list[str]:
        method = [] if calibrated else ["--method", "none"]
        words = ["calibrant", "fit", *columns, "--model", models[index], *method]
        return [*words, *seeds, "-o", "model.skops"]

    title = "standard input" if data == "-" else Path(data).name
    commands = Commands([*repeat, *seeds, "-o", str(output)], spell_fit)
    messages = Messages(quiet, json)
    with one_line_errors():
        check_output(output, OutputKind.page, inputs=[data])
        messages.check(inputs=[data], outputs=[output])
        table = read_table(data, sheet=sheet, missing=missing or ())
        schema = describe_table(
            table,
            target,
            groups=groups,
            ignore=ignore or (),
            categories=categories or (),
            merge_case=merge_case,
            rare_classes=rare_classes,
        )
        analysis = report_on_table(
            table,
            schema,
            output,
            title=title,
            models=models,
            settings=EvaluationSettings(folds, repeats, seed, jobs),
            commands=commands,
            show_progress=not quiet,
        )
    source = Source(title, schema=schema, commands=commands)
    messages.notes += source.notes  # which the page shows
    messages.finish(
        f"Open {output} in a browser.",
        {
            **report_to_dict(analysis, source),
            "schema": schema.to_dict(),
            "output": str(output),
        },
        summary=(
            summarize(analysis, source.warnings(analysis), source.doubt(analysis), source.target),
            f"What do I type? {describe_step(source.next_step(analysis))}",
        ),
    )


def _spell_changed(option: str, value: int, default: int) -> list[str]:
    """Return the words of an option, unless it has its default value."""
    return [] if value == default else [option, str(value)]


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
