"""Rows that stand for several: rows with a count, and totals below a table."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.columns import to_numbers
from calibrant.tabular.phrases import locate
from calibrant.tabular.schema import Kind, Notice, Schema, Severity

COUNT = re.compile(r"freq(uency|uencies)?|counts?|n|(number|no\.?) of .*", re.IGNORECASE)
TOTAL = re.compile(r"((grand|sub)[\s-]?)?totals?|sum|mean|average|median", re.IGNORECASE)


def find_summary_rows(rows: pd.DataFrame, schema: Schema) -> Iterator[Notice]:
    """Yield warnings about rows that stand for several.

    Parameters
    ----------
    rows : DataFrame
        The rows of a table that have a class.
    schema : Schema
        Description of the table.

    Yields
    ------
    Notice
        A warning about a column of counts, and one about a row of totals at the end.
    """
    yield from _find_counts(rows, schema)
    yield from _find_totals(rows)


def _find_counts(rows: pd.DataFrame, schema: Schema) -> Iterator[Notice]:
    """Find a column of counts beside categories, each combination of which has one row."""
    categories = schema.names(Kind.category)
    for name in schema.names(Kind.number):
        numbers = to_numbers(rows[name])
        is_count = bool(np.all((numbers >= 0) & (numbers == np.round(numbers))))
        is_only_number = len(categories) == len(schema.features) - 1 > 0
        combinations = rows[[*categories, schema.target]]
        if (
            COUNT.fullmatch(name)
            and is_only_number
            and is_count
            and not combinations.duplicated().any()
        ):
            yield Notice(
                "counts",
                f"{name!r} seems to say how many cases each row stands for. It is used as a "
                "measurement, and every row counts once. Repeat each row that many times, and "
                "remove the column.",
                Severity.warning,
            )


def _find_totals(rows: pd.DataFrame) -> Iterator[Notice]:
    """Find a last row whose name, which no other row has, is that of a summary."""
    for name in rows.columns:
        cell = rows[name].iloc[-1]
        if is_missing(cell) or not TOTAL.fullmatch(as_text(cell)):
            continue
        if (rows[name] == cell).sum() == 1:
            yield Notice(
                "totals",
                f"The last row ({locate(rows.index, len(rows) - 1)}) has {as_text(cell)!r} in "
                f"{name!r} and seems to summarize the others. Remove it if it does.",
                Severity.warning,
            )
            return
