"""Columns of a table: finding them by name, checking them, and telling what they hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.phrases import count
from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import as_code, as_number, as_text, is_missing, is_number
from calibrant.tabular.missing import find_text_marks, is_number_mark
from calibrant.tabular.number_formats import (
    PLAIN,
    NumberFormat,
    infer_format,
    is_written_number,
    parse_number,
)
from calibrant.tabular.phrases import find_similar, list_names, locate, shorten, suggest
from calibrant.tabular.reading import get_reading
from calibrant.tabular.schema import Column, Kind

# A text column with more distinct values than both of these limits is not categorical.
FEW_CATEGORIES = 10
CATEGORIES_PER_ROW = 0.2
# From this proportion of numbers on, the other cells of a column are taken for mistakes.
MOSTLY = 0.8
# The reason to ignore row numbers.
LIKE_IDENTIFIER = "it has a different whole number in every row, like an identifier"
LIKE_ROW_NUMBERS = (
    "it has a different whole number in every row, in the order of the rows, like row numbers; if "
    "it is a measurement, shuffle the rows"
)
# Numbers in the order of the rows are row numbers if at least one of this many was kept.
MOST_GAPS = 10
# A message names this many values that are not numbers.
MOST_OTHERS = 5
# An error suggests new names for this many columns.
MOST_RENAMES = 5

DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d\d)(\s.*)?")
IDENTIFIER = re.compile(
    r"(?:.*[\s_.-])?(?:id|identifier|uuid|guid|key|code)"
    r"|(?:row|index|case|patient|subject|sample)(?:[\s_.-]?(?:no|nr|number|names?))?"
    r"|unnamed: \d+",
    re.IGNORECASE,
)
# Names of row numbers, which are too short or general to tell other columns. Readers name a column
# without a name by its position, and R does so with dots.
ROW_NUMBER = re.compile(
    r"column 1|\.{3}1|#|n[or°]\.?|num(?:ber)?"
    r"|(?:obs|observation|record|seq|sequence|serial|entry)\.?(?:[\s_.-]?(?:no|nr|num|number)\.?)?",
    re.IGNORECASE,
)
CAMEL_IDENTIFIER = re.compile(r".*[a-z](ID|Id)")


class HasColumns(Protocol):
    """A table, or anything else with named columns."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""


def find_column(table: HasColumns, name: str, parameter: str) -> str:
    """Return the name of a column, without surrounding spaces.

    Parameters
    ----------
    table : DataFrame or TableRows
        The table.
    name : str
        The name that the user gave.
    parameter : str
        The parameter for which it was given, for the error message.

    Returns
    -------
    str
        The name as the table has it.

    Raises
    ------
    ValueError
        If the table has no such column; the message suggests similar names.
    """
    names = [str(column) for column in table.columns]
    stripped = name.strip()
    if stripped in names:
        return stripped
    raise ValueError(
        f"{parameter} must name a column of the table, got {name!r}. {suggest(stripped, names)}"
    )


def describe_missing(missing: Sequence[str], available: Iterable[str]) -> str:
    """Say which columns a table lacks, and what to do about it.

    Parameters
    ----------
    missing : sequence of str
        Names of the columns that it lacks.
    available : iterable of str
        Names of its columns that have no use yet.

    Returns
    -------
    str
        Two sentences, the second without a period. It suggests renaming columns with similar
        names, if there are any, or adding the missing ones.
    """
    free = list(available)
    renames = []
    for name in missing:
        if similar := find_similar(name, free, most=1):
            free.remove(similar[0])
            renames.append(f"{similar[0]!r} to {name!r}")
    lacks, them = f"It lacks {list_names(missing)}.", "it" if len(missing) == 1 else "them"
    if not renames:
        return f"{lacks} Add {them}"
    shown, are = ", ".join(renames[:MOST_RENAMES]), "it is" if len(renames) == 1 else "they are"
    return f"{lacks} Rename {shown} if {are} the same; otherwise, add {them}"


def find_columns(table: HasColumns, names: Iterable[str], parameter: str) -> list[str]:
    """Return the names of columns, each given alone or in a list separated by commas.

    Parameters
    ----------
    table : DataFrame or TableRows
        The table.
    names : iterable of str
        The names that the user gave. A name that contains commas is a list if the table has no
        such column, but all those of the list.
    parameter : str
        The parameter for which they were given, for the error message.

    Returns
    -------
    list of str
        The names as the table has them.
    """
    known = {str(column) for column in table.columns}
    found = []
    for name in names:
        listed = [part.strip() for part in name.split(",")]
        is_list = name.strip() not in known and len(listed) > 1
        some = is_list and not known.isdisjoint(listed)
        found += [find_column(table, part, parameter) for part in (listed if some else [name])]
    return found


