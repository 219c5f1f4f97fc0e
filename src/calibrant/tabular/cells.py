"""Cells: text or numbers, how they are shown, and tables of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def is_number(cell: str) -> bool:
    """Whether a text is a finite number as programs write it."""
    return math.isfinite(as_number(cell))


def as_number(cell: Any) -> float:
    """Value of a cell: NaN where it is missing, infinity where it is no finite number."""
    if isinstance(cell, str) and not NUMBER.fullmatch(cell):
        return math.inf
    return float(cell)


def as_text(cell: Any) -> str:
    """Text of a cell that is not missing; whole numbers without a decimal point."""
    if isinstance(cell, str):
        return cell
    return str(int(cell)) if float(cell).is_integer() else repr(float(cell))


def as_code(cell: Any) -> str:
    """Text of a cell that is not missing; a number is written in one way: 5 for 5.0."""
    number = as_number(cell)
    return as_text(number if math.isfinite(number) else cell)


def is_missing(cell: Any) -> bool:
    """Whether a cell holds no value."""
    return not isinstance(cell, str) and math.isnan(cell)


def as_cells(values: Iterable[Any]) -> NDArray[Any]:
    """Column of Python objects, left as they are."""
    cells = list(values)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def as_table(columns: Mapping[str, NDArray[Any]], index: pd.Index) -> pd.DataFrame:
    """Columns as they are: pandas would take text for a type of its own."""
    return pd.DataFrame(
        {
            name: pd.Series(column, index=index, dtype=column.dtype)
            for name, column in columns.items()
        },
        index=index,
    )


def plain(text: str) -> str:
    """Text as it is if it can be shown on one line, otherwise with escapes."""
    return text if text.isprintable() else repr(text)
