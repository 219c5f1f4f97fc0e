"""Cost tables: what each decision costs for each true class, as a small data file.

The first column names the true classes, and every other column is a decision::

    true class,benign,malignant
    benign,0,1
    malignant,10,0

The table of costs on a report's page is saved in this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from calibrant.decisions import CostTable
from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.columns import to_numbers
from calibrant.tabular.phrases import list_names, locate, printable, suggest
from calibrant.tabular.readers import read_table


def read_costs(source: str | Path, classes: Sequence[str]) -> CostTable:
    """Read a cost table for the classes of a model.

    Parameters
    ----------
    source : str or Path
        A file that `read_table` reads. Its first column names the true classes, in any order, and
        every other column has the costs of one decision.
    classes : sequence of str
        The classes of the model.

    Returns
    -------
    CostTable
        The costs, with one row for each class of the model, in its order.

    Raises
    ------
    ValueError
        If the table does not have one row per class and a number in every other cell.
    """
    table = read_table(source)
    name = printable(str(source))
    first, *decisions = [str(column) for column in table.columns]
    if len(decisions) < 2:
        raise ValueError(
            f"{name} must have a first column with the true classes and at least two more, one per "
            f"decision, got {list_names([first, *decisions])}. Add the missing columns."
        )
    position = _find_rows(table[first], classes, name)
    costs = np.column_stack([to_numbers(table[decision]) for decision in decisions])
    if not np.isfinite(costs).all():
        row, column = np.argwhere(~np.isfinite(costs))[0]
        cell = table[decisions[column]].iloc[row]
        got = "an empty cell" if is_missing(cell) else repr(cell)
        raise ValueError(
            f"{name} must have a number for every class and decision, got {got} for "
            f"{decisions[column]!r} in {locate(table.index, row)}. Correct the cell."
        )
    return CostTable(tuple(classes), tuple(decisions), costs[position])


def _find_rows(column: pd.Series, classes: Sequence[str], source: str) -> list[int]:
    """Return the position of each class in the first column, which must name each of them once."""
    names = ["" if is_missing(cell) else as_text(cell) for cell in column]
    for row, name in enumerate(names):
        if name not in classes or name in names[:row]:
            fault = "again " if name in classes else ""
            remedy = "Remove the row." if fault else suggest(name, classes)
            raise ValueError(
                f"The first column of {source} must name each class of the model once, got "
                f"{name!r} {fault}in {locate(column.index, row)}. {remedy}"
            )
    if missing := [name for name in classes if name not in names]:
        raise ValueError(
            f"{source} must have one row for each class of the model. It lacks "
            f"{list_names(missing)}. Add the costs of each decision for "
            f"{'this class' if len(missing) == 1 else 'these classes'}."
        )
    return [names.index(name) for name in classes]
