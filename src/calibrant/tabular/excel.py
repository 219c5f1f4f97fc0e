"""Excel workbooks -> tables: one sheet, as its cells are displayed where that matters."""

from __future__ import annotations

import io
import warnings
from collections.abc import Collection, Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibrant.tabular.cells import as_cells, as_table, as_text, is_missing
from calibrant.tabular.headers import (
    check_column_count,
    check_distinct_names,
    check_header,
    count_title_rows,
    describe_titles,
    name_columns,
)
from calibrant.tabular.phrases import list_names
from calibrant.tabular.reading import add_notices
from calibrant.tabular.schema import Notice
from calibrant.tabular.spaces import describe_spaces

# Decimals of a percentage; beyond them, 36.4% stored as 0.364 has rounding errors.
PERCENT_DECIMALS = 10


def parse_excel(
    data: bytes, source: str, sheet: str | None, expected: Collection[str] = ()
) -> pd.DataFrame:
    """Parse a sheet of an Excel workbook.

    Parameters
    ----------
    data : bytes
        Content of the file.
    source : str
        Name of the file, for messages.
    sheet : str or None
        Name of the sheet, or its number from 1. ``None`` means the first sheet with a table.
    expected : collection of str
        Names of columns that the table should have, as in `parse_delimited`.

    Returns
    -------
    DataFrame
        Cells with numbers as numbers, percentages, dates and all other cells as text, indexed by
        the numbers of the rows in the sheet.
    """
    sheets = _load_sheets(data, source, data_only=True)
    if not sheets:
        raise ValueError(f"{source} must have a sheet with cells, but it has none. Check the file.")
    title = _choose_sheet(sheets, sheet, source)
    rows = dict(_read_rows(sheets[title]))
    if not rows:
        raise ValueError(
            f"Sheet {title!r} of {source} must hold a table, but it is empty. "
            f"Choose another of its sheets: {list_names(list(sheets))}."
        )
    table = _to_table(rows, f"sheet {title!r} of {source}", expected)
    empty = [name for name in table.columns if table[name].isna().all()]
    if empty and _has_formulas(_load_sheets(data, source)[title]):
        text = (
            f"{list_names(empty)} {'is' if len(empty) == 1 else 'are'} empty, because the results "
            "of formulas are not stored in the workbook. Open it in a spreadsheet program and save "
            "it."
        )
        add_notices(table, [Notice("file", text)])
    if len(sheets) > 1 and sheet is None:
        others = [name for name in sheets if name != title]
        are = "other is" if len(others) == 1 else "others are"
        add_notices(
            table,
            [
                Notice(
                    "file",
                    f"{source} has {len(sheets)} sheets, of which {title!r} was read. The {are} "
                    f"{list_names(others)}; choose one with --sheet.",
                )
            ],
        )
    return table


def list_sheets(source: str | Path) -> list[str]:
    """Return the names of the sheets of an Excel workbook that have cells."""
    return list(_load_sheets(Path(source).read_bytes(), str(source), data_only=True))


def _load_sheets(data: bytes, source: str, *, data_only: bool = False) -> dict[str, Any]:
    """Return the sheets with cells by title; with data_only, results instead of formulas."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ImportError(
            f"Reading {source} requires openpyxl, which is not installed. "
            "Run pip install 'calibrant[excel]', or save the table as CSV."
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on features that do not matter for the cells
            workbook = load_workbook(io.BytesIO(data), data_only=data_only)
    except Exception:  # a damaged workbook can fail in any way
        raise ValueError(
            f"{source} must be an Excel workbook, but it cannot be read as one. "
            "Save it again, or save the table as CSV."
        ) from None
    return {sheet.title: sheet for sheet in workbook.worksheets}


def _choose_sheet(sheets: dict[str, Any], wanted: str | None, source: str) -> str:
    titles = list(sheets)
    if wanted is None:
        filled = [title for title in titles if _is_table(sheets[title])]
        return filled[0] if filled else titles[0]
    if wanted in sheets:
        return wanted
    same = [title for title in titles if title.casefold() == wanted.strip().casefold()]
    if len(same) == 1:
        return same[0]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(titles):
        return titles[int(wanted) - 1]
    raise ValueError(
        f"sheet must be the name of a sheet of {source}, or a number from 1 to {len(titles)}, got "
        f"{wanted!r}. Choose one of {list_names(titles)}."
    )


def _is_table(sheet: Any) -> bool:
    """Whether a visible sheet has two columns and two rows."""
    return sheet.sheet_state == "visible" and sheet.max_row > 1 and sheet.max_column > 1


def _has_formulas(sheet: Any) -> bool:
    return any(cell.data_type == "f" for row in sheet.iter_rows() for cell in row)


def _read_rows(sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows that have a value, with their numbers in the sheet; text is as written."""
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        row = [_read_cell(cell) for cell in cells]
        if not all(map(is_missing, row)):
            yield number, row


def _read_cell(cell: Any) -> Any:
    value = cell.value
    if value is None or isinstance(value, str):
        return value if (value or "").strip() else np.nan
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        if "%" in (cell.number_format or ""):
            return f"{np.format_float_positional(round(value * 100, PERCENT_DECIMALS), trim='-')}%"
        return float(value)
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, datetime | date | time) else str(value)


def _to_table(rows: dict[int, list[Any]], source: str, expected: Collection[str]) -> pd.DataFrame:
    filled = np.array([[not is_missing(cell) for cell in row] for row in rows.values()])
    used = np.flatnonzero(filled.any(axis=0))  # a table may begin in another column than A
    first, last = int(used[0]), int(used[-1])
    check_column_count(last + 1 - first, source)
    written = [row[first : last + 1] for row in rows.values()]
    texts = [["" if is_missing(cell) else as_text(cell).strip() for cell in row] for row in written]
    is_expected = bool(expected) and set(expected) <= set(texts[0])
    n_titles = 0 if is_expected else count_title_rows(texts)
    numbers, header = list(rows), texts[n_titles]
    columns = list(zip(*texts[n_titles + 1 :], strict=True)) or [()] * len(header)
    if not expected or not set(expected) <= set(header):
        check_header(header, columns, source)
    names = name_columns(header)
    check_distinct_names(names, source)
    body = dict(zip(names, zip(*written[n_titles + 1 :], strict=True), strict=False))
    kept = {
        name: as_cells(
            cell.strip() if isinstance(cell, str) else cell for cell in body.get(name, ())
        )
        for name, given, column in zip(names, header, columns, strict=True)
        if given or any(column)
    }
    table = as_table(kept, pd.Index(numbers[n_titles + 1 :], name="row"))
    if n_titles:
        titles = [text for row in texts[:n_titles] for text in row if text]
        add_notices(table, [describe_titles(titles, n_titles, f"row {numbers[n_titles]}", source)])
    add_notices(table, describe_spaces(body))
    return table
