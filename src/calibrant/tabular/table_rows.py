"""The rows of a data file, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from calibrant.tabular.data_files import DataFile
from calibrant.tabular.delimited import read_rows
from calibrant.tabular.delimited_layout import find_layout
from calibrant.tabular.encodings import read_lines
from calibrant.tabular.missing import MissingMarks
from calibrant.tabular.readers import (
    check_row_count,
    find_delimited_text,
    find_delimiter,
    read_file,
)
from calibrant.tabular.reading import get_reading, set_reading
from calibrant.tabular.schema import Notice


@dataclass(frozen=True)
class TableRows:
    """The rows of a data file, which can be read several times.

    Iteration yields tables of consecutive rows, as `read_table` returns them.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.
    notices : tuple of Notice
        What was decided or changed to read the file.
    """

    columns: tuple[str, ...]
    notices: tuple[Notice, ...]
    _tables: Callable[[], Iterator[pd.DataFrame]]

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return self._tables()


def open_rows(
    source: str | Path,
    *,
    expected: Collection[str] = (),
    sheet: str | None = None,
    missing: Sequence[str] = (),
    size: int | None = None,
) -> TableRows:
    """Open a data file to read its rows, some at a time if it is delimited text.

    Parameters
    ----------
    source, expected, sheet, missing
        As in `read_table`.
    size : int or None, default=None
        The largest number of rows of delimited text to hold in memory. ``None`` means all rows,
        as in other files.

    Returns
    -------
    TableRows
        The rows. How a cell is read does not depend on ``size``.
    """
    file = DataFile(source)
    text = None if size is None or sheet is not None else find_delimited_text(file)
    if text is None:
        table = read_file(file, expected=expected, sheet=sheet, missing=missing)
        names = tuple(str(name) for name in table.columns)
        return TableRows(names, get_reading(table).notices, lambda: iter([table]))
    codec, notices = text
    lines = partial(read_lines, file.open, codec)
    layout = find_layout(lines, file.name, find_delimiter(file.suffix), expected)
    marks = MissingMarks(list(layout.columns), missing)

    def read() -> Iterator[pd.DataFrame]:
        for rows in read_rows(lines, layout, file.name, size):
            table = marks.clear(rows)
            set_reading(table, missing=marks.missing)
            yield table

    check_row_count(sum(len(table) for table in read()), file.name)  # and counts the markers
    notices = (*layout.notices, *notices, *marks.describe())
    return TableRows(tuple(layout.columns), notices, read)
