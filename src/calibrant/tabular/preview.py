"""A first look at a table, before anybody has said what to predict."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibrant._core.records import Record
from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.class_names import RareClasses, resolve_classes
from calibrant.tabular.columns import (
    LIKE_IDENTIFIER,
    describe_column,
    labeled_rows,
    numbers_rows,
    to_labels,
    to_texts,
)
from calibrant.tabular.inspection import check_classes
from calibrant.tabular.schema import Column, Kind

# How many examples of the values of a column are shown.
MOST_EXAMPLES = 4


@dataclass(frozen=True)
class ColumnPreview(Record):
    """What is known of a column before the target is.

    Attributes
    ----------
    column : Column
        How a model would use it.
    n_values : int
        Number of different values.
    examples : tuple of str
        Frequent values.
    class_count : mapping of str to int
        Number of rows of each class if the column were the target, the most frequent first.
        Empty if it cannot be.
    problem : str
        Why it cannot be the target. Empty if it can.
    """

    column: Column
    n_values: int
    examples: tuple[str, ...]
    class_count: dict[str, int]
    problem: str


def preview_column(table: pd.DataFrame, name: str) -> ColumnPreview:
    """Describe a column as a feature and as a target.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned.
    name : str
        Name of the column.

    Returns
    -------
    ColumnPreview
        The description.
    """
    cells = table[name]
    counts = Counter(as_text(cell) for cell in cells if not is_missing(cell))
    column = (
        Column(name, Kind.ignored, int(cells.isna().sum()), reason=LIKE_IDENTIFIER)
        if numbers_rows(cells)
        else describe_column(cells)
    )
    class_count, problem = _count_classes(table, name)
    return ColumnPreview(
        column,
        len(counts),
        tuple(value for value, _ in counts.most_common(MOST_EXAMPLES)),
        dict(Counter(class_count).most_common()),
        problem,
    )


def _count_classes(table: pd.DataFrame, name: str) -> tuple[dict[str, int], str]:
    """Return the number of rows of each class, or why the column does not hold classes."""
    labels = to_texts(labeled_rows(table, name)[name])
    names = resolve_classes(labels.tolist(), name, merge_case=False, rare_classes=RareClasses.keep)
    rows = labeled_rows(table, name, names.changed)
    classes = to_labels(rows[name], names.changed)
    counts = Counter(classes.tolist())
    # Classes with a single row can be merged or dropped: one in ten rows at most.
    single = np.isin(classes, [label for label, n_rows in counts.items() if n_rows == 1])
    checked = classes if single.sum() > len(classes) / 10 else classes[~single]
    try:
        check_classes(checked, name)
    except ValueError as error:
        return {}, str(error)
    return dict(counts), ""