def check_complete(column: pd.Series, parameter: str, remedy: str) -> None:
    """Raise an error if a column has missing values.

    Parameters
    ----------
    column : Series
        A column of a table that `read_table` returned.
    parameter : str
        The parameter that named it, for the error message.
    remedy : str
        A sentence that says what to do about missing values.
    """
    missing = [is_missing(cell) for cell in column]
    if any(missing):
        raise ValueError(
            f"{parameter} must have a value in every row, but {column.name!r} is empty in "
            f"{count(sum(missing), 'row')}, first in {locate(column.index, missing.index(True))}. "
            f"{remedy}"
        )


def to_numbers(column: pd.Series, number_format: NumberFormat | None = None) -> FloatArray:
    """Return the values of a column: NaN if missing, infinity if not a finite number.

    Parameters
    ----------
    column : Series
        A column of a table that `read_table` returned.
    number_format : NumberFormat, default=None
        The notation, in which missing-value markers are NaN. ``None`` means numbers without
        units, and no markers.
    """
    cells = column.tolist()
    if number_format is None:
        texts = [cell for cell in cells if isinstance(cell, str)]
        found = infer_format(texts, decimal_comma=get_reading(column).decimal_comma)
        number_format = PLAIN if found is None or found.unit else found
        return np.array([_to_number(cell, number_format) for cell in cells], dtype=np.float64)
    return np.array(
        [
            np.nan
            if isinstance(cell, str) and is_number_mark(cell)
            else _to_number(cell, number_format)
            for cell in cells
        ],
        dtype=np.float64,
    )


def to_texts(column: pd.Series) -> NDArray[np.str_]:
    """Return the texts of a column without missing values."""
    return np.array([as_text(cell) for cell in column], dtype=str)


def labeled_rows(
    table: pd.DataFrame, target: str, class_names: Mapping[str, str | None] | None = None
) -> pd.DataFrame:
    """Return the rows of a table that have a class.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned.
    target : str
        The column of the classes.
    class_names : mapping of str to str or None, default=None
        As in `Schema`. Rows of classes that are left out are not returned.
    """
    present = [cell for cell in table[target] if not is_missing(cell)]
    left_out = find_text_marks({as_text(cell) for cell in present})
    left_out |= {name for name, named in (class_names or {}).items() if named is None}
    return table[[not is_missing(cell) and as_text(cell) not in left_out for cell in table[target]]]


def to_labels(column: pd.Series, class_names: Mapping[str, str | None]) -> NDArray[np.str_]:
    """Return the classes of the rows that `labeled_rows` returned."""
    names = to_texts(column).tolist()
    return np.array([class_names.get(name, name) for name in names], dtype=str)


def split_numbers(texts: Collection[str]) -> tuple[set[str], set[str]]:
    """Divide the texts of a column into numbers in one notation and others."""
    written = [text for text in texts if is_written_number(text)]
    numbers = set(written if infer_format(written) else filter(is_number, texts))
    return numbers, set(texts) - numbers


