"""Tables -> files."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from calibrant._core.files import write_atomically
from calibrant.tabular.csv_output import to_csv
from calibrant.tabular.excel_output import check_excel_output, to_excel

STANDARD_OUTPUT = "-"


def write_table(columns: Mapping[str, Sequence[Any]], output: str) -> None:
    """Write a table to a file.

    Parameters
    ----------
    columns : mapping of str to sequence
        Cells by column: text, numbers, or NaN where a value is missing.
    output : str
        The file to write, or "-" for CSV to standard output. The suffix .xlsx means Excel, .tsv
        means tabs between cells, and any other means CSV.
    """
    if is_workbook(output):
        content = to_excel(columns)
    else:
        is_tsv = Path(output).suffix.lower() == ".tsv"
        content = to_csv(columns, delimiter="\t" if is_tsv else ",")
    if output == STANDARD_OUTPUT:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        write_atomically(output, content)


def is_workbook(output: str) -> bool:
    """Whether a table is written to a file as an Excel workbook."""
    return Path(output).suffix.lower() == ".xlsx"


def check_table_output(output: str) -> None:
    """Raise an error if a table cannot be written in the format of a file, before any work."""
    if is_workbook(output):
        check_excel_output()
