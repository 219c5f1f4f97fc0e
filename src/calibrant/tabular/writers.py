"""Tables -> files."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from calibrant._core.files import open_atomically
from calibrant.tabular.csv_output import to_csv
from calibrant.tabular.excel_output import check_excel_output, to_excel

STANDARD_OUTPUT = "-"
# Bytes for standard output that are kept in memory.
LARGEST_IN_MEMORY = 2**24


def write_table(columns: Mapping[str, Sequence[Any]], output: str) -> None:
    """Write a table to a file.

    Parameters
    ----------
    columns : mapping of str to sequence
        Cells by column: text, numbers, or NaN where a value is missing.
    output : str
        The file to write, as in `open_table`.
    """
    with open_table(output) as write:
        write(columns)


@contextmanager
def open_table(output: str) -> Iterator[Callable[[Mapping[str, Sequence[Any]]], None]]:
    """Write a table to a file, some rows at a time.

    The file is written or replaced when the context ends, or not at all if there is an error.

    Parameters
    ----------
    output : str
        The file to write, or "-" for CSV to standard output. The suffix .xlsx means Excel, .tsv
        means tabs between cells, and any other means CSV.

    Yields
    ------
    callable
        Writes rows, given as cells by column. Excel takes all rows at once.
    """
    delimiter = "\t" if Path(output).suffix.lower() == ".tsv" else ","
    is_first = True
    with _open_stdout() if output == STANDARD_OUTPUT else open_atomically(output) as file:

        def write(columns: Mapping[str, Sequence[Any]]) -> None:
            nonlocal is_first
            if is_workbook(output):
                file.write(to_excel(columns))
            else:
                file.write(to_csv(columns, delimiter=delimiter, header=is_first))
            is_first = False

        yield write


@contextmanager
def _open_stdout() -> Iterator[IO[bytes]]:
    """Keep what is written until it is complete, in a temporary file if it is large."""
    with SpooledTemporaryFile(LARGEST_IN_MEMORY) as kept:
        yield kept
        kept.seek(0)
        shutil.copyfileobj(kept, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def is_workbook(output: str) -> bool:
    """Whether a table is written to a file as an Excel workbook."""
    return Path(output).suffix.lower() == ".xlsx"


def check_table_output(output: str) -> None:
    """Raise an error if a table cannot be written in the format of a file, before any work."""
    if is_workbook(output):
        check_excel_output()
