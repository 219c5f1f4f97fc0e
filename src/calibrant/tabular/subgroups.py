"""Subgroups of the rows of a table, by the values of a column."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from calibrant._core.subgroups import RowSubgroups
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.columns import describe_column, find_columns, to_numbers
from calibrant.tabular.schema import Kind

# The name of the subgroup of rows without a value, in brackets unless no value is called so.
MISSING = "missing"
MOST_SUBGROUPS = 20
# A column with more different numbers than this is cut into thirds.
FEW_NUMBERS = 5
N_PARTS = 3
# The index of rows without a value.
NONE = -1


def select_subgroups(
    table: pd.DataFrame, names: Iterable[str], target: str
) -> tuple[RowSubgroups, ...]:
    """Divide the rows of a table into subgroups by each of several columns.

    Parameters
    ----------
    table : DataFrame
        Rows of a table that `read_table` returned.
    names : iterable of str
        Names of columns, each alone or in a list separated by commas. They may be features or not.
    target : str
        The column of the classes, which is refused.

    Returns
    -------
    tuple of RowSubgroups
        The subgroups by each column: one per value, or one per third of the numbers if there are
        more than five. Rows without a value are a subgroup of their own.

    Raises
    ------
    ValueError
        If a column has no subgroups, or too many.
    """
    columns = dict.fromkeys(find_columns(table, names, "by"))
    return tuple(_divide(table[name], target) for name in columns)


def _divide(column: pd.Series, target: str) -> RowSubgroups:
    name = str(column.name)
    if name == target:
        raise ValueError(
            f"by must name a column other than the target, got {name!r}. Name a column such as sex "
            "or site."
        )
    described = describe_column(column)
    if described.kind is Kind.ignored:
        raise ValueError(
            f"by must name a column that divides the rows into subgroups, got {name!r}, but "
            f"{described.reason}. Name another column."
        )
    if described.kind is Kind.number:
        numbers = to_numbers(column, described.number_format)
        names, index = _cut(numbers)
    else:
        names = described.categories
        position = {name: number for number, name in enumerate(names)}
        # What is not a category, such as a dash, stands for a missing value.
        found = [NONE if is_missing(cell) else position.get(as_text(cell), NONE) for cell in column]
        index = np.array(found)
    if len(names) > MOST_SUBGROUPS:
        raise ValueError(
            f"by must name a column with at most {MOST_SUBGROUPS} different values, got {name!r} "
            f"with {len(names)}. Merge some of its values in a new column, and name that one."
        )
    if np.any(index == NONE):
        missing = f"({MISSING})" if MISSING in names else MISSING
        return RowSubgroups(name, (*names, missing), np.where(index == NONE, len(names), index))
    return RowSubgroups(name, names, index)


def _cut(numbers: FloatArray) -> tuple[tuple[str, ...], IndexArray]:
    """Divide numbers by value or, if there are many different ones, into thirds."""
    present = np.isfinite(numbers)
    values = np.unique(numbers[present])
    parts = [values[at : at + 1] for at in range(len(values))]
    if len(values) > FEW_NUMBERS:
        quantiles = np.quantile(numbers[present], np.arange(1, N_PARTS) / N_PARTS)
        cuts = np.searchsorted(values, quantiles, side="right")
        parts = [part for part in np.split(values, cuts) if len(part)]
    names = tuple(
        _spell(part[0]) if len(part) == 1 else f"{_spell(part[0])} to {_spell(part[-1])}"
        for part in parts
    )
    index = np.searchsorted([part[-1] for part in parts], np.where(present, numbers, values[0]))
    return names, np.where(present, index, NONE)


def _spell(number: float) -> str:
    """Return a number with at most six digits."""
    return f"{number:.6g}"
