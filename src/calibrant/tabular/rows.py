"""Rows of a table in the form that models take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.typing import FloatArray
from calibrant.tabular.cell_readings import ColumnReading, find_readings
from calibrant.tabular.cells import as_cells, as_code, as_table, as_text, is_missing, is_number
from calibrant.tabular.columns import (
    check_complete,
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


def select_features(
    table: pd.DataFrame, schema: Schema, readings: Mapping[str, ColumnReading] | None = None
) -> pd.DataFrame:
    """Select the features of a model, by name.

    Columns may be in any order, and other columns are left out. Categories that the model was
    not trained on are kept: its encoder treats them as rare categories.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned.
    schema : Schema
        Description of the table that the model was fitted to.
    readings : mapping of str to ColumnReading, default=None
        How each feature is read, if the rows are not all those of the table.

    Returns
    -------
    DataFrame
        The features.

    Raises
    ------
    ValueError
        If columns are missing, or if a column of numbers holds anything else.
    """
    if readings is None:
        readings = find_readings([table], schema)
    return as_table(
        {
            column.name: _numbers(table[column.name], column, readings[column.name])
            if column.kind is Kind.number
            else _categories(table[column.name], column, readings[column.name])
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


def _numbers(cells: pd.Series, column: Column, reading: ColumnReading) -> FloatArray:
    kept = _clear_marks(cells, reading.marks)
    values = to_numbers(pd.Series(kept, dtype=object), reading.number_format)
    if np.isinf(values).any():
        position = int(np.argmax(np.isinf(values)))
        unit = column.number_format.unit
        raise ValueError(
            f"{column.name!r} must hold numbers{f' in {unit!r}' if unit else ''}, got "
            f"{cells.iloc[position]!r} in {locate(cells.index, position)}. Correct the cell, leave "
            "it empty, or declare the value missing."
        )
    return values


def _categories(cells: pd.Series, column: Column, reading: ColumnReading) -> NDArray[Any]:
    to_text = as_code if all(map(is_number, column.categories)) else as_text
    texts = [
        cell if is_missing(cell) else to_text(cell) for cell in _clear_marks(cells, reading.marks)
    ]
    spelling = {category.casefold(): category for category in column.categories}
    if set(spelling) == LOGICAL:
        texts = [spelling.get(str(text).casefold(), text) for text in texts]
    return as_cells(texts)


def _clear_marks(cells: pd.Series, marks: set[str]) -> list[Any]:
    """Return the cells of a column with NaN in place of missing values."""
    return [np.nan if is_missing(cell) or as_text(cell) in marks else cell for cell in cells]
