"""Column names: where they are, and checks that all formats of files share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from calibrant._core.phrases import count
from calibrant.tabular.cells import is_number
from calibrant.tabular.phrases import shorten
from calibrant.tabular.schema import Notice

# More columns than a small data set can support.
MOST_COLUMNS = 5000
# A message quotes this many cells.
MOST_QUOTED = 3
# Titles and remarks take at most this many rows above the names; their number of columns is that
# of most of the first rows.
MOST_TITLES = 10
TITLE_SAMPLE = 40


def check_column_count(n_columns: int, source: str) -> None:
    """Raise an error if a table has too many columns.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    source : str
        Name of the file, for the error message.
    """
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"{source} must have at most {MOST_COLUMNS:,} columns, got {n_columns:,}. "
            "Keep only columns that may help to distinguish the classes."
        )


def check_distinct_names(names: Sequence[str], source: str) -> None:
    """Raise an error if two columns have the same name.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    source : str
        Name of the file, for the error message.
    """
    repeated = [name for name, n_uses in Counter(names).items() if n_uses > 1]
    if repeated:
        raise ValueError(
            f"The columns of {source} must have distinct names, but {shorten(repeated[0])} occurs "
            "more than once. Rename one of them."
        )


def count_title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Count the rows above the column names, such as the title of a report.

    Parameters
    ----------
    rows : sequence of sequence of str
        The first rows of a file, without empty rows; cells without a value are empty.

    Returns
    -------
    int
        Number of rows with few cells before a row of distinct names. 0 unless such a row follows.
    """
    sample = rows[:TITLE_SAMPLE]
    widths = Counter(len(row) for row in sample)
    width = max(widths, key=lambda item: (widths[item], item), default=0)
    for position, row in enumerate(sample[: MOST_TITLES + 1]):
        filled = [cell for cell in row if cell]
        if len(filled) > width / 2:
            is_header = (
                len(filled) > 1
                and len(set(filled)) == len(filled)
                and not any(map(is_number, filled))
            )
            return position if is_header else 0
    return 0


def describe_titles(titles: Sequence[str], n_rows: int, place: str, source: str) -> Notice:
    """Say which rows above the column names were skipped.

    Parameters
    ----------
    titles : sequence of str
        The texts in these rows.
    n_rows : int
        Number of the rows.
    place : str
        Where the column names are, such as "line 3".
    source : str
        Name of the file.
    """
    n_more = len(titles) - MOST_QUOTED
    skipped = "the row above them was" if n_rows == 1 else f"the {n_rows} rows above them were"
    return Notice(
        "file",
        f"The column names of {source} are in {place}; {skipped} skipped: "
        f"{', '.join(shorten(title) for title in titles[:MOST_QUOTED])}"
        f"{f' and {n_more} more' if n_more > 0 else ''}.",
    )


def name_columns(header: Sequence[str]) -> list[str]:
    """Return the names of columns; those without a name are named by their position."""
    return [name or f"column {position}" for position, name in enumerate(header, start=1)]


def check_header(header: Sequence[str], columns: Sequence[Sequence[str]], source: str) -> None:
    """Refuse column names that look like data: numbers, and words that recur in their column.

    Parameters
    ----------
    header : sequence of str
        The names.
    columns : sequence of sequence of str
        The texts of the columns.
    source : str
        Name of the file, for the error message.
    """
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
