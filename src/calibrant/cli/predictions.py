"""Predictions of saved models for new data, which ``predict`` and ``apply`` write as CSV."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.tabular.saved_model import SavedModel


def write_predictions(
    kind: type[SavedModel], path: Path, data: str, keep: list[str] | None, output: str
) -> None:
    """Write the probabilities that a saved model predicts for a data file.

    Parameters
    ----------
    kind : type
        The class of the saved model.
    path : Path
        The file of the model.
    data : str
        The data file, or "-" for standard input.
    keep : list of str or None
        Columns of the data file to copy.
    output : str
        The CSV file to write, or "-" for standard output.
    """
    from calibrant._core.files import check_writable, write_atomically
    from calibrant.cli.messages import one_line_errors, print_note, warnings_as_notes
    from calibrant.tabular import read_table
    from calibrant.tabular.columns import find_column
    from calibrant.tabular.csv_output import to_csv

    with one_line_errors(), warnings_as_notes():
        if output != "-":
            check_writable(output)
        model = _load(kind, path)
        table = read_table(data, expected=model.input_columns)
        names = [find_column(table, name, "keep") for name in keep or ()]
        for text in model.find_notices(table):
            print_note(text)
        content = to_csv(
            model.predict_proba(table),
            model.output_columns,
            {name: table[name].tolist() for name in names},
        )
        if output == "-":
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            write_atomically(output, content)


def _load(kind: type[SavedModel], path: Path) -> SavedModel:
    """Load a model, or name the command that uses what the file holds."""
    from calibrant.tabular import ProbabilityCalibrator, TableModel
    from calibrant.tabular.saved_model import WrongKindError

    commands = {
        TableModel.KIND: "calibrant predict",
        ProbabilityCalibrator.KIND: "calibrant apply",
    }
    try:
        return kind.load(path)
    except WrongKindError as error:
        command = commands.get(error.found)
        remedy = f"Use it with {command}." if command else "Use it in Python, with calibrant.load."
        raise ValueError(f"{error} {remedy}") from None
