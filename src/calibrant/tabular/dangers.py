"""Dangers to an honest evaluation: columns that nearly give the class away, related rows."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from calibrant._core.phrases import count
from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import as_number, as_text, is_missing
from calibrant.tabular.columns import to_numbers
from calibrant.tabular.schema import Notice, Schema, Severity

# A column is suspected if it alone predicts the class this well: its mistakes, as a proportion of
# all rows, and of the mistakes made by guessing the most common class.
MOST_MISTAKES = 0.02
MOST_OF_GUESSING = 0.1
# With fewer rows, or categories of fewer rows, such a column is easily found by chance.
LEAST_ROWS = 20
ROWS_PER_CATEGORY = 5

# Names of columns that tell which rows belong to the same person or thing.
OWNER = re.compile(
    r"(?:.*[\s_.-])?(?:id|ident|identifier|uuid|guid|mrn|ssn)"
    r"|(?:.*[\s_.-])?(?:patient|subject|person|participant|individual|animal|mother|child|family"
    r"|household|customer|client|user|respondent|student|specimen|donor)"
    r"(?:[\s_.-]?(?:no|nr|num|number|name|code|id))?",
    re.IGNORECASE,
)
CAMEL_OWNER = re.compile(r".*[a-z](ID|Id)")
# With fewer different values, a column holds categories rather than identifiers.
LEAST_OWNERS = 5


def find_near_leakage(column: pd.Series, classes: NDArray[np.str_], *, is_number: bool) -> str:
    """Say how a column nearly gives the class away.

    Parameters
    ----------
    column : Series
        A feature, as a model takes it.
    classes : ndarray of shape (n_rows,)
        Classes of the rows.
    is_number : bool
        Whether it holds numbers.

    Returns
    -------
    str
        A sentence; empty if the column does not give the class away.
    """
    n_rows = len(classes)
    counts = Counter(classes.tolist())
    n_missed_by_guessing = n_rows - max(counts.values())
    most = min(MOST_MISTAKES * n_rows, MOST_OF_GUESSING * n_missed_by_guessing)
    if n_rows < LEAST_ROWS or most < 1:
        return ""
    missing = np.array([is_missing(cell) for cell in column])
    n_wrong = _count_mistakes(missing, classes)
    if n_wrong <= most:
        [label] = [name for name, _ in Counter(classes[~missing].tolist()).most_common(1)]
        where = "only" if not n_wrong else "almost only"
        return f"{column.name!r} has a value {where} in rows of class {label!r}."
    if is_number:
        n_wrong = _count_mistakes_of_ranges(to_numbers(column), missing, classes, len(counts))
    else:
        values = np.array(["" if is_missing(cell) else as_text(cell) for cell in column])
        if len(set(values.tolist())) * ROWS_PER_CATEGORY > n_rows:
            return ""
        n_wrong = _count_mistakes(values, classes)
    if n_wrong > most:
        return ""
    n_right = n_rows - n_wrong
    return f"{column.name!r} alone predicts the class of {n_right} of {count(n_rows, 'row')}."


def _count_mistakes(values: NDArray[np.generic], classes: NDArray[np.str_]) -> int:
    """Count the rows whose class is not the most common among the rows with the same value."""
    found: dict[object, Counter[str]] = defaultdict(Counter)
    for value, label in zip(values.tolist(), classes.tolist(), strict=True):
        found[value][label] += 1
    return sum(counts.total() - max(counts.values()) for counts in found.values())


def _count_mistakes_of_ranges(
    numbers: FloatArray, missing: NDArray[np.bool_], classes: NDArray[np.str_], n_classes: int
) -> int:
    """Count the mistakes of the best few ranges of a number."""
    rest = numbers[~missing]
    filled = np.where(missing, rest.min() - 1.0, numbers)
    tree = DecisionTreeClassifier(
        max_leaf_nodes=n_classes + 1, min_samples_leaf=ROWS_PER_CATEGORY, random_state=0
    )
    leaves = tree.fit(filled[:, None], classes).apply(filled[:, None])
    return _count_mistakes(leaves, classes)


def find_related_rows(
    rows: pd.DataFrame, schema: Schema, ignored: Mapping[str, str]
) -> Iterator[Notice]:
    """Find columns that seem to tell which rows belong together, although none was named.

    Parameters
    ----------
    rows : DataFrame
        Rows with a class.
    schema : Schema
        Description of the table.
    ignored : mapping of str to str
        Columns that are not used, except those that the user asked to ignore.

    Yields
    ------
    Notice
        A warning.
    """
    if schema.groups is not None:
        return
    names = {*ignored, *(column.name for column in schema.features)}
    for name in map(str, rows.columns):
        if name not in names or not (OWNER.fullmatch(name) or CAMEL_OWNER.fullmatch(name)):
            continue
        cells = [cell for cell in rows[name] if not is_missing(cell)]
        numbers = np.array([as_number(cell) for cell in cells])
        is_measured = np.isfinite(numbers).all() and np.any(numbers != np.round(numbers))
        n_values = len(set(map(as_text, cells)))
        if is_measured or not LEAST_OWNERS <= n_values < len(cells):
            continue
        yield Notice(
            "groups",
            f"{count(len(cells), 'row')} have only {n_values} different values in {name!r}, so "
            "some rows seem to belong together. A model looks better than it is if it is tested "
            f"on rows related to those it was trained on: use {name!r} for groups (--groups).",
            Severity.warning,
            f"--groups={name}",
        )
