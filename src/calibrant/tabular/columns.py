"""Columns of a table: finding them by name, checking them, and telling what they hold."""

from __future__ import annotations

import re
from difflib import get_close_matches

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.phrases import count
from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import as_code, as_number, as_text, is_missing
from calibrant.tabular.phrases import list_names, locate, shorten
from calibrant.tabular.schema import Column, Kind

# A text column with more distinct values than both of these limits is not categorical.
FEW_CATEGORIES = 10
CATEGORIES_PER_ROW = 0.2
# From this proportion of numbers on, the other cells of a column are taken for mistakes.
MOSTLY = 0.8

DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d\d)(\s.*)?")
IDENTIFIER = re.compile(
    r"(?:.*[\s_.-])?(?:id|identifier|uuid|guid|key|code)"
    r"|(?:row|index|case|patient|subject|sample)(?:[\s_.-]?(?:no|nr|number|name))?",
    re.IGNORECASE,
)
CAMEL_IDENTIFIER = re.compile(r".*[a-z](ID|Id)")


def find_column(table: pd.DataFrame, name: str, parameter: str) -> str:
    """Return the name of a column, without surrounding spaces.

    Parameters
    ----------
    table : DataFrame
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
    same = [other for other in names if other.casefold() == stripped.casefold()]
    close = same or get_close_matches(stripped, names, n=3)
    remedy = (
        f"Did you mean {' or '.join(repr(other) for other in close)}?"
        if close
        else f"Choose one of {list_names(names)}."
    )
    raise ValueError(f"{parameter} must name a column of the table, got {name!r}. {remedy}")


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


def to_numbers(column: pd.Series) -> FloatArray:
    """Return the values of a column: NaN if missing, infinity if not a finite number."""
    return np.array([as_number(cell) for cell in column], dtype=np.float64)


def to_texts(column: pd.Series) -> NDArray[np.str_]:
    """Return the texts of a column without missing values."""
    return np.array([as_text(cell) for cell in column], dtype=str)


def labeled_rows(table: pd.DataFrame, target: str) -> pd.DataFrame:
    """Return the rows of a table that have a value in the target's column."""
    return table[[not is_missing(cell) for cell in table[target]]]


def describe_column(column: pd.Series, *, is_category: bool = False) -> Column:
    """Tell what a column holds.

    Parameters
    ----------
    column : Series
        The cells of the column.
    is_category : bool, default=False
        Whether it is categorical even if it holds numbers.

    Returns
    -------
    Column
        Its kind, and why it is ignored if it is.
    """
    name = str(column.name)
    present = [cell for cell in column if not is_missing(cell)]
    n_missing = len(column) - len(present)

    def ignored(reason: str) -> Column:
        return Column(name, Kind.ignored, n_missing, reason=reason)

    if not present:
        return ignored("it has no values")
    texts = [as_text(cell) for cell in present]
    values = sorted(set(texts))
    if len(values) == 1:
        return ignored(f"its only value is {shorten(values[0])}")
    numbers = np.array([as_number(cell) for cell in present])
    finite = np.isfinite(numbers)
    if is_category:
        if finite.all():
            values = sorted({as_code(cell) for cell in present})
        return Column(name, Kind.category, n_missing, tuple(values))
    unique = len(values) == len(texts)
    many = len(values) > max(FEW_CATEGORIES, len(texts) * CATEGORIES_PER_ROW)
    if finite.all():
        reason = _reason_to_ignore_numbers(name, numbers, unique=unique, many=many)
        return ignored(reason) if reason else Column(name, Kind.number, n_missing)
    if finite.mean() >= MOSTLY:
        n_other = int(np.sum(~finite))
        example = shorten(as_text(present[int(np.argmin(finite))]))
        fault = (
            f"is not a number: {example}; correct it, or leave the cell empty"
            if n_other == 1
            else f"are not numbers, such as {example}; correct them, or leave the cells empty"
        )
        return ignored(f"{n_other} of its {len(present)} values {fault}")
    if all(DATE.fullmatch(text) for text in texts):
        return ignored("it holds dates; convert them to numbers, such as days since a fixed date")
    if unique:
        return ignored("it has different text in every row, like an identifier or a comment")
    if many:
        return ignored(
            f"it has {len(values)} different text values in {count(len(texts), 'row')}, too many "
            "to be categories"
        )
    return Column(name, Kind.category, n_missing, tuple(values))


def _reason_to_ignore_numbers(name: str, numbers: FloatArray, *, unique: bool, many: bool) -> str:
    """Say why a column of numbers is an identifier; an empty text if it is not."""
    if np.any(numbers != np.round(numbers)):
        return ""
    named = bool(IDENTIFIER.fullmatch(name) or CAMEL_IDENTIFIER.fullmatch(name))
    if unique and (named or np.ptp(numbers) == len(numbers) - 1):
        return "it has a different whole number in every row, like an identifier"
    if named and many:
        return (
            "it looks like an identifier; if it identifies rows that belong together, use it for "
            "groups"
        )
    return ""
