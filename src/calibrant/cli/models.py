"""``calibrant fit``, ``predict``, ``calibrate``, ``apply``: from data files to probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibrant.cli.arguments import (
    DEFAULT_JOBS,
    Categories,
    DataFile,
    Groups,
    Ignore,
    Jobs,
    Seed,
    Target,
    noted_warnings,
    one_line_errors,
    say,
)

if TYPE_CHECKING:
    import pandas as pd

    from calibrant.tabular.probabilities import ProbabilityCalibrator

NewFile = Annotated[
    str, typer.Argument(metavar="NEW", help="A CSV, TSV, Parquet or ARFF file; - is stdin.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="Columns of the new file to copy to the output."),
]
CsvFile = Annotated[str, typer.Option("--output", "-o", help="The CSV file to write; - is stdout.")]


def fit(
    data: DataFile,
    target: Target,
    groups: Groups = None,
    ignore: Ignore = None,
    categories: Categories = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="random-forest, naive-bayes, logistic, svm, boosting or neighbors."
        ),
    ] = "random-forest",
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="How to calibrate: auto, temperature, matrix, enir, ... or none."
        ),
    ] = "auto",
    seed: Seed = 0,
    jobs: Jobs = DEFAULT_JOBS,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")] = Path(
        "model.skops"
    ),
) -> None:
    """Fit a calibrated model to a table and save it."""
    import sys

    from calibrant._core.files import check_writable
    from calibrant.tabular import describe_table, read_table
    from calibrant.tabular.table_model import fit_table

    with one_line_errors(), noted_warnings():
        _check_method(method, "none")
        check_writable(output)
        table = read_table(data)
        schema = describe_table(
            table, target, groups=groups, ignore=ignore or (), categories=categories or ()
        )
        for notice in schema.notices:
            say(notice.text)
        fitted = fit_table(
            table,
            schema,
            model=model,
            method=None if method == "none" else method,
            random_state=seed,
            n_jobs=jobs,
            verbose=int(sys.stderr.isatty()),
        )
        fitted.save(output)
    print(
        f"{schema.n_rows} rows, {len(schema.features)} columns, {len(schema.classes)} classes of "
        f"{schema.target!r}."
    )
    if hasattr(fitted.classifier, "calibration_report_"):
        print(fitted.classifier.calibration_report_)
    print(f"Model: {output}")


def predict(
    model: Annotated[Path, typer.Argument(help="A file that calibrant fit wrote.")],
    data: NewFile,
    keep: Keep = None,
    output: CsvFile = "-",
) -> None:
    """Write the probabilities of the classes for the rows of a new table."""
    from calibrant.tabular import new_rows, read_table, unseen_categories
    from calibrant.tabular.table_model import load_table_model
    from calibrant.tabular.writing import check_destination, to_csv, write_output

    with one_line_errors(), noted_warnings():
        check_destination(output)
        loaded = load_table_model(model)
        table = read_table(data, expected=[column.name for column in loaded.schema.features])
        kept = _kept(table, keep)
        unseen = unseen_categories(new_rows(table, loaded.schema), loaded.schema)
        for name, categories in unseen.items():
            shown = ", ".join(repr(own) for own in categories[:5])
            say(f"{name!r} has categories that the model has not seen, and takes as rare: {shown}.")
        proba = loaded.predict_proba(table)
        write_output(output, to_csv(proba, loaded.schema.classes, kept))


def calibrate(
    data: DataFile,
    target: Target,
    logits: Annotated[
        bool, typer.Option("--logits", help="The columns hold logits, not probabilities.")
    ] = False,
    method: Annotated[
        str,
        typer.Option(metavar="NAME", help="How to calibrate: auto, temperature, matrix, enir, ..."),
    ] = "auto",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The calibrator file to write.")
    ] = Path("calibrator.skops"),
    report: Annotated[
        Path | None, typer.Option(help="A page to write: whether they can be trusted, as report.")
    ] = None,
) -> None:
    """Fit a calibrator to out-of-sample probabilities of a model that lives elsewhere.

    The table has a column of true classes, and for each class a column of its name.
    """
    from calibrant._core.files import check_writable
    from calibrant.tabular import read_table
    from calibrant.tabular.probabilities import fit_probabilities

    with one_line_errors(), noted_warnings():
        _check_method(method)
        check_writable(output)
        if report is not None:
            check_writable(report)
        table = read_table(data)
        fitted = fit_probabilities(table, target, logits=logits, method=method)
        fitted.save(output)
        if report is not None:
            _write_report(table, fitted, data, output, report)
    print(f"{fitted.settings['n_rows']} rows, {len(fitted.classes)} classes.")
    if fitted.report:
        print(fitted.report)
    print(f"Calibrator: {output}")
    if report is not None:
        print(f"Open {report} in a browser.")


def apply(
    calibrator: Annotated[Path, typer.Argument(help="A file that calibrant calibrate wrote.")],
    data: NewFile,
    keep: Keep = None,
    output: CsvFile = "-",
) -> None:
    """Write calibrated probabilities for a table of new ones."""
    from calibrant.tabular import read_table
    from calibrant.tabular.probabilities import load_calibrator
    from calibrant.tabular.writing import check_destination, to_csv, write_output

    with one_line_errors(), noted_warnings():
        check_destination(output)
        loaded = load_calibrator(calibrator)
        table = read_table(data, expected=loaded.classes)
        proba = loaded.predict_proba(table)
        write_output(output, to_csv(proba, loaded.classes, _kept(table, keep)))


def _check_method(method: str, *more: str) -> None:
    from calibrant._core.registries import CALIBRATORS

    names = [*CALIBRATORS, *more]
    if method not in names:
        raise ValueError(
            f"--method must be one of {', '.join(names)}. Got {method!r}. Choose one of these."
        )


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


def _kept(table: pd.DataFrame, keep: list[str] | None) -> dict[str, list[Any]]:
    from calibrant.tabular.columns import find_column

    names = [find_column(table, name, "A column to keep") for name in keep or ()]
    return {name: table[name].tolist() for name in names}
