"""``calibrant calibrate`` and ``calibrant apply``: calibrators of predicted probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calibrant.cli.arguments import (
    DEFAULT_DIGITS,
    Costs,
    CsvFile,
    DataFile,
    Digits,
    Json,
    Keep,
    Method,
    Missing,
    NewData,
    Prevalence,
    Quiet,
    Sheet,
    Target,
    output_to,
)
from calibrant.cli.completion import complete_assignments
from calibrant.cli.messages import Messages, one_line_errors, warnings_as_notes
from calibrant.cli.predictions import PredictionRequest, write_predictions

if TYPE_CHECKING:
    import pandas as pd

    from calibrant.tabular import ProbabilityCalibrator
    from calibrant.tabular.probability_columns import ProbabilityColumns


def calibrate(
    data: DataFile,
    target: Target,
    sheet: Sheet = None,
    missing: Missing = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=CLASS",
            help="Columns that are not named after their class, as in score=malignant.",
            autocompletion=complete_assignments,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="With two classes, the class of a single column of probabilities.",
        ),
    ] = None,
    logits: Annotated[
        bool, typer.Option("--logits", help="Treat the columns as logits, not probabilities.")
    ] = False,
    method: Method = "auto",
    output: Annotated[Path, output_to("Calibrator file to write.")] = Path("calibrator.skops"),
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write an HTML report on the probabilities."),
    ] = None,
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Fit a calibrator to probabilities from any model.

    The data file must have a column with the true classes and, for each class, a column with its
    predicted probabilities; with two classes, one such column is enough. The rows must be held
    out, that is, not used to train the model.
    """
    from calibrant._core.phrases import count
    from calibrant.cli.outputs import OutputKind, check_output
    from calibrant.tabular import fit_probabilities, read_table
    from calibrant.tabular.class_columns import split_assignments
    from calibrant.tabular.reading import get_reading

    messages = Messages(quiet, json)
    with one_line_errors(), warnings_as_notes(messages.note):
        check_output(output, OutputKind.model, inputs=[data])
        if report is not None:
            check_output(report, OutputKind.page, inputs=[data], outputs=[output])
        messages.check(inputs=[data], outputs=[output, report])
        table = read_table(data, sheet=sheet, missing=missing or ())
        for notice in get_reading(table).notices:
            messages.note(notice.text)
        fitted = fit_probabilities(
            table,
            target,
            columns=split_assignments(columns or (), [str(name) for name in table.columns]),
            positive=positive,
            logits=logits,
            method=method,
        )
        for text in _describe_columns(fitted.given) + fitted.find_notices(table):
            messages.note(text)
        fitted.save(output)
        if report is not None:
            _write_report(table, fitted, data, output, report)
    page = "" if report is None else f" Open {report} in a browser."
    messages.finish(
        f"Saved to {output}.{page}",
        {**fitted.to_dict(), "output": str(output)},
        summary=(
            f"Calibrator fitted to {count(fitted.settings['n_rows'], 'row')} with "
            f"{len(fitted.classes)} classes.",
            fitted.report,
        ),
    )


def apply(
    calibrator: Annotated[
        Path,
        typer.Argument(
            metavar="CALIBRATOR", help="Calibrator file written by calibrant calibrate or update."
        ),
    ],
    data: NewData,
    sheet: Sheet = None,
    missing: Missing = None,
    keep: Keep = None,
    costs: Costs = None,
    prevalence: Prevalence = None,
    digits: Digits = DEFAULT_DIGITS,
    output: CsvFile = "-",
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Calibrate the predicted probabilities in a new data file.

    Its columns must have the same names as in the file that the calibrator was fitted to.
    """
    from calibrant.tabular import ProbabilityCalibrator

    request = PredictionRequest(
        calibrator, data, sheet, missing or (), keep, costs, prevalence, digits, output
    )
    write_predictions(ProbabilityCalibrator, request, Messages(quiet, json, has_table=True))


def _describe_columns(given: ProbabilityColumns) -> list[str]:
    """Say which class a single column is for."""
    if not given.is_single:
        return []
    [name] = given.names
    what = "logit" if given.logits else "probability"
    return [f"{name!r} is read as the {what} of {given.positive!r}."]


def _write_report(
    table: pd.DataFrame, fitted: ProbabilityCalibrator, data: str, output: Path, report: Path
) -> None:
    from calibrant.report.requests import spell_calibration
    from calibrant.report.tables import report_on_probabilities

    title = "standard input" if data == "-" else Path(data).name
    commands = spell_calibration(fitted, table, data, str(output), str(report))
    report_on_probabilities(table, fitted, report, title=title, commands=commands)
