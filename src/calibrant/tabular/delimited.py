"""Text with cells separated by commas, semicolons, tabs or spaces -> tables.

The parser is Python's `csv`. Three things are decided here, because `csv.Sniffer` and pandas guess
them silently: the delimiter, which line names the columns, and whether numbers have
decimal commas. Lines with too few cells are refused, where pandas would fill them up.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

import numpy as np
import pandas as pd

from calibrant._core.phrases import count
from calibrant.tabular.cells import as_cells, as_table, is_number
from calibrant.tabular.headers import (
    check_column_count,
    check_distinct_names,
    check_header,
    count_title_rows,
    describe_titles,
    name_columns,
)
from calibrant.tabular.missing import is_number_mark
from calibrant.tabular.number_formats import infer_format
from calibrant.tabular.phrases import shorten
from calibrant.tabular.reading import add_notices, set_reading
from calibrant.tabular.schema import Notice
from calibrant.tabular.spaces import describe_spaces

DELIMITERS = (",", ";", "\t")
# Number of lines by which the delimiter is chosen.
SAMPLE_LINES = 20
# Up to this many short lines at the end are taken for remarks below the table.
MOST_FOOTERS = 5
LONGEST_CELL = 1_000_000
NOT_A_TABLE = (-1, 0)
SPACES_AT_ENDS = re.compile(r"^[ \t]+|[ \t]+$", re.MULTILINE)
# A name in apostrophes; if all names are, so is other text.
QUOTED_NAME = re.compile(r"'[^']*'")

# The apostrophe that `calibrant.tabular.csv_output` puts before text that looks like a formula.
ESCAPED = re.compile(r"^'(?='*[=+\-@\t\r])")


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
        that gives the most consistent table, or spaces if none of these does.
    expected : collection of str
        Names of columns that the table should have. A first line that has them all is taken
        for column names, even if it looks like data.

    Returns
    -------
    DataFrame
        Columns of text, with NaN where a value is missing, indexed by line number.
    """
    delimiter = delimiter or _find_delimiter(text, source)
    records = list(_records(text, delimiter, source))
    if records and all(QUOTED_NAME.fullmatch(cell.strip()) for cell in records[0][1]):
        records = list(_records(text, delimiter, source, quote="'"))
    rows = [[_clean(cell) for cell in record] for _, record in records]
    is_expected = bool(expected) and bool(rows) and set(expected) <= set(rows[0])
    n_titles = 0 if is_expected else count_title_rows(rows)
    lines = [line for line, _ in records]
    header, notices = _complete_header(rows[n_titles:], source)
    if n_titles:
        titles = [cell for row in rows[:n_titles] for cell in row if cell]
        notices += [describe_titles(titles, n_titles, f"line {lines[n_titles]}", source)]
    _check_widths(lines[n_titles:], [header, *rows[n_titles + 1 :]], source)
    columns = list(zip(*rows[n_titles + 1 :], strict=True)) or [()] * len(header)
    if not expected or not set(expected) <= set(header):
        check_header(header, columns, source)
    names = name_columns(header)
    check_distinct_names(names, source)
    kept = {
        name: column
        for given, name, column in zip(header, names, columns, strict=True)
        if given or any(column)  # lines that end in a separator have an empty last column
    }
    table = as_table(
        {name: as_cells(cell or np.nan for cell in column) for name, column in kept.items()},
        pd.Index(lines[n_titles + 1 :], name="line"),
    )
    written = zip(*(record for _, record in records[n_titles + 1 :]), strict=True)
    add_notices(table, [*notices, *describe_spaces(dict(zip(names, written, strict=False)))])
    set_reading(table, decimal_comma=_has_decimal_commas(kept.values(), delimiter))
    return table


