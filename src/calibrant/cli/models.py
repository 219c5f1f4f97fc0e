"""``calibrant fit`` and ``calibrant predict``: calibrated models of data files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant.cli.arguments import (
    DEFAULT_DIGITS,
    DEFAULT_JOBS,
    NO_CALIBRATION,
    Categories,
    Costs,
    CsvFile,
    DataFile,
    Digits,
    Groups,
    Ignore,
    Intervals,
    Jobs,
    Json,
    Keep,
    MergeCase,
    MethodOrNone,
    Missing,
    Model,
    NewData,
    Numbers,
    Prevalence,
    Quiet,
    RareClasses,
    Seed,
    Sets,
    Sheet,
    Target,
    output_to,
)
from calibrant.cli.messages import Messages, one_line_errors, warnings_as_notes
from calibrant.cli.predictions import PredictionRequest, write_predictions


def fit(
    data: DataFile,
    target: Target,
    groups: Groups = None,
    ignore: Ignore = None,
    categories: Categories = None,
    numbers: Numbers = None,
    sheet: Sheet = None,
    missing: Missing = None,
    merge_case: MergeCase = False,
    rare_classes: RareClasses = "keep",
    model: Model = "random-forest",
    method: MethodOrNone = "auto",
    seed: Seed = 0,
    jobs: Jobs = DEFAULT_JOBS,
    output: Annotated[Path, output_to("Model file to write.")] = Path("model.skops"),
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Fit a calibrated model to a data file and save it."""
    import sys

    from calibrant._core.phrases import capitalize, count
    from calibrant.cli.outputs import OutputKind, check_output
    from calibrant.tabular import MODELS, fit_table
    from calibrant.tabular.data_files import describe_demand
    from calibrant.tabular.requests import TableRequest
    from calibrant.tabular.schema import Severity
    from calibrant.tabular.skill import warn_of_guessing

    messages = Messages(quiet, json)
    with one_line_errors(), warnings_as_notes(messages.note):
        check_output(output, OutputKind.model, inputs=[data])
        messages.check(inputs=[data], outputs=[output])
        if demand := describe_demand(data):
            messages.note(demand)
        request = TableRequest(
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
        )
        table = request.read()
        schema = request.describe(table)
        for notice in schema.notices:
            is_warning = notice.severity is Severity.warning
            (messages.warn if is_warning else messages.note)(notice.text)
        fitted = fit_table(
            table,
            schema,
            model=model,
            method=None if method == NO_CALIBRATION else method,
            random_state=seed,
            n_jobs=jobs,
            verbose=int(sys.stderr.isatty() and not quiet),
        )
        if guessing := warn_of_guessing(fitted.performance, schema.target):
            messages.warn(guessing)
        fitted.save(output)
    messages.finish(
        f"Saved to {output}.",
        {**fitted.to_dict(), "output": str(output)},
        summary=(
            f"{capitalize(MODELS[model].title)} fitted to {count(schema.n_rows, 'row')} with "
            f"{count(len(schema.features), 'feature')} and {len(schema.classes)} classes of "
            f"{schema.target!r}.",
            fitted.report,
        ),
    )


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file written by calibrant fit or update.")
    ],
    data: NewData,
    sheet: Sheet = None,
    missing: Missing = None,
    keep: Keep = None,
    costs: Costs = None,
    prevalence: Prevalence = None,
    intervals: Intervals = False,
    sets: Sets = False,
    digits: Digits = DEFAULT_DIGITS,
    output: CsvFile = "-",
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Predict class probabilities for the rows of a new data file.

    The output has the predicted class and its probability, then the probability of each class.
    """
    from calibrant.tabular import TableModel

    request = PredictionRequest(
        model,
        data,
        sheet,
        missing or (),
        keep,
        costs,
        prevalence,
        digits,
        output,
        with_intervals=intervals,
        with_sets=sets,
    )
    write_predictions(TableModel, request, Messages(quiet, json, has_table=True))
