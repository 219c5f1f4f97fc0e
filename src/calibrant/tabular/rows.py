"""Rows of a table in the form that models take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import as_cells, as_code, as_table, as_text, is_missing, is_number
from calibrant.tabular.columns import (
    check_complete,
    find_column,
    labeled_rows,
    to_numbers,
    to_texts,
)
from calibrant.tabular.phrases import list_names, locate
from calibrant.tabular.schema import Kind, Schema


class TrainingRows(NamedTuple):
    """Rows with a class.

    Attributes
    ----------
    X : DataFrame
        Features: numbers as floats, categories as text, NaN where a value is missing. The
        index is that of the table.
    y : ndarray of shape (n_rows,)
        Classes, as text.
    groups : ndarray of shape (n_rows,) or None
        Groups, as text. ``None`` means ungrouped.
    """

    X: pd.DataFrame
    y: NDArray[np.str_]
    groups: NDArray[np.str_] | None


def select_training_rows(table: pd.DataFrame, schema: Schema) -> TrainingRows:
    """Select the rows that have a class.

    Parameters
    ----------
    table : DataFrame
        The table that ``schema`` describes.
    schema : Schema
        Description of the table.

    Returns
    -------
    TrainingRows
        Features, classes and groups.
    """
    rows = labeled_rows(table, schema.target)
    groups = None if schema.groups is None else to_texts(rows[schema.groups])
    return TrainingRows(select_features(rows, schema), to_texts(rows[schema.target]), groups)


def select_features(table: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Select the features of a model, by name.

    Columns may be in any order, and other columns are left out. Categories that the model was
    not trained on are kept: its encoder treats them as rare categories.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned.
    schema : Schema
        Description of the table that the model was fitted to.

    Returns
    -------
    DataFrame
        The features.

    Raises
    ------
    ValueError
        If columns are missing, or if a column of numbers holds anything else.
    """
    names = {str(name) for name in table.columns}
    missing = [column.name for column in schema.features if column.name not in names]
    if missing:
        raise ValueError(
            "The table must have all columns that the model was fitted on. It lacks "
            f"{list_names(missing)}. Add {'it' if len(missing) == 1 else 'them'}; cells may be "
            "empty where a value is unknown."
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


def find_unseen_categories(features: pd.DataFrame, schema: Schema) -> dict[str, list[str]]:
    """Find categories that a model was not trained on.

    Parameters
    ----------
    features : DataFrame
        Features of new rows, from `select_features`.
    schema : Schema
        Description of the table that the model was fitted to.

    Returns
    -------
    dict of str to list of str
        Sorted categories by column; columns without such categories are left out.
    """
    found = {}
    for column in schema.features:
        if column.kind is Kind.category:
            unseen = set(features[column.name].dropna()) - set(column.categories)
            if unseen:
                found[column.name] = sorted(unseen)
    return found


def select_labels(table: pd.DataFrame, target: str) -> NDArray[np.str_]:
    """Return the classes of a table in which every row must have one.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned.
    target : str
        The column of the classes.

    Returns
    -------
    ndarray of shape (n_rows,)
        The classes, as text.
    """
    column = table[find_column(table, target, "target")]
    check_complete(column, "target", "Remove the rows without a class.")
    return to_texts(column)


def _numbers(column: pd.Series) -> FloatArray:
    values = to_numbers(column)
    if np.isinf(values).any():
        position = int(np.argmax(np.isinf(values)))
        raise ValueError(
            f"{column.name!r} must hold numbers, got {column.iloc[position]!r} in "
            f"{locate(column.index, position)}. Correct the cell, or leave it empty."
        )
    return values


def _categories(column: pd.Series, known: tuple[str, ...]) -> NDArray[Any]:
    to_text = as_code if all(map(is_number, known)) else as_text
    return as_cells(np.nan if is_missing(cell) else to_text(cell) for cell in column)
