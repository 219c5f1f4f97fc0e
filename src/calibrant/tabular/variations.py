"""What would change a prediction: other values of one feature at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import as_cells, as_table, as_text
from calibrant.tabular.schema import Column, Kind
from calibrant.tabular.table_model import TableModel

# How many values between the smallest and the largest of the training data are tried.
N_VALUES = 15
# How many categories are tried, in alphabetical order.
MOST_CATEGORIES = 30
# Numbers are tried with so many digits.
DIGITS = 3


@dataclass(frozen=True, eq=False)
class Variation(Record):
    """The predictions for a row with other values of one feature.

    Attributes
    ----------
    name : str
        Name of the feature.
    values : tuple of str
        The values that were tried.
    proba : ndarray of shape (n_values, n_classes)
        The predicted probabilities for each of them.
    """

    name: str
    values: tuple[str, ...]
    proba: FloatArray


def make_row(model: TableModel, values: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with one row, as if it had been read from a file.

    Parameters
    ----------
    model : TableModel
        The model.
    values : mapping of str to str
        Values by column, as text. Empty or absent values are missing.
    """
    cells = {name: as_cells([values.get(name) or np.nan]) for name in model.input_columns}
    return as_table(cells, pd.RangeIndex(1, 2, name="row"))


def vary_features(model: TableModel, row: pd.DataFrame) -> list[Variation]:
    """Predict a row again with other values of one feature at a time.

    Parameters
    ----------
    model : TableModel
        The model.
    row : DataFrame
        A table with one row, with the columns of the model.

    Returns
    -------
    list of Variation
        One per feature with other values, the one that changes the probabilities most first. The
        size of a change is the largest distance between two rows of probabilities.
    """
    tried = {column.name: _list_values(column) for column in model.schema.features}
    tried = {name: values for name, values in tried.items() if values}
    if not tried:
        return []
    repeated = row.iloc[np.zeros(sum(map(len, tried.values())), dtype=int)].reset_index(drop=True)
    ends = np.cumsum([len(values) for values in tried.values()]).tolist()
    starts = [0, *ends[:-1]]
    for (name, values), start, end in zip(tried.items(), starts, ends, strict=True):
        cells = as_cells(repeated[name])
        cells[start:end] = values
        repeated[name] = pd.Series(cells, index=repeated.index, dtype=object)
    proba = model.predict_proba(repeated)
    found = [
        Variation(name, tuple(map(as_text, values)), proba[start:end])
        for (name, values), start, end in zip(tried.items(), starts, ends, strict=True)
    ]
    return sorted(found, key=lambda each: -float(np.ptp(each.proba, axis=0).max()))


def _list_values(column: Column) -> list[Any]:
    """Return the values of a feature to try, as cells."""
    if column.kind is Kind.category:
        return list(column.categories[:MOST_CATEGORIES])
    if column.low is None or column.high is None or column.low == column.high:
        return []
    numbers = np.linspace(column.low, column.high, N_VALUES)
    spacing = numbers[1] - numbers[0]
    is_whole = float(column.low).is_integer() and float(column.high).is_integer() and spacing >= 1
    digits = 0 if is_whole else max(DIGITS - 1 - int(np.floor(np.log10(spacing))), 0)
    return list(dict.fromkeys(round(float(number), digits) for number in numbers))
