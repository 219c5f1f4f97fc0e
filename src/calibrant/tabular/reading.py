"""How a file was read: what its table carries along, besides the cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from calibrant._core.records import Record
from calibrant.tabular.schema import Notice

KEY = "calibrant"


@dataclass(frozen=True)
class Reading(Record):
    """How a file was read.

    Attributes
    ----------
    notices : tuple of Notice
        What the reader had to decide or change.
    decimal_comma : bool
        Whether numbers of the file have a comma before their decimals.
    missing : mapping of str to tuple of str
        Values that the user declared missing, by column.
    options : tuple of str
        The options of the command line with which the file is read again in the same way.
    """

    notices: tuple[Notice, ...] = ()
    decimal_comma: bool = False
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: tuple[str, ...] = ()


def get_reading(table: pd.DataFrame | pd.Series) -> Reading:
    """Return how a table or the table of a column was read."""
    reading: Reading = table.attrs.get(KEY, Reading())
    return reading


def set_reading(table: pd.DataFrame, **changes: Any) -> None:
    """Change fields of the reading of a table, in place."""
    table.attrs[KEY] = replace(get_reading(table), **changes)


def add_notices(table: pd.DataFrame, notices: Iterable[Notice]) -> None:
    """Add notices to the reading of a table, in place."""
    set_reading(table, notices=(*get_reading(table).notices, *notices))
