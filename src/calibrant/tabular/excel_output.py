"""Tables as Excel workbooks: numbers as numbers, text as text that is never run as a formula."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from calibrant.tabular.cells import is_missing
from calibrant.tabular.phrases import shorten

# Excel cannot hold more rows and columns in a sheet.
MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384


def to_excel(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Write a table as an Excel workbook with one sheet.

    Parameters
    ----------
    columns : mapping of str to sequence
        Cells by column name: text, numbers, or NaN where a value is missing.

    Returns
    -------
    bytes
        The workbook. Numbers have 16 significant digits, of which Excel shows 15.
    """
    Workbook, IllegalCharacterError = _import_openpyxl()
    n_rows = max(map(len, columns.values()), default=0)
    if n_rows + 1 > MOST_ROWS or len(columns) > MOST_COLUMNS:
        raise ValueError(
            f"An Excel sheet must have at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns, "
            f"got {n_rows + 1:,} and {len(columns):,}. Write the table as CSV."
        )
    workbook = Workbook()
    for position, (name, column) in enumerate(columns.items(), start=1):
        for row, value in enumerate([name, *column], start=1):
            if is_missing(value):
                continue
            cell = workbook.active.cell(row, position)
            try:
                cell.value = value if isinstance(value, str) else float(value)
            except IllegalCharacterError:
                raise ValueError(
                    "Text in an Excel workbook must not contain control characters, got "
                    f"{shorten(value)}. Write the table as CSV."
                ) from None
            if isinstance(value, str):
                cell.data_type = "s"  # otherwise, text that starts with "=" is a formula
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def check_excel_output() -> None:
    """Raise an error if Excel workbooks cannot be written here."""
    _import_openpyxl()


def _import_openpyxl() -> tuple[Any, Any]:
    try:
        from openpyxl import Workbook
        from openpyxl.utils.exceptions import IllegalCharacterError
    except ImportError:
        raise ImportError(
            "Writing Excel workbooks requires openpyxl, which is not installed. "
            "Run pip install 'calibrant[excel]', or give the output the suffix .csv."
        ) from None
    return Workbook, IllegalCharacterError
