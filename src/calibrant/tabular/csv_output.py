"""Tables as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibrant.tabular.cells import is_missing, is_number

# Spreadsheets run text that starts like this as a formula, which may execute commands. Leading
# apostrophes are included so that the escape can be undone.
FORMULA = re.compile(r"'*[=+\-@\t\r]")


def to_csv(
    columns: Mapping[str, Sequence[Any]], *, delimiter: str = ",", header: bool = True
) -> bytes:
    """Write columns as CSV.

    Parameters
    ----------
    columns : mapping of str to sequence
        Cells by column: text, numbers, or NaN where a value is missing. Numbers are written with
        as many digits as it takes to restore them, and without an exponent.
    delimiter : str, default=","
        The character that separates cells.
    header : bool, default=True
        Whether the first line has the names of the columns.

    Returns
    -------
    bytes
        UTF-8 text. An apostrophe precedes names and cells that a spreadsheet would take for a
        formula; `read_table` removes it.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    if header:
        writer.writerow([escape_formula(name) for name in columns])
    for row in zip(*columns.values(), strict=True):
        writer.writerow([_write_cell(cell) for cell in row])
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
    return "" if is_missing(cell) else np.format_float_positional(cell, trim="-")
