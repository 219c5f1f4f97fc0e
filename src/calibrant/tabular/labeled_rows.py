"""New rows whose classes are known, for a model that is already fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.phrases import count
from calibrant._core.typing import IndexArray
from calibrant.tabular.columns import find_column, labeled_rows, to_labels, to_texts
from calibrant.tabular.phrases import find_similar, list_names

# With fewer rows, nothing can be said about probabilities.
LEAST_ROWS = 10


class LabeledRows(NamedTuple):
    """Rows of a table whose class is known.

    Attributes
    ----------
    table : DataFrame
        The rows.
    y : ndarray of shape (n_rows,)
        The class of each row, as an index into the classes of the model.
    groups : ndarray of shape (n_rows,) or None
        The group of each row. ``None`` means ungrouped.
    notices : tuple of str
        Sentences on rows that were left out and on missing columns.
    """

    table: pd.DataFrame
    y: IndexArray
    groups: NDArray[np.str_] | None
    notices: tuple[str, ...]


def select_labeled_rows(
    table: pd.DataFrame,
    classes: tuple[str, ...],
    target: str,
    groups: str | None = None,
    class_names: Mapping[str, str | None] | None = None,
) -> LabeledRows:
    """Select the rows whose class is known, and check that the model knows their classes.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned.
    classes : tuple of str
        The classes of the model.
    target : str
        The column of the classes. Rows without a value in it are left out, with a notice.
    groups : str, default=None
        The column that tells which rows belong together. ``None`` means ungrouped.
    class_names : mapping of str to str or None, default=None
        As in `Schema`: what the classes of the table are called in the model.

    Returns
    -------
    LabeledRows
        The rows.
    """
    target = _find_target(table, target)
    rows = labeled_rows(table, target, class_names)
    labels = to_labels(rows[target], class_names or {})
    notices = []
    if missing := len(table) - len(rows):
        notices.append(f"Left out {count(missing, 'row')} without a class.")
    unknown = sorted(set(labels.tolist()) - set(classes))
    if unknown:
        n_unknown = int(np.isin(labels, unknown).sum())
        raise ValueError(
            f"{target!r} must hold classes that the model knows, {list_names(classes)}, but "
            f"{count(n_unknown, 'row')} {'has' if n_unknown == 1 else 'have'} "
            f"{list_names(unknown)}. "
            "Correct or remove these rows, or fit a model that knows their classes."
        )
    if len(labels) < LEAST_ROWS:
        raise ValueError(
            f"There must be at least {LEAST_ROWS} rows with a class, got {len(labels)}. Add rows."
        )
    index = {name: number for number, name in enumerate(classes)}
    group = None if groups is None else to_texts(rows[find_column(table, groups, "groups")])
    return LabeledRows(
        rows, np.array([index[label] for label in labels.tolist()]), group, tuple(notices)
    )


def _find_target(table: pd.DataFrame, target: str) -> str:
    """Return the name of the column of the classes, which new rows often lack."""
    names = [str(column) for column in table.columns]
    if target.strip() in names:
        return target.strip()
    similar = find_similar(target, names, most=1)
    hint = f", such as {similar[0]!r}" if similar else ""
    raise ValueError(
        f"The table must have the true classes of its rows in {target!r}, but it has no such "
        f"column. Add it, or give another column as target{hint}."
    )
