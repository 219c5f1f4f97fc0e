"""A table and what is known of it -> rows that a model takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import as_cells, as_code, as_table, as_text, is_missing, is_number
from calibrant.tabular.columns import Kind, Schema, find_column, to_numbers


class TrainingRows(NamedTuple):
    """Rows with a class.

    Attributes
    ----------
    X : DataFrame
        The features: numbers as floats, categories as text, NaN where missing; the index
        is that of the table.
    y : ndarray of shape (n_rows,)
        The classes, as text.
    groups : ndarray of shape (n_rows,) or None
        The groups, as text.
    """

    X: pd.DataFrame
    y: NDArray[np.str_]
    groups: NDArray[np.str_] | None


def training_rows(table: pd.DataFrame, schema: Schema) -> TrainingRows:
    """Take the rows that have a class.

    Parameters
    ----------
    table : DataFrame
        The table that ``schema`` describes.
    schema : Schema
        What it holds.

    Returns
    -------
    TrainingRows
        Features, classes and groups.
    """
    labelled = table[[not is_missing(cell) for cell in table[schema.target]]]
    groups = None if schema.groups is None else _texts(labelled[schema.groups])
    return TrainingRows(new_rows(labelled, schema), _texts(labelled[schema.target]), groups)


def new_rows(table: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Take the features that a model was fitted on, by name.

    Columns may come in any order, and other columns are left out. Categories that the model
    has not seen are kept: its encoder takes them as unknown.

    Parameters
    ----------
    table : DataFrame
        A table of `read_table`.
    schema : Schema
        What the model was fitted on.

    Returns
    -------
    DataFrame
        The features.

    Raises
    ------
    ValueError
        If columns are missing, or a column of numbers holds something else.
    """
    names = {str(name) for name in table.columns}
    missing = [column.name for column in schema.features if column.name not in names]
    if missing:
        shown = ", ".join(repr(name) for name in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise ValueError(
            f"The table must have the columns that the model was fitted on. It lacks {shown}{more}."
            " Add them; cells may be empty where a value is not known."
        )
    return as_table(
        {
            column.name: _numbers(table[column.name])
            if column.kind is Kind.number
            else _categories(table[column.name], column.categories)
            for column in schema.features
        },
        table.index,
    )


def unseen_categories(rows: pd.DataFrame, schema: Schema) -> dict[str, list[str]]:
    """Find categories in new rows that a model has not seen, by column."""
    found = {}
    for column in schema.features:
        if column.kind is Kind.category:
            unseen = set(rows[column.name].dropna()) - set(column.categories)
            if unseen:
                found[column.name] = sorted(unseen)
    return found


def labels_of(table: pd.DataFrame, target: str) -> NDArray[np.str_]:
    """Classes of a table in which every row must have one."""
    column = table[find_column(table, target, "The target")]
    missing = [is_missing(cell) for cell in column]
    if any(missing):
        place = f"{table.index.name} {table.index[missing.index(True)]}"
        raise ValueError(
            f"The target must have a value in every row. {target!r} has none in {sum(missing)}, "
            f"the first in {place}. Drop these rows."
        )
    return _texts(column)


def _texts(column: pd.Series) -> NDArray[np.str_]:
    return np.array([as_text(cell) for cell in column], dtype=str)


def _numbers(column: pd.Series) -> FloatArray:
    values = to_numbers(column)
    if np.isinf(values).any():
        at = int(np.argmax(np.isinf(values)))
        raise ValueError(
            f"{column.name!r} must hold numbers. Got {column.iloc[at]!r} in {column.index.name} "
            f"{column.index[at]}. Correct it, or leave the cell empty."
        )
    return values


def _categories(column: pd.Series, known: tuple[str, ...]) -> NDArray[Any]:
    to_text = as_code if all(map(is_number, known)) else as_text
    return as_cells(np.nan if is_missing(cell) else to_text(cell) for cell in column)
