"""Subgroups of rows, by the values of one column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.labels import read_labels
from calibrant._core.records import Record
from calibrant._core.typing import IndexArray


@dataclass(frozen=True, eq=False)
class RowSubgroups(Record):
    """The subgroup of each row.

    Attributes
    ----------
    column : str
        Name of the column.
    names : tuple of str
        Names of the subgroups, in the order in which to show them.
    index : ndarray of shape (n_rows,)
        The subgroup of each row, as an index into the names.
    """

    column: str
    names: tuple[str, ...]
    index: IndexArray

    @classmethod
    def from_values(cls, column: str, values: ArrayLike, n_rows: int) -> RowSubgroups:
        """Divide rows by the values of a column, of which none may be missing."""
        labels = read_labels(values, column)
        if len(labels) != n_rows:
            raise ValueError(
                f"{column} must have one value for each of the {n_rows} rows, got {len(labels)}. "
                "Pass the values of these rows, in their order."
            )
        names, index = np.unique(labels, return_inverse=True)
        return cls(column, tuple(str(name) for name in names.tolist()), index)
