"""How the cells of features are read: numbers by their notation, markers as missing values.

The same functions serve the training data and new data, so that both are read alike. How a column
is read is decided from all of its cells, which may be in several tables.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.columns import describe_missing
from calibrant.tabular.missing import (
    clear_declared,
    describe_marks,
    find_text_marks,
    is_number_mark,
    is_text_sign,
)
from calibrant.tabular.number_formats import (
    SCALES,
    NumberFormat,
    describe_readings,
    find_example,
    infer_format,
    normalize_unit,
    parse_number,
)
from calibrant.tabular.reading import get_reading
from calibrant.tabular.schema import Column, Kind, Notice, Schema
from calibrant.tabular.text_samples import TextSample


class ColumnReading(NamedTuple):
    """How the cells of a feature are read.

    Attributes
    ----------
    marks : set of str
        The texts that stand for missing values.
    number_format : NumberFormat
        The notation of numbers.
    """

    marks: set[str]
    number_format: NumberFormat


def find_readings(tables: Iterable[pd.DataFrame], schema: Schema) -> dict[str, ColumnReading]:
    """Find out how the features of a table are read.

    Parameters
    ----------
    tables : iterable of DataFrame
        Consecutive rows of a table, which `read_table` returned.
    schema : Schema
        Description of the table that the model was fitted to.

    Returns
    -------
    dict of str to ColumnReading
        How each feature is read. Categories of the training data are not markers. The notation is
        that of the training data, unless the numbers are written otherwise: one in which all cells
        are numbers, if there is one with the unit of the training data or without a unit.

    Raises
    ------
    ValueError
        If features are missing.
    """
    texts = {column.name: _ColumnTexts(column) for column in schema.features}
    for table in tables:
        _check_columns(table, schema)
        for name, found in texts.items():
            found.add(table[name])
    return {name: found.decide() for name, found in texts.items()}


class _ColumnTexts:
    """The texts of a feature, as far as its reading depends on them."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._declared: set[str] = set()
        self._signs: set[str] = set()
        self._numbers = TextSample()
        self._decimal_comma = False

    def add(self, cells: pd.Series) -> None:
        self._decimal_comma = get_reading(cells).decimal_comma
        n_cells = Counter(cell for cell in cells.tolist() if not is_missing(cell))
        for cell, kept in zip(n_cells, clear_declared(n_cells, self._column.missing), strict=True):
            if is_missing(kept):
                self._declared.add(as_text(cell))
        texts = {
            cell: n_same
            for cell, n_same in n_cells.items()
            if isinstance(cell, str) and cell not in self._declared
        }
        is_number = self._column.kind is Kind.number
        signs = {text for text in texts if (is_number_mark if is_number else is_text_sign)(text)}
        self._signs |= signs
        if is_number:
            self._numbers.add({text: texts[text] for text in texts if text not in signs})

    def decide(self) -> ColumnReading:
        if self._column.kind is Kind.number:
            return ColumnReading(self._declared | self._signs, self._find_format())
        marks = find_text_marks(self._signs) - set(self._column.categories)
        return ColumnReading(self._declared | marks, self._column.number_format)

    def _find_format(self) -> NumberFormat:
        known, texts = self._column.number_format, self._numbers.counts()
        as_trained = all(math.isfinite(parse_number(text, known)) for text in texts)
        if as_trained and not (self._decimal_comma and known.decimal == "."):
            return known
        found = infer_format(texts, decimal_comma=self._decimal_comma)
        units = {normalize_unit(item.unit) for item in (known, found or known) if item.unit}
        return known if found is None or len(units) > 1 else found


class CellNotices:
    """Notices on how cells of features are read if they are not plain numbers or text.

    Parameters
    ----------
    schema : Schema
        Description of the training data.
    readings : mapping of str to ColumnReading
        How each feature is read.
    """

    def __init__(self, schema: Schema, readings: Mapping[str, ColumnReading]) -> None:
        self._schema = schema
        self._readings = readings
        self._marks: dict[str, Counter[str]] = {name: Counter() for name in readings}
        self._examples: dict[str, str] = {}
        self._with_unit: set[str] = set()

    def add(self, table: pd.DataFrame) -> None:
        """Look at rows of the table.

        Parameters
        ----------
        table : DataFrame
            Rows with the columns of the features.
        """
        for column in self._schema.features:
            name, (marks, number_format) = column.name, self._readings[column.name]
            cells = table[name].tolist()
            for cell in cells if marks else ():
                if not is_missing(cell) and as_text(cell) in marks:
                    self._marks[name][as_text(cell)] += 1
            if column.kind is not Kind.number:
                continue
            known = [self._examples[name]] if name in self._examples else []
            texts = [cell for cell in cells if isinstance(cell, str) and cell not in marks]
            if (example := find_example([*known, *texts], number_format)) is not None:
                self._examples[name] = example
            unit = column.number_format.unit
            if unit in SCALES and any(unit in text for text in texts):
                self._with_unit.add(name)

    def describe(self) -> list[Notice]:
        """Return the notices.

        Returns
        -------
        list of Notice
            Missing-value markers; notations of numbers; numbers without the percent sign that they
            have in the training data.
        """
        examples = {
            column.name: (self._examples[column.name], self._readings[column.name].number_format)
            for column in self._schema.features
            if column.name in self._examples
        }
        units = {
            column.name: column.number_format.unit
            for column in self._schema.features
            if column.kind is Kind.number and column.number_format.unit in SCALES
        }
        return [
            *describe_marks(self._marks),
            *(Notice("numbers", text) for text in describe_readings(examples)),
            *(
                Notice(
                    "numbers",
                    f"{name!r} is in {unit} in the training data, but has no {unit} here. Its "
                    f"numbers are read as they are: 36.4 stands for 36.4{unit}.",
                )
                for name, unit in units.items()
                if name not in self._with_unit
            ),
        ]


def describe_cells(table: pd.DataFrame, schema: Schema) -> list[Notice]:
    """Say how the features of a table are read, as `CellNotices` does.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned, with the columns of the features.
    schema : Schema
        Description of the training data.
    """
    notices = CellNotices(schema, find_readings([table], schema))
    notices.add(table)
    return notices.describe()


def _check_columns(table: pd.DataFrame, schema: Schema) -> None:
    names = [str(name) for name in table.columns]
    used = [column.name for column in schema.features]
    if missing := [name for name in used if name not in names]:
        raise ValueError(
            "The table must have all columns that the model was fitted on. "
            f"{describe_missing(missing, [name for name in names if name not in used])}, with "
            "empty cells where a value is unknown."
        )
