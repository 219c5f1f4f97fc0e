"""``calibrant calibrate`` and ``calibrant apply``: calibrators of predicted probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calibrant.cli.arguments import CsvFile, DataFile, Keep, Method, NewData, Target, output_to
from calibrant.cli.messages import one_line_errors, warnings_as_notes
from calibrant.cli.predictions import write_predictions

if TYPE_CHECKING:
    import pandas as pd

    from calibrant.tabular import ProbabilityCalibrator


def calibrate(
    data: DataFile,
    target: Target,
    logits: Annotated[
        bool, typer.Option("--logits", help="Treat the columns as logits, not probabilities.")
    ] = False,
    method: Method = "auto",
    output: Annotated[Path, output_to("Calibrator file to write.")] = Path("calibrator.skops"),
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write an HTML report on the probabilities."),
    ] = None,
) -> None:
    """Fit a calibrator to probabilities from any model.

    The data file must have a column with the true classes and, for each class, a column named
    after the class with its predicted probabilities. The rows must be held out, that is, not used
    to train the model.
    """
    from calibrant._core.files import check_writable
    from calibrant._core.phrases import count
    from calibrant.tabular import fit_probabilities, read_table

    with one_line_errors(), warnings_as_notes():
        check_writable(output)
        if report is not None:
            check_writable(report)
        table = read_table(data)
        fitted = fit_probabilities(table, target, logits=logits, method=method)
        fitted.save(output)
        if report is not None:
            _write_report(table, fitted, data, output, report)
    print(
        f"Calibrator fitted to {count(fitted.settings['n_rows'], 'row')} with "
        f"{len(fitted.classes)} classes."
    )
    if fitted.report:
        print(fitted.report)
    print(f"Saved to {output}.")
    if report is not None:
        print(f"Open {report} in a browser.")


def apply(
    calibrator: Annotated[
        Path,
        typer.Argument(
            metavar="CALIBRATOR", help="Calibrator file written by calibrant calibrate."
        ),
    ],
    data: NewData,
    keep: Keep = None,
    output: CsvFile = "-",
) -> None:
    """Calibrate the predicted probabilities in a new data file."""
    from calibrant.tabular import ProbabilityCalibrator

    write_predictions(ProbabilityCalibrator, calibrator, data, keep, output)


def _write_report(
    table: pd.DataFrame, fitted: ProbabilityCalibrator, data: str, output: Path, report: Path
) -> None:
    from calibrant.report import Commands
    from calibrant.report.tables import report_on_probabilities

    settings = fitted.settings
    command = ["calibrant", "calibrate", data, "--target", settings["target"]]
    command += ["--logits"] if fitted.logits else []
    command += ["--method", settings["method"], "-o", str(output), "--report", str(report)]
    title = "standard input" if data == "-" else Path(data).name
    report_on_probabilities(table, fitted, report, title=title, commands=Commands(command))
