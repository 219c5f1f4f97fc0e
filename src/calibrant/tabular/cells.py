"""Cells of tables: text or numbers, NaN where a value is missing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def is_missing(cell: Any) -> bool:
    """Whether a cell has no value."""
    return cell is None or (not isinstance(cell, str) and math.isnan(cell))


def is_number(text: str) -> bool:
    """Whether a text is a finite number in the notation of programming languages."""
    return math.isfinite(as_number(text))


def as_number(cell: Any) -> float:
    """Return the value of a cell: NaN if it is missing, infinity if it is not a finite number."""
    if isinstance(cell, str) and not NUMBER.fullmatch(cell):
        return math.inf
    return float(cell)


def as_text(cell: Any) -> str:
    """Return the text of a cell that is not missing; integers have no decimal point."""
    if isinstance(cell, str):
        return cell
    return str(int(cell)) if float(cell).is_integer() else repr(float(cell))


def as_code(cell: Any) -> str:
    """Return the text of a cell that is not missing; equal numbers have equal texts."""
    number = as_number(cell)
    return as_text(number if math.isfinite(number) else cell)


def as_cells(values: Iterable[Any]) -> NDArray[Any]:
    """Return an array of Python objects, none of them converted."""
    cells = list(values)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def as_table(columns: Mapping[str, NDArray[Any]], index: pd.Index) -> pd.DataFrame:
    """Return a table whose columns keep their types; pandas would infer a type for text."""
    return pd.DataFrame(
        {
            name: pd.Series(column, index=index, dtype=column.dtype)
            for name, column in columns.items()
        },
        index=index,
    )
