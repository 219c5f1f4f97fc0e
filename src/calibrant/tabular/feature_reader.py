"""Features of new rows, which may be read some at a time."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from calibrant.tabular.cell_readings import CellNotices, find_readings
from calibrant.tabular.new_rows import NewRows
from calibrant.tabular.rows import select_features
from calibrant.tabular.schema import Schema


class FeatureReader:
    """Reads the features of rows, and remembers what differs from the training data.

    Parameters
    ----------
    tables : iterable of DataFrame
        All rows, which decide how cells are read: consecutive rows of a table that `read_table`
        returned.
    schema : Schema
        Description of the table that the model was fitted to.
    """

    def __init__(self, tables: Iterable[pd.DataFrame], schema: Schema) -> None:
        self._schema = schema
        self._readings = find_readings(tables, schema)
        self._cells = CellNotices(schema, self._readings)
        self._rows = NewRows(schema)

    def read(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the features of some of the rows.

        Parameters
        ----------
        table : DataFrame
            Some of the rows.

        Returns
        -------
        DataFrame
            Their features, as in `select_features`.
        """
        features = select_features(table, self._schema, self._readings)
        self._cells.add(table)
        self._rows.add(features)
        return features

    def describe(self) -> list[str]:
        """Return sentences on what was read: notations, categories and values that are new."""
        return [notice.text for notice in self._cells.describe()] + self._rows.describe()
