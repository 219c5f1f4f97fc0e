"""Probabilities -> CSV that loses nothing and that spreadsheets take as it is."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from calibrant._core.files import check_writable, write_atomically
from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import is_missing, is_number

# Spreadsheets take text that begins so, apostrophes aside, as a formula: it may run commands.
FORMULA = re.compile(r"'*[=+\-@\t\r]")


def to_csv(
    proba: FloatArray, classes: Sequence[str], kept: Mapping[str, Sequence[Any]] | None = None
) -> bytes:
    """Write probabilities as CSV, one column a class.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_classes)
        The probabilities, written with all digits: reading them gives the same numbers.
    classes : sequence of str
        The names of the columns.
    kept : mapping, default=None
        Columns to put before them, by name.

    Returns
    -------
    bytes
        UTF-8 text. Names and cells that a spreadsheet would take as a formula begin with an
        apostrophe, which `calibrant.tabular.read_table` takes off again.
    """
    kept = kept or {}
    if twice := [name for name in kept if name in classes]:
        raise ValueError(
            f"A column to keep must have another name than the classes. Got {twice[0]!r}. "
            "Rename it, or leave it out."
        )
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([as_plain_text(name) for name in (*kept, *classes)])
    for row, own in enumerate(proba.tolist()):
        before = [_written(column[row]) for column in kept.values()]
        writer.writerow([*before, *map(repr, own)])
    return buffer.getvalue().encode()


def as_plain_text(text: str) -> str:
    """Text that a spreadsheet does not take as a formula; numbers are left as they are."""
    return f"'{text}" if FORMULA.match(text) and not is_number(text) else text


def check_destination(path: str | Path) -> None:
    """Refuse, before any work is done, a destination that cannot be written."""
    if str(path) != "-":
        check_writable(path)


def write_output(path: str | Path, content: bytes) -> None:
    """Write to a file, or to standard output if it is called "-"."""
    if str(path) == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        write_atomically(path, content)


def _written(cell: Any) -> str:
    if isinstance(cell, str):
        return as_plain_text(cell)
    return "" if is_missing(cell) else repr(float(cell))
