"""How new rows differ from those that a model was fitted to, in sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibrant._core.phrases import count
from calibrant._core.typing import BoolArray
from calibrant.tabular.cells import as_text
from calibrant.tabular.phrases import list_names, locate
from calibrant.tabular.rows import find_unseen_categories
from calibrant.tabular.schema import Column, Kind, Schema

# A notice gives the values of this many columns, those farthest outside their range.
MOST_COLUMNS = 5
# Longer numbers are rounded.
MOST_CHARACTERS = 9


@dataclass
class _Excess:
    """Values of a column outside the range of the training data.

    The value farthest outside is in the row ``place``, at a ``distance`` relative to the range.
    """

    column: Column
    n_rows: int = 0
    place: str = ""
    value: float = np.nan
    distance: float = 0.0


class NewRows:
    """New rows, as far as they differ from those that a model was fitted to.

    Parameters
    ----------
    schema : Schema
        Description of the table that the model was fitted to.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._n_rows = self._n_outside = 0
        self._unseen: dict[str, set[str]] = {}
        self._excesses = {column.name: _Excess(column) for column in schema.features}

    def add(self, features: pd.DataFrame) -> None:
        """Look at rows.

        Parameters
        ----------
        features : DataFrame
            Features of new rows, from `select_features`.
        """
        for name, categories in find_unseen_categories(features, self._schema).items():
            self._unseen.setdefault(name, set()).update(categories)
        is_outside = np.zeros(len(features), dtype=bool)
        for name, excess in self._excesses.items():
            is_outside |= _find_excess(features[name], excess)
        self._n_rows += len(features)
        self._n_outside += int(is_outside.sum())

    def describe(self) -> list[str]:
        """Name values and categories that the model was not trained on.

        Returns
        -------
        list of str
            Sentences: one for each column with unseen categories, and one on all columns with
            values outside the range of the training data.
        """
        sentences = [
            f"{column.name!r} has categories that the model was not trained on, which are treated "
            f"as rare categories: {list_names(sorted(self._unseen[column.name]))}."
            for column in self._schema.features
            if column.name in self._unseen
        ]
        found = [excess for excess in self._excesses.values() if excess.n_rows]
        excesses = sorted(found, key=lambda excess: -excess.distance)
        if excesses:
            parts = [_describe(excess) for excess in excesses[:MOST_COLUMNS]]
            n_more = len(excesses) - MOST_COLUMNS
            more = f"; and {count(n_more, 'more column')}" if n_more > 0 else ""
            sentences.append(
                f"{self._n_outside:,} of {count(self._n_rows, 'row')} "
                f"{'has' if self._n_outside == 1 else 'have'} values outside the range of the "
                f"training data: {'; '.join(parts)}{more}."
            )
        return sentences


def _find_excess(values: pd.Series, excess: _Excess) -> BoolArray:
    """Return which values are outside the range of a column, and remember the farthest."""
    column = excess.column
    if column.kind is not Kind.number or column.low is None or column.high is None:
        return np.zeros(len(values), dtype=bool)
    numbers = values.to_numpy(dtype=np.float64)
    with np.errstate(invalid="ignore"):
        outside = (numbers < column.low) | (numbers > column.high)
    rows = np.flatnonzero(outside)
    if len(rows):
        beyond = np.maximum(column.low - numbers[rows], numbers[rows] - column.high)
        farthest = int(rows[beyond.argmax()])
        distance = float(beyond.max()) / ((column.high - column.low) or 1.0)
        if not excess.n_rows or distance > excess.distance:
            excess.place = locate(values.index, farthest)
            excess.value, excess.distance = float(numbers[farthest]), distance
        excess.n_rows += len(rows)
    return outside


def _describe(excess: _Excess) -> str:
    column = excess.column
    where = f"{_brief(excess.value)} in {excess.place}"
    found = where if excess.n_rows == 1 else f"{count(excess.n_rows, 'row')}, as far as {where}"
    return f"{column.name!r} (trained on {_brief(column.low)} to {_brief(column.high)}; {found})"


def _brief(number: float | None) -> str:
    """Return a number as it was written, unless it has many digits."""
    text = as_text(number)
    return text if len(text) <= MOST_CHARACTERS else f"{number:.6g}"
