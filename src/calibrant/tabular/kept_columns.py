"""Columns of a table that are copied to the output."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from calibrant.tabular.cells import is_missing
from calibrant.tabular.reading import get_reading

# A number that spreadsheets show with the same digits, except for zeros at the end of decimals.
# One with leading zeros or an exponent may be an identifier.
WHOLE = r"-?(?:0|[1-9]\d*)"
POINT, COMMA = re.compile(rf"{WHOLE}(?:\.\d+)?"), re.compile(rf"{WHOLE}(?:,\d+)?")
# Spreadsheets keep no more digits of a number.
MOST_DIGITS = 15


def keep_columns(
    table: pd.DataFrame, names: Iterable[str], *, numbers: bool = False
) -> dict[str, list[Any]]:
    """Return the cells of columns, as they are in the table or with numbers as numbers.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned.
    names : iterable of str
        The columns.
    numbers : bool, default=False
        Whether columns of text that hold nothing but numbers are returned as numbers. Those with
        leading zeros, exponents, units or more than 15 digits remain text.

    Returns
    -------
    dict of str to list
        Cells by column.
    """
    pattern = COMMA if get_reading(table).decimal_comma else POINT
    kept = {name: table[name].tolist() for name in names}
    if not numbers:
        return kept
    return {name: _to_numbers(cells, pattern) for name, cells in kept.items()}


def _to_numbers(cells: list[Any], pattern: re.Pattern[str]) -> list[Any]:
    """Return numbers if all texts are written as such; otherwise, the cells."""
    for cell in cells:
        if isinstance(cell, str) and not (
            pattern.fullmatch(cell) and sum(map(str.isdigit, cell)) <= MOST_DIGITS
        ):
            return cells
    return [cell if is_missing(cell) else float(str(cell).replace(",", ".")) for cell in cells]