def describe_column(
    column: pd.Series, *, is_category: bool = False, is_measured: bool = False
) -> Column:
    """Tell what a column holds.

    Parameters
    ----------
    column : Series
        The cells of the column.
    is_category : bool, default=False
        Whether it is categorical even if it holds numbers.
    is_measured : bool, default=False
        Whether it holds measurements even if they look like identifiers.

    Returns
    -------
    Column
        Its kind, and why it is ignored if it is.
    """
    reading = get_reading(column)
    name = str(column.name)
    declared = tuple(reading.missing.get(name, ()))
    present = [cell for cell in column if not is_missing(cell)]
    number_format = None if is_category else _find_number_format(present, reading.decimal_comma)
    marks = (
        find_text_marks({as_text(cell) for cell in present})
        if number_format is None
        else {cell for cell in present if isinstance(cell, str) and is_number_mark(cell)}
    )
    present = [cell for cell in present if cell not in marks]
    n_missing = len(column) - len(present)

    def ignored(reason: str) -> Column:
        return Column(name, Kind.ignored, n_missing, reason=reason)

    if not present:
        return ignored("it has no values")
    texts = [as_text(cell) for cell in present]
    values = sorted(set(texts))
    if len(values) == 1:
        return ignored(f"its only value is {shorten(values[0])}")
    if is_category:
        if all(map(is_number, values)):
            values = sorted({as_code(cell) for cell in present})
        return Column(name, Kind.category, n_missing, tuple(values), missing=declared)
    unique = len(values) == len(texts)
    many = len(values) > max(FEW_CATEGORIES, len(texts) * CATEGORIES_PER_ROW)
    if number_format is not None:
        numbers = np.array([_to_number(cell, number_format) for cell in present])
        reason = _reason_to_ignore_numbers(
            name, numbers, unique=unique, many=many, is_complete=n_missing == 0
        )
        if reason and not is_measured:
            return ignored(reason)
        return Column(
            name,
            Kind.number,
            n_missing,
            number_format=number_format,
            missing=declared,
            low=float(numbers.min()),
            high=float(numbers.max()),
        )
    others = split_numbers(texts)[1]
    n_other = sum(text in others for text in texts)
    if is_measured:
        raise ValueError(
            f"numbers must name columns of numbers, but {n_other} of the {len(present)} values of "
            f"{name!r} {describe_others(texts, others)}. Correct them, or declare them missing."
        )
    if n_other <= (1 - MOSTLY) * len(texts) and len(values) > FEW_CATEGORIES:
        return ignored(
            f"{n_other} of its {len(present)} values {describe_others(texts, others)}; correct "
            f"{'it' if n_other == 1 else 'them'}, or declare {'it' if n_other == 1 else 'them'} "
            "missing with --missing"
        )
    if all(DATE.fullmatch(text) for text in texts):
        return ignored("it holds dates; convert them to numbers, such as days since a fixed date")
    if unique:
        return ignored("it has different text in every row, like an identifier or a comment")
    if many:
        return ignored(
            f"it has {len(values)} different text values in {count(len(texts), 'row')}, too many "
            "to be categories"
        )
    return Column(name, Kind.category, n_missing, tuple(values), missing=declared)


def describe_others(texts: Collection[str], others: Collection[str]) -> str:
    """Say which values of a column are not numbers, as a predicate.

    Parameters
    ----------
    texts : collection of str
        The texts of the column.
    others : collection of str
        Those that are not numbers.
    """
    n_rows = Counter(text for text in texts if text in others)
    listed = [
        shorten(text) if n_uses == 1 else f"{shorten(text)} ({n_uses})"
        for text, n_uses in n_rows.most_common(MOST_OTHERS)
    ]
    more = f" and {len(n_rows) - MOST_OTHERS} more" if len(n_rows) > MOST_OTHERS else ""
    is_not = "is not a number" if n_rows.total() == 1 else "are not numbers"
    return f"{is_not}: {', '.join(listed)}{more}"


def numbers_rows(column: pd.Series) -> bool:
    """Whether a column holds consecutive whole numbers in order, such as 1, 2, 3."""
    for n_rows in (2, len(column)):  # two cells tell most other columns
        numbers = to_numbers(column.iloc[:n_rows])
        if not np.all(np.isfinite(numbers)) or np.any(np.diff(numbers) != 1):
            return False
    return True


def _find_number_format(cells: Collection[Any], decimal_comma: bool) -> NumberFormat | None:
    """Return the notation of a column if all of its cells are numbers or missing-value markers."""
    texts = [cell for cell in cells if isinstance(cell, str) and not is_number_mark(cell)]
    if not texts and all(isinstance(cell, str) for cell in cells):
        return None
    numbers = [cell for cell in cells if not isinstance(cell, str)]
    if not all(map(np.isfinite, numbers)):
        return None
    return infer_format(texts, decimal_comma=decimal_comma, n_numbers=len(numbers))


def _to_number(cell: Any, number_format: NumberFormat) -> float:
    return parse_number(cell, number_format) if isinstance(cell, str) else as_number(cell)


def _reason_to_ignore_numbers(
    name: str, numbers: FloatArray, *, unique: bool, many: bool, is_complete: bool
) -> str:
    """Say why a column of numbers is an identifier; an empty text if it is not."""
    if np.any(numbers != np.round(numbers)):
        return ""
    named = bool(IDENTIFIER.fullmatch(name) or CAMEL_IDENTIFIER.fullmatch(name))
    span = np.ptp(numbers) + 1
    if unique and (named or ROW_NUMBER.fullmatch(name) or span == len(numbers)):
        return LIKE_IDENTIFIER
    steps = np.diff(numbers)
    if (
        is_complete
        and span <= MOST_GAPS * len(numbers)
        and (np.all(steps > 0) or np.all(steps < 0))
    ):
        return LIKE_ROW_NUMBERS
    if named and many:
        return (
            "it looks like an identifier; if it identifies rows that belong together, use it for "
            "groups"
        )
    return ""
