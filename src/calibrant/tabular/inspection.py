"""Inspection of a table: what its columns hold, and whether its target can be predicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.phrases import count
from calibrant.tabular.cells import as_number
from calibrant.tabular.class_names import RARE_CLASS_ROWS, RareClasses, resolve_classes
from calibrant.tabular.columns import (
    LIKE_IDENTIFIER,
    check_complete,
    describe_column,
    find_column,
    find_columns,
    labeled_rows,
    numbers_rows,
    to_labels,
    to_texts,
)
from calibrant.tabular.notices import find_notices
from calibrant.tabular.phrases import list_names, shorten
from calibrant.tabular.schema import Column, Kind, Schema

# With fewer rows, nothing can be learned once some of them are held out.
LEAST_ROWS = 10
# A numeric target with more distinct values is a measurement: integers, and other numbers.
MOST_INTEGER_CLASSES = 50
MOST_DECIMAL_CLASSES = 10
# The reason to ignore a column that the user asked to ignore.
REQUESTED = "as requested"
# An error shows the reasons of this many ignored columns.
MOST_REASONS = 3


def describe_table(
    table: pd.DataFrame,
    target: str,
    *,
    groups: str | None = None,
    ignore: Collection[str] = (),
    categories: Collection[str] = (),
    numbers: Collection[str] = (),
    merge_case: bool = False,
    rare_classes: str = RareClasses.keep,
) -> Schema:
    """Describe the columns of a table and check that its target can be predicted.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned.
    target : str
        The column to predict. Rows without a value in it are left out, with a notice.
    groups : str, default=None
        The column that tells which rows belong together, such as those of one patient. It is
        not used for prediction. ``None`` means ungrouped.
    ignore : collection of str
        Columns not to use.
    categories : collection of str
        Columns of numbers that are codes of categories, such as 1, 2, 3 for kinds of pain.
    numbers : collection of str
        Columns of measurements, even if they look like identifiers.
    merge_case : bool, default=False
        Whether classes whose names differ only in case or spaces are the same.
    rare_classes : {"keep", "merge", "drop"}, default="keep"
        What to do about classes with fewer than ten rows: keep them, merge them into a class named
        "other", or leave out their rows.

    Returns
    -------
    Schema
        Description of the table.

    Raises
    ------
    ValueError
        If a column does not exist, or if the target does not hold classes.
    """
    if table.shape[1] < 2:
        raise ValueError(
            "A table must have at least two columns, one to predict and one to predict it from. "
            f"Its only column is {shorten(str(table.columns[0]))}. Separate cells by commas, "
            "semicolons or tabs."
        )
    target = find_column(table, target, "target")
    groups = None if groups is None else find_column(table, groups, "groups")
    ignored = set(find_columns(table, ignore, "ignore"))
    coded = set(find_columns(table, categories, "categories"))
    measured = set(find_columns(table, numbers, "numbers"))
    if target == groups or target in ignored:
        raise ValueError(
            "target must be neither the groups column nor an ignored column, "
            f"got {target!r}. Choose another column."
        )
    if clash := sorted(coded & {target, groups, *ignored}):
        raise ValueError(
            "categories must not name the target, the groups or an ignored column, "
            f"got {list_names(clash)}. Leave {'it' if len(clash) == 1 else 'them'} out."
        )
    if clash := sorted(measured & {target, groups, *ignored, *coded}):
        raise ValueError(
            "numbers must not name the target, the groups, an ignored column or categories, "
            f"got {list_names(clash)}. Leave {'it' if len(clash) == 1 else 'them'} out."
        )
    labels = to_texts(labeled_rows(table, target)[target]).tolist()
    names = resolve_classes(
        labels, target, merge_case=merge_case, rare_classes=RareClasses(rare_classes)
    )
    rows = labeled_rows(table, target, names.changed)
    class_count = check_classes(to_labels(rows[target], names.changed), target)
    if groups is not None:
        _check_groups(rows[groups])
    columns = tuple(
        Column(str(name), Kind.ignored, reason=REQUESTED)
        if name in ignored
        else Column(str(name), Kind.ignored, reason=LIKE_IDENTIFIER)
        if name not in coded | measured and numbers_rows(table[name])
        else describe_column(rows[name], is_category=name in coded, is_measured=name in measured)
        for name in table.columns
        if name not in (target, groups)
    )
    _check_features(columns, target)
    schema = Schema(
        target=target,
        classes=tuple(sorted(class_count)),
        class_count=tuple(class_count[name] for name in sorted(class_count)),
        columns=columns,
        groups=groups,
        notices=names.notices,
        class_names=names.changed,
    )
    reported = {
        column.name: column.reason
        for column in columns
        if column.kind is Kind.ignored and column.name not in ignored
    }
    return replace(schema, notices=find_notices(table, schema, reported))


def check_several_classes(labels: NDArray[np.str_], target: str) -> None:
    """Raise an error if all rows have the same class.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        The classes of the rows, of which there is at least one.
    target : str
        Name of their column.
    """
    if len(set(labels.tolist())) < 2:
        raise ValueError(
            f"target must have at least two classes, but {target!r} is {str(labels[0])!r} in "
            "every row. Choose another column, or add rows of another class."
        )


def check_classes(labels: NDArray[np.str_], target: str) -> dict[str, int]:
    """Return the number of rows of each class after checking that the target holds classes.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        The classes of the rows.
    target : str
        Name of their column.
    """
    class_count = dict(Counter(labels.tolist()))
    if not class_count:
        raise ValueError(
            f"target must have values, but {target!r} is empty in every row. Choose another column."
        )
    numbers = np.array([as_number(name) for name in class_count])
    has_decimals = bool(np.any(numbers != np.round(numbers)))
    most = MOST_DECIMAL_CLASSES if has_decimals else MOST_INTEGER_CLASSES
    if np.isfinite(numbers).all() and len(class_count) > most:
        raise ValueError(
            f"target must hold classes, but {target!r} has {len(class_count)} different numbers, "
            "like a measurement. Choose another column, or divide its range into named classes."
        )
    check_several_classes(labels, target)
    single = sorted(name for name, n_rows in class_count.items() if n_rows == 1)
    if len(single) > len(labels) / 2:
        raise ValueError(
            f"target must hold classes, but {target!r} has {len(class_count)} different values in "
            f"{count(len(labels), 'row')}. Choose another column."
        )
    if single:
        n_rare = sum(n_rows < RARE_CLASS_ROWS for n_rows in class_count.values())
        merge = "merge or --rare-classes " if n_rare > 1 else ""
        raise ValueError(
            "Every class must have at least two rows, one to learn from and one to test on. "
            f"{'This class' if len(single) == 1 else 'These classes'} of {target!r} "
            f"{'has' if len(single) == 1 else 'have'} only one: {list_names(single)}. "
            f"Add rows, or use --rare-classes {merge}drop."
        )
    if len(labels) < LEAST_ROWS:
        raise ValueError(
            f"A table must have at least {LEAST_ROWS} rows with a class, got {len(labels)}. "
            "Add rows."
        )
    return class_count


def _check_groups(column: pd.Series) -> None:
    check_complete(column, "groups", "Give each row that belongs to no group a unique value.")
    if column.nunique() < 2:
        raise ValueError(
            f"groups must have at least two different values, but {column.name!r} has one. "
            "Leave groups out, or choose another column."
        )


def _check_features(columns: tuple[Column, ...], target: str) -> None:
    if any(column.kind is not Kind.ignored for column in columns):
        return
    reasons = "; ".join(f"{item.name!r}: {item.reason}" for item in columns[:MOST_REASONS])
    more = len(columns) - MOST_REASONS
    raise ValueError(
        f"A table must have a column to predict {target!r} from, but all columns are ignored "
        f"({reasons}{f'; and {more} more' if more > 0 else ''}). "
        "Add columns of numbers or categories."
    )
