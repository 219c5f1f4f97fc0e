"""``calibrant report``: a page on the probabilities that models predict for a data file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant._core.registries import DEFAULT_MODELS, MODELS
from calibrant.cli.arguments import (
    DEFAULT_JOBS,
    By,
    Categories,
    DataFile,
    Groups,
    Ignore,
    Jobs,
    Json,
    MergeCase,
    Missing,
    Numbers,
    Quiet,
    RareClasses,
    RuleCosts,
    Seed,
    Sheet,
    Target,
    choose_from,
    output_to,
)
from calibrant.cli.messages import Messages, one_line_errors

COMPARED_MODELS = list(DEFAULT_MODELS)
DEFAULT_FOLDS, DEFAULT_REPEATS, DEFAULT_SEED = 5, 3, 0


def report(
    data: DataFile,
    target: Target,
    groups: Groups = None,
    by: By = None,
    ignore: Ignore = None,
    categories: Categories = None,
    numbers: Numbers = None,
    sheet: Sheet = None,
    missing: Missing = None,
    merge_case: MergeCase = False,
    rare_classes: RareClasses = "keep",
    model: Annotated[
        list[str],
        typer.Option(
            help=f"Classifiers to compare: {', '.join(MODELS)}.", **choose_from(MODELS, "NAMES")
        ),
    ] = COMPARED_MODELS,
    folds: Annotated[
        int,
        typer.Option(min=2, metavar="INTEGER", help="Number of cross-validation folds."),
    ] = DEFAULT_FOLDS,
    repeats: Annotated[
        int,
        typer.Option(min=1, metavar="INTEGER", help="Number of cross-validation repeats."),
    ] = DEFAULT_REPEATS,
    costs: RuleCosts = None,
    seed: Seed = DEFAULT_SEED,
    jobs: Jobs = DEFAULT_JOBS,
    output: Annotated[Path, output_to("HTML report to write.")] = Path("report.html"),
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Write a report on whether predicted probabilities can be trusted.

    The report is a single HTML page that compares classifiers with and without calibration.
    """
    from functools import partial

    from calibrant._core.progress import track
    from calibrant.cli.outputs import OutputKind, check_output
    from calibrant.report import report_to_dict
    from calibrant.report.cross_validation import EvaluationSettings
    from calibrant.report.requests import ReportRequest
    from calibrant.report.source import describe_step
    from calibrant.report.text import summarize
    from calibrant.tabular.requests import TableRequest

    request = ReportRequest(
        TableRequest(
            data,
            target,
            groups=groups,
            ignore=ignore or (),
            categories=categories or (),
            numbers=numbers or (),
            sheet=sheet,
            missing=missing or (),
            merge_case=merge_case,
            rare_classes=rare_classes,
        ),
        tuple(dict.fromkeys(model)),
        EvaluationSettings(folds, repeats, seed, jobs),
        costs=costs,
        by=tuple(by or ()),
    )
    messages = Messages(quiet, json)
    with one_line_errors():
        check_output(output, OutputKind.page, inputs=[data, costs])
        messages.check(inputs=[data, costs], outputs=[output])
        analysis, source, schema = request.write(
            output, None if quiet else partial(track, title="evaluating")
        )
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
