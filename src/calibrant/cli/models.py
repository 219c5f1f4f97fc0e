"""``calibrant fit`` and ``calibrant predict``: calibrated models of data files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant.cli.arguments import (
    DEFAULT_JOBS,
    NO_CALIBRATION,
    Categories,
    CsvFile,
    DataFile,
    Groups,
    Ignore,
    Jobs,
    Keep,
    MethodOrNone,
    Model,
    NewData,
    Seed,
    Target,
    output_to,
)
from calibrant.cli.messages import one_line_errors, print_note, warnings_as_notes
from calibrant.cli.predictions import write_predictions


def fit(
    data: DataFile,
    target: Target,
    groups: Groups = None,
    ignore: Ignore = None,
    categories: Categories = None,
    model: Model = "random-forest",
    method: MethodOrNone = "auto",
    seed: Seed = 0,
    jobs: Jobs = DEFAULT_JOBS,
    output: Annotated[Path, output_to("Model file to write.")] = Path("model.skops"),
) -> None:
    """Fit a calibrated model to a data file and save it."""
    import sys

    from calibrant._core.files import check_writable
    from calibrant._core.phrases import capitalize, count
    from calibrant.tabular import MODELS, describe_table, fit_table, read_table

    with one_line_errors(), warnings_as_notes():
        check_writable(output)
        table = read_table(data)
        schema = describe_table(
            table, target, groups=groups, ignore=ignore or (), categories=categories or ()
        )
        for notice in schema.notices:
            print_note(notice.text)
        fitted = fit_table(
            table,
            schema,
            model=model,
            method=None if method == NO_CALIBRATION else method,
            random_state=seed,
            n_jobs=jobs,
            verbose=int(sys.stderr.isatty()),
        )
        fitted.save(output)
    print(
        f"{capitalize(MODELS[model].title)} fitted to {count(schema.n_rows, 'row')} with "
        f"{count(len(schema.features), 'feature')} and {len(schema.classes)} classes of "
        f"{schema.target!r}."
    )
    if fitted.report:
        print(fitted.report)
    print(f"Saved to {output}.")


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file written by calibrant fit.")
    ],
    data: NewData,
    keep: Keep = None,
    output: CsvFile = "-",
) -> None:
    """Predict class probabilities for the rows of a new data file."""
    from calibrant.tabular import TableModel

    write_predictions(TableModel, model, data, keep, output)
