"""Text with cells separated by commas, semicolons, tabs or spaces -> records of cells.

The parser is Python's `csv`. The delimiter and the quotation mark are decided here, because
`csv.Sniffer` and pandas guess them silently.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple, TextIO

from calibrant.tabular.cells import is_number

DELIMITERS = (",", ";", "\t")
# Number of records by which the delimiter is chosen.
SAMPLE_RECORDS = 20
LONGEST_CELL = 1_000_000
NOT_A_TABLE = (-1, 0)
SPACES_AT_ENDS = re.compile(r"^[ \t]+|[ \t]+$", re.MULTILINE)
# A name in apostrophes; if all names are, so is other text.
QUOTED_NAME = re.compile(r"'[^']*'")

# Opens a text from its beginning, as lines whose ends are kept.
Lines = Callable[[], TextIO]


class Dialect(NamedTuple):
    """How cells are separated.

    Attributes
    ----------
    delimiter : str
        The character between cells.
    quote : str
        The character around cells that contain a delimiter.
    skips_spaces : bool
        Whether spaces before a cell are left out. Without it, they end a quoted cell.
    """

    delimiter: str
    quote: str
    skips_spaces: bool


def find_dialect(lines: Lines, source: str, delimiter: str | None) -> Dialect:
    """Find out how cells are separated.

    Parameters
    ----------
    lines : callable
        Opens the text.
    source : str
        Name of the file, for error messages.
    delimiter : str or None
        The delimiter. ``None`` means the one of comma, semicolon and tab that gives the most
        consistent table, or spaces if none of these does.

    Returns
    -------
    Dialect
        The delimiter, and how cells that contain it are quoted.
    """
    dialect = _make_dialect(lines, delimiter or _find_delimiter(lines, source))
    first = next(read_records(lines, dialect, source), None)
    if first is not None and all(QUOTED_NAME.fullmatch(cell.strip()) for cell in first[1]):
        return _make_dialect(lines, dialect.delimiter, quote="'")
    return dialect


def read_records(lines: Lines, dialect: Dialect, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with its line number, except records without any text.

    Parameters
    ----------
    lines : callable
        Opens the text.
    dialect : Dialect
        How cells are separated.
    source : str
        Name of the file, for error messages.

    Raises
    ------
    ValueError
        If the text is not valid CSV.
    """
    limit = csv.field_size_limit(LONGEST_CELL)
    with lines() as text:
        is_spaced = dialect.delimiter == " "
        reader = csv.reader(
            (SPACES_AT_ENDS.sub("", line) for line in text) if is_spaced else text,
            delimiter=dialect.delimiter,
            quotechar=dialect.quote,
            skipinitialspace=dialect.skips_spaces,
            strict=True,
        )
        try:
            for record in reader:
                if any(map(str.strip, record)):
                    yield reader.line_num, record
        except csv.Error as error:
            raise ValueError(
                f"{source} must be valid CSV, but line {reader.line_num} cannot be read: {error}. "
                "Look for an unclosed quotation mark."
            ) from None
        finally:
            csv.field_size_limit(limit)


def _make_dialect(lines: Lines, delimiter: str, quote: str = '"') -> Dialect:
    spaced = re.compile(rf"{re.escape(delimiter)} +{quote}")
    with lines() as text:
        skips = delimiter == " " or any(spaced.search(line) for line in text)
    return Dialect(delimiter, quote, skips)


def _find_delimiter(lines: Lines, source: str) -> str:
    """Return the delimiter of the most consistent table; spaces if there is no other."""
    scores = {mark: _consistency(lines, mark) for mark in DELIMITERS}
    best = max(DELIMITERS, key=lambda mark: scores[mark])
    if scores[best] > NOT_A_TABLE:
        return best
    spaces = _make_dialect(lines, " ")
    rows = [record for _, record in islice(read_records(lines, spaces, source), SAMPLE_RECORDS)]
    widths = {len(row) for row in rows[1:]}
    is_table = (
        len(widths) == 1
        and len(rows[0]) > 1
        and widths <= {len(rows[0]), len(rows[0]) + 1}
        and all(any(is_number(cell) for cell in row) for row in rows[1:])
    )
    return " " if is_table else best


def _consistency(lines: Lines, delimiter: str) -> tuple[int, int]:
    """Return how many of the first lines have the most common number of cells, and that number."""
    records = read_records(lines, _make_dialect(lines, delimiter), "")
    try:
        widths = Counter(len(record) for _, record in islice(records, SAMPLE_RECORDS))
    except ValueError:
        return NOT_A_TABLE
    width = max(widths, key=lambda item: (widths[item], item), default=0)
    return (widths[width], width) if width > 1 else NOT_A_TABLE
