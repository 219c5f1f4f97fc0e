"""Rows of a table in the form that models take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.typing import FloatArray
from calibrant.tabular.cell_readings import find_marks, find_number_format
from calibrant.tabular.cells import as_cells, as_code, as_table, as_text, is_missing, is_number
from calibrant.tabular.columns import (
    check_complete,
    describe_missing,
    find_column,
    labeled_rows,
    to_labels,
    to_numbers,
    to_texts,
)
from calibrant.tabular.phrases import locate
from calibrant.tabular.schema import Column, Kind, Schema

# Categories that each format spells in its own way: TRUE in Excel, true in JSON, True in pandas.
LOGICAL = {"true", "false"}


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
    rows = labeled_rows(table, schema.target, schema.class_names)
    groups = None if schema.groups is None else to_texts(rows[schema.groups])
    labels = to_labels(rows[schema.target], schema.class_names)
    return TrainingRows(select_features(rows, schema), labels, groups)


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
    names = [str(name) for name in table.columns]
    used = [column.name for column in schema.features]
    missing = [name for name in used if name not in names]
    if missing:
        raise ValueError(
            "The table must have all columns that the model was fitted on. "
            f"{describe_missing(missing, [name for name in names if name not in used])}, with "
            "empty cells where a value is unknown."
        )
    return as_table(
        {
            column.name: _numbers(table[column.name], column)
            if column.kind is Kind.number
            else _categories(table[column.name], column)
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


def _numbers(cells: pd.Series, column: Column) -> FloatArray:
    marks = find_marks(cells, column)
    number_format = find_number_format(cells, column)
    kept = [np.nan if is_missing(cell) or as_text(cell) in marks else cell for cell in cells]
    values = to_numbers(pd.Series(kept, dtype=object), number_format)
    if np.isinf(values).any():
        position = int(np.argmax(np.isinf(values)))
        unit = column.number_format.unit
        raise ValueError(
            f"{column.name!r} must hold numbers{f' in {unit!r}' if unit else ''}, got "
            f"{cells.iloc[position]!r} in {locate(cells.index, position)}. Correct the cell, leave "
            "it empty, or declare the value missing."
        )
    return values


def _categories(cells: pd.Series, column: Column) -> NDArray[Any]:
    to_text = as_code if all(map(is_number, column.categories)) else as_text
    marks = find_marks(cells, column)
    texts = [
        np.nan if is_missing(cell) or as_text(cell) in marks else to_text(cell) for cell in cells
    ]
    spelling = {category.casefold(): category for category in column.categories}
    if set(spelling) == LOGICAL:
        texts = [spelling.get(str(text).casefold(), text) for text in texts]
    return as_cells(texts)
