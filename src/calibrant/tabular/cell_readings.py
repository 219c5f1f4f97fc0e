"""How the cells of features are read: numbers by their notation, markers as missing values.

The same functions serve the training data and new data, so that both are read alike.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import pandas as pd

from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.missing import (
    clear_declared,
    describe_marks,
    find_text_marks,
    is_number_mark,
)
from calibrant.tabular.number_formats import (
    SCALES,
    NumberFormat,
    describe_readings,
    infer_format,
    normalize_unit,
    parse_number,
)
from calibrant.tabular.reading import get_reading
from calibrant.tabular.schema import Column, Kind, Notice, Schema


def find_number_format(cells: pd.Series, column: Column) -> NumberFormat:
    """Find the notation of numbers: as in the training data, unless they are written otherwise.

    Parameters
    ----------
    cells : Series
        A column of a table that `read_table` returned.
    column : Column
        The column of the training data.

    Returns
    -------
    NumberFormat
        A notation in which all cells are numbers, if there is one with the unit of the training
        data or without a unit; otherwise, the notation of the training data.
    """
    known = column.number_format
    texts = set(_find_number_texts(cells, column))
    decimal_comma = get_reading(cells).decimal_comma
    as_trained = all(math.isfinite(parse_number(text, known)) for text in texts)
    if as_trained and not (decimal_comma and known.decimal == "."):
        return known
    found = infer_format(texts, decimal_comma=decimal_comma)
    units = {normalize_unit(item.unit) for item in (known, found or known) if item.unit}
    return known if found is None or len(units) > 1 else found


def find_marks(cells: pd.Series, column: Column) -> set[str]:
    """Return the texts of a column that stand for missing values.

    Parameters
    ----------
    cells : Series
        A column of a table that `read_table` returned.
    column : Column
        The column of the training data. Its categories are not markers.
    """
    cleared = clear_declared(cells, column.missing)
    declared = {
        as_text(cell)
        for cell, kept in zip(cells, cleared, strict=True)
        if is_missing(kept) and not is_missing(cell)
    }
    texts = {cell for cell in cleared if isinstance(cell, str)}
    if column.kind is Kind.number:
        return declared | {text for text in texts if is_number_mark(text)}
    return declared | (find_text_marks(texts) - set(column.categories))


def describe_cells(table: pd.DataFrame, schema: Schema) -> list[Notice]:
    """Say how cells of features are read if they are not plain numbers or text.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned, with the columns of the features.
    schema : Schema
        Description of the training data.

    Returns
    -------
    list of Notice
        Missing-value markers; notations of numbers; numbers without the percent sign that they
        have in the training data.
    """
    places: dict[str, Counter[str]] = defaultdict(Counter)
    written = {}
    notices = []
    for column in schema.features:
        cells = table[column.name]
        marks = find_marks(cells, column)
        for cell in cells if marks else ():
            if not is_missing(cell) and as_text(cell) in marks:
                places[as_text(cell)][column.name] += 1
        if column.kind is Kind.number:
            texts = _find_number_texts(cells, column)
            written[column.name] = (texts, find_number_format(cells, column))
            unit = column.number_format.unit
            if unit in SCALES and len(cells) and not any(unit in text for text in texts):
                notices.append(
                    Notice(
                        "numbers",
                        f"{column.name!r} is in {unit} in the training data, but has no {unit} "
                        f"here. Its numbers are read as they are: 36.4 stands for 36.4{unit}.",
                    )
                )
    readings = [Notice("numbers", text) for text in describe_readings(written)]
    return [*describe_marks(places), *readings, *notices]


def _find_number_texts(cells: pd.Series, column: Column) -> list[str]:
    """Return the texts of a column that should be numbers."""
    return [
        cell
        for cell in clear_declared(cells, column.missing)
        if isinstance(cell, str) and not is_number_mark(cell)
    ]
