"""Probabilities as CSV, without rounding and safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import is_missing, is_number

# Spreadsheets run text that starts like this as a formula, which may execute commands. Leading
# apostrophes are included so that the escape can be undone.
FORMULA = re.compile(r"'*[=+\-@\t\r]")


def to_csv(
    proba: FloatArray, classes: Sequence[str], kept: Mapping[str, Sequence[Any]] | None = None
) -> bytes:
    """Write probabilities as CSV, with one column per class.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_classes)
        The probabilities, written with all digits, so that reading them restores the same
        numbers.
    classes : sequence of str
        Names of their columns.
    kept : mapping of str to sequence, default=None
        Cells by column, for columns to put before the probabilities.

    Returns
    -------
    bytes
        UTF-8 text. An apostrophe precedes names and cells that a spreadsheet would take for a
        formula; `read_table` removes it.
    """
    kept = kept or {}
    if clash := [name for name in kept if name in classes]:
        raise ValueError(
            f"keep must not name a column that is also a class, got {clash[0]!r}. "
            "Rename the column, or leave it out."
        )
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([escape_formula(name) for name in (*kept, *classes)])
    for row, values in enumerate(proba.tolist()):
        cells = [_write_cell(column[row]) for column in kept.values()]
        writer.writerow([*cells, *map(repr, values)])
    return buffer.getvalue().encode()


def escape_formula(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula.

    Parameters
    ----------
    text : str
        The text of a cell.

    Returns
    -------
    str
        The same text if it is a number or does not start like a formula.
    """
    return f"'{text}" if FORMULA.match(text) and not is_number(text) else text


def _write_cell(cell: Any) -> str:
    if isinstance(cell, str):
        return escape_formula(cell)
    return "" if is_missing(cell) else repr(float(cell))
