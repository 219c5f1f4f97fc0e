"""Text with cells separated by commas, semicolons or tabs -> tables.

The parser is Python's `csv`. Two things are decided here, because `csv.Sniffer` and pandas guess
at them without telling: the delimiter, and whether the first line names the columns. Lines with
too few cells are refused, where pandas would fill them up.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.phrases import count
from calibrant.tabular.cells import as_cells, as_table, is_number
from calibrant.tabular.headers import check_column_count, check_distinct_names
from calibrant.tabular.phrases import shorten

# Texts that stand for a missing value. "None" is not among them: it is often the name of a class.
MISSING = frozenset({"", "?", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"})
DELIMITERS = (",", ";", "\t")
# Number of lines by which the delimiter is chosen.
SAMPLE_LINES = 20
LONGEST_CELL = 1_000_000
# An error quotes this many cells of a first line that looks like data.
MOST_QUOTED = 3

# The apostrophe that `calibrant.tabular.csv_output` puts before text that looks like a formula.
ESCAPED = re.compile(r"^'(?='*[=+\-@\t\r])")
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?")


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
        The character that separates cells. ``None`` means the one of comma, semicolon and tab
        that gives the most consistent table.
    expected : collection of str
        Names of columns that the table should have. A first line that has them all is taken
        for column names, even if it looks like data.

    Returns
    -------
    DataFrame
        Columns of text, with NaN where a value is missing, indexed by line number.
    """
    delimiter = delimiter or max(DELIMITERS, key=lambda mark: _consistency(text, mark))
    records = _records(text, delimiter, source)
    _, header = next(records, (0, []))
    check_column_count(len(header), source)
    lines: list[int] = []
    cells: list[list[str]] = []
    for line, record in records:
        if len(record) != len(header):
            raise ValueError(
                f"{source} must have the same number of cells in every line, but the first line "
                f"has {count(len(header), 'cell')} and line {line} has {len(record)}. "
                "Put cells that contain the separator in quotation marks."
            )
        lines.append(line)
        cells.append(record)
    columns = [list(column) for column in zip(*cells, strict=True)] or [[] for _ in header]
    if not expected or not set(expected) <= set(header):
        _check_header(header, columns, source)
    names = [name or f"column {position}" for position, name in enumerate(header, start=1)]
    check_distinct_names(names, source)
    kept = {
        name: _parse_column(column, decimal_comma=delimiter == ";")
        for given, name, column in zip(header, names, columns, strict=True)
        if given or any(column)  # lines that end in a separator have an empty last column
    }
    return as_table(kept, pd.Index(lines, name="line"))


def _records(text: str, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with its line number, except records without any text."""
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
        )
        for record in reader:
            stripped = [ESCAPED.sub("", cell.strip()) for cell in record]
            if any(stripped):
                yield reader.line_num, stripped
    except csv.Error as error:
        raise ValueError(
            f"{source} must be valid CSV, but line {reader.line_num} cannot be read: {error}. "
            "Look for an unclosed quotation mark."
        ) from None
    finally:
        csv.field_size_limit(limit)


def _consistency(text: str, delimiter: str) -> tuple[int, int]:
    """Return how many of the first lines have as many cells as the header, and how many cells."""
    try:
        lines = [record for _, record in islice(_records(text, delimiter, ""), SAMPLE_LINES)]
    except ValueError:
        return -1, 0
    if not lines or len(lines[0]) < 2:
        return -1, 0
    return sum(len(line) == len(lines[0]) for line in lines), len(lines[0])


def _parse_column(cells: list[str], *, decimal_comma: bool) -> NDArray[Any]:
    values = [np.nan if cell in MISSING else cell for cell in cells]
    texts = [value for value in values if isinstance(value, str)]
    if decimal_comma and all(DECIMAL_COMMA.fullmatch(cell) for cell in texts):
        values = [value.replace(",", ".") if isinstance(value, str) else value for value in values]
    return as_cells(values)


def _check_header(header: list[str], columns: list[list[str]], source: str) -> None:
    """Refuse a first line of data: numbers, and words that recur in their column."""
    n_numbers = sum(is_number(title) for title in header)
    n_recurring = sum(
        title in column and bool(title) and not is_number(title)
        for title, column in zip(header, columns, strict=True)
    )
    if n_numbers + n_recurring == len(header) or (n_numbers and n_recurring):
        quoted = ", ".join(shorten(title) for title in header[:MOST_QUOTED])
        n_more = len(header) - MOST_QUOTED
        more = f" and {n_more} more" if n_more > 0 else ""
        raise ValueError(
            f"The first line of {source} must name the columns, but it looks like data: "
            f"{quoted}{more}. Add a first line with {count(len(header), 'column name')}."
        )
