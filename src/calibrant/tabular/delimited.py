"""Text with cells separated by commas, semicolons, tabs or spaces -> tables.

Lines with too few cells are refused, where pandas would fill them up.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from itertools import islice

import numpy as np
import pandas as pd

from calibrant.tabular.cells import as_cells, as_table
from calibrant.tabular.delimited_layout import Layout, clean_cell, find_layout
from calibrant.tabular.delimited_records import Lines
from calibrant.tabular.reading import set_reading


def parse_delimited(
    text: str, source: str, delimiter: str | None, expected: Collection[str] = ()
) -> pd.DataFrame:
    """Parse delimited text.

    Parameters
    ----------
    text : str
        The text. Its first line names the columns.
    source : str
        Name of the file, for error messages.
    delimiter : str or None
        The character that separates cells, as in `find_layout`.
    expected : collection of str
        Names of columns that the table should have, as in `find_layout`.

    Returns
    -------
    DataFrame
        Columns of text, with NaN where a value is missing, indexed by line number.
    """

    def lines() -> io.StringIO:
        return io.StringIO(text, newline="")

    layout = find_layout(lines, source, delimiter, expected)
    [table] = read_rows(lines, layout, source)
    set_reading(table, notices=layout.notices)
    return table


def read_rows(
    lines: Lines, layout: Layout, source: str, size: int | None = None
) -> Iterator[pd.DataFrame]:
    """Read the rows of delimited text.

    Parameters
    ----------
    lines : callable
        Opens the text.
    layout : Layout
        How it is read.
    source : str
        Name of the file, for error messages.
    size : int or None, default=None
        The largest number of rows of a table. ``None`` means one table with all rows.

    Yields
    ------
    DataFrame
        Consecutive rows, as `parse_delimited` returns them, without the notices. Text without
        rows is a table without rows.
    """
    records = layout.read_body(lines, source)
    batch = list(islice(records, size))
    while True:
        cells = list(zip(*(record for _, record in batch), strict=True))
        table = as_table(
            {
                name: as_cells(clean_cell(cell) or np.nan for cell in (cells[at] if cells else ()))
                for name, at in layout.columns.items()
            },
            pd.Index([line for line, _ in batch], name="line"),
        )
        set_reading(table, decimal_comma=layout.decimal_comma)
        yield table
        del table, cells  # before the next rows are read
        if not (batch := list(islice(records, size))):
            return