def _find_delimiter(text: str, source: str) -> str:
    """Return the delimiter of the most consistent table; spaces if there is no other."""
    scores = {mark: _consistency(text, mark) for mark in DELIMITERS}
    best = max(DELIMITERS, key=lambda mark: scores[mark])
    if scores[best] > NOT_A_TABLE:
        return best
    rows = [record for _, record in islice(_records(text, " ", source), SAMPLE_LINES)]
    widths = {len(row) for row in rows[1:]}
    is_table = (
        len(widths) == 1
        and len(rows[0]) > 1
        and widths <= {len(rows[0]), len(rows[0]) + 1}
        and all(any(is_number(cell) for cell in row) for row in rows[1:])
    )
    return " " if is_table else best


def _complete_header(rows: list[list[str]], source: str) -> tuple[list[str], list[Notice]]:
    """Return the names of the columns, and a notice if there was none for the first column.

    R's ``write.table`` writes the names of rows, but no name above them.
    """
    header = rows[0] if rows else []
    check_column_count(len(header), source)
    if len(rows) < 2 or not header or any(len(row) != len(header) + 1 for row in rows[1:]):
        return header, []
    text = (
        "Every row has one more cell than there are column names, so the first cell was taken as "
        "the name of the row."
    )
    return ["", *header], [Notice("file", text)]


def _check_widths(lines: list[int], rows: list[list[str]], source: str) -> None:
    """Refuse rows with more or fewer cells than there are column names."""
    width = len(rows[0])
    wrong = [position for position, row in enumerate(rows) if len(row) != width]
    if not wrong:
        return
    first = wrong[0]
    last = range(first, len(rows))
    is_footer = (
        first > 1 and len(last) <= MOST_FOOTERS and all(len(rows[at]) < width for at in last)
    )
    if not is_footer:
        remedy = "Put cells that contain the separator in quotation marks."
    elif len(last) == 1:
        remedy = f"Remove the last line, {shorten(' '.join(rows[first]))}, or add the other cells."
    else:
        remedy = (
            f"Remove the last {len(last)} lines, from {shorten(' '.join(rows[first]))} on, or add "
            "the other cells."
        )
    raise ValueError(
        f"{source} must have the same number of cells in every line, but line {lines[0]} has "
        f"{count(width, 'cell')} and line {lines[first]} has {len(rows[first])}. {remedy}"
    )


def _records(
    text: str, delimiter: str, source: str, quote: str = '"'
) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with its line number, except records without any text."""
    if delimiter == " ":
        text = SPACES_AT_ENDS.sub("", text)
    limit = csv.field_size_limit(LONGEST_CELL)
    # With this option, spaces before a cell are lost; without it, they end a quoted cell.
    skips = delimiter == " " or re.search(rf"{re.escape(delimiter)} +{quote}", text) is not None
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=delimiter,
            quotechar=quote,
            skipinitialspace=skips,
            strict=True,
        )
        for record in reader:
            if any(cell.strip() for cell in record):
                yield reader.line_num, record
    except csv.Error as error:
        raise ValueError(
            f"{source} must be valid CSV, but line {reader.line_num} cannot be read: {error}. "
            "Look for an unclosed quotation mark."
        ) from None
    finally:
        csv.field_size_limit(limit)


def _clean(cell: str) -> str:
    return ESCAPED.sub("", cell.strip())


def _consistency(text: str, delimiter: str) -> tuple[int, int]:
    """Return how many of the first lines have the most common number of cells, and that number."""
    try:
        lines = [record for _, record in islice(_records(text, delimiter, ""), SAMPLE_LINES)]
    except ValueError:
        return NOT_A_TABLE
    widths = Counter(len(line) for line in lines)
    width = max(widths, key=lambda item: (widths[item], item), default=0)
    return (widths[width], width) if width > 1 else NOT_A_TABLE


def _has_decimal_commas(columns: Collection[Sequence[str]], delimiter: str) -> bool:
    """Whether some column has decimal commas; between semicolons, any comma counts as one."""
    for column in columns:
        texts = {cell for cell in column if cell and not is_number_mark(cell)}
        if any("," in text for text in texts):
            found = infer_format(texts, decimal_comma=delimiter == ";")
            if found is not None and found.decimal == ",":
                return True
    return False
