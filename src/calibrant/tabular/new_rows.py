"""How new rows differ from those that a model was fitted to, in sentences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from calibrant._core.phrases import count
from calibrant._core.typing import IndexArray
from calibrant.tabular.cells import as_text
from calibrant.tabular.phrases import list_names, locate
from calibrant.tabular.rows import find_unseen_categories
from calibrant.tabular.schema import Column, Kind, Schema

# A notice gives the values of this many columns, those farthest outside their range.
MOST_COLUMNS = 5
# Longer numbers are rounded.
MOST_CHARACTERS = 9


class _Excess(NamedTuple):
    """Values of a column outside the range of the training data.

    The value farthest outside is in the row ``farthest``, at a ``distance`` relative to the range.
    """

    column: Column
    rows: IndexArray
    farthest: int
    value: float
    distance: float


def describe_new_rows(features: pd.DataFrame, schema: Schema) -> list[str]:
    """Name values and categories that a model was not trained on.

    Parameters
    ----------
    features : DataFrame
        Features of new rows, from `select_features`.
    schema : Schema
        Description of the table that the model was fitted to.

    Returns
    -------
    list of str
        Sentences: one for each column with unseen categories, and one on all columns with values
        outside the range of the training data.
    """
    sentences = [
        f"{name!r} has categories that the model was not trained on, which are treated as "
        f"rare categories: {list_names(categories)}."
        for name, categories in find_unseen_categories(features, schema).items()
    ]
    found = [_find_excess(features[column.name], column) for column in schema.features]
    excesses = sorted(filter(None, found), key=lambda excess: -excess.distance)
    if excesses:
        n_rows = len(set().union(*(excess.rows.tolist() for excess in excesses)))
        parts = [_describe(excess, features.index) for excess in excesses[:MOST_COLUMNS]]
        n_more = len(excesses) - MOST_COLUMNS
        more = f"; and {count(n_more, 'more column')}" if n_more > 0 else ""
        sentences.append(
            f"{n_rows:,} of {count(len(features), 'row')} "
            f"{'has' if n_rows == 1 else 'have'} values outside the range of the training data: "
            f"{'; '.join(parts)}{more}."
        )
    return sentences


def _find_excess(values: pd.Series, column: Column) -> _Excess | None:
    """Find the values outside the range of a column; None if its range is unknown."""
    if column.kind is not Kind.number or column.low is None or column.high is None:
        return None
    numbers = values.to_numpy(dtype=np.float64)
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero((numbers < column.low) | (numbers > column.high))
    if not len(rows):
        return None
    distance = np.maximum(column.low - numbers[rows], numbers[rows] - column.high)
    farthest = int(rows[distance.argmax()])
    width = (column.high - column.low) or 1.0
    return _Excess(column, rows, farthest, float(numbers[farthest]), float(distance.max()) / width)


def _describe(excess: _Excess, index: pd.Index) -> str:
    column = excess.column
    where = f"{_brief(excess.value)} in {locate(index, excess.farthest)}"
    n_rows = len(excess.rows)
    found = where if n_rows == 1 else f"{count(n_rows, 'row')}, as far as {where}"
    return f"{column.name!r} (trained on {_brief(column.low)} to {_brief(column.high)}; {found})"


def _brief(number: float | None) -> str:
    """Return a number as it was written, unless it has many digits."""
    text = as_text(number)
    return text if len(text) <= MOST_CHARACTERS else f"{number:.6g}"
