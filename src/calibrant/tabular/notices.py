"""What a careful reader would ask about a table before trusting numbers from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import as_number, as_text, is_missing

# Classes with fewer rows are named: their probabilities rest on little.
RARE_CLASS = 10
# Fewer rows than this say little, whatever the method.
RARE_CLASS_SIZE = 50
# A column is suspect only if this many rows stand behind what it tells.
ENOUGH_ROWS = 20


@dataclass(frozen=True)
class Notice:
    """Something to know about a table.

    Attributes
    ----------
    topic : str
        One of "rows", "classes", "duplicates", "leakage", "groups", "ignored".
    text : str
        A sentence or two: what was seen, and what to do about it.
    """

    topic: str
    text: str


def notices_of(
    rows: pd.DataFrame,
    classes: NDArray[np.str_],
    *,
    numbers: list[str],
    categories: list[str],
    ignored: dict[str, str],
    target: str,
    groups: str | None,
    n_unlabelled: int,
) -> tuple[Notice, ...]:
    """Look for what makes numbers from a table better or worse than they look.

    Parameters
    ----------
    rows : DataFrame
        The rows that have a class.
    classes : ndarray of shape (n_rows,)
        Their classes.
    numbers, categories : list of str
        The columns that a model is fitted on.
    ignored : dict
        The columns that it is not fitted on, and why.
    target, groups : str
        The columns of classes and groups.
    n_unlabelled : int
        The number of rows left out for want of a class.

    Returns
    -------
    tuple of Notice
        In the order in which they matter.
    """
    found = [
        Notice("leakage", f"{said} If it is only known once the class is known, ignore it.")
        for name in [*numbers, *categories]
        if (said := _tells(rows[name], classes, is_number=name in numbers))
    ]
    n_repeated = int(rows[[target, *numbers, *categories]].duplicated().sum())
    if n_repeated and groups is None:
        found.append(
            Notice(
                "duplicates",
                f"{n_repeated} of {len(rows)} rows repeat an earlier one. If they are the same "
                "case, drop them or say by a column of groups which rows belong together: rows "
                "that are both learned from and tested on make a model look better than it is.",
            )
        )
    names, count = np.unique(classes, return_counts=True)
    rare = ", ".join(
        f"{name!r} ({own})"
        for name, own in zip(names.tolist(), count, strict=True)
        if own < RARE_CLASS
    )
    if rare:
        found.append(
            Notice(
                "classes",
                f"Classes with fewer than {RARE_CLASS} rows: {rare}. What is said of them rests "
                "on little.",
            )
        )
    if len(rows) < RARE_CLASS_SIZE:
        found.append(
            Notice("rows", f"{len(rows)} rows are few: expect wide intervals in every number.")
        )
    if n_unlabelled:
        found.append(
            Notice("rows", f"{n_unlabelled} rows without a value in {target!r} are left out.")
        )
    if groups is not None and rows[groups].nunique() == len(rows):
        found.append(
            Notice("groups", f"Every row has a group of its own in {groups!r}: it has no effect.")
        )
    found += [
        Notice("ignored", f"{name!r} is not used: {reason}.") for name, reason in ignored.items()
    ]
    return tuple(found)


def _tells(column: pd.Series, classes: NDArray[np.str_], *, is_number: bool) -> str:
    """Say how a column gives the class away; an empty text if it does not."""
    present = np.array([not is_missing(cell) for cell in column])
    known = classes[present]
    if len(known) < ENOUGH_ROWS or len(np.unique(known)) < 2:
        return ""
    values = np.array([as_text(cell) for cell in column[present]], dtype=str)
    pairs = set(zip(values.tolist(), known.tolist(), strict=True))
    n_values = len(set(values.tolist()))
    if len(pairs) == n_values and n_values <= len(known) / 2:
        return f"{column.name!r} alone tells the class of every row."
    if is_number and _separates(np.array([as_number(cell) for cell in column[present]]), known):
        return f"{column.name!r} alone tells the class of every row by its range."
    if n_values == 2 and len(pairs) == len(np.unique(known)) and (known != known[0]).any():
        one = [own for value, own in sorted(pairs) if _count(pairs, value) == 1]
        if one:
            return f"{column.name!r} has one value for class {one[0]!r} and another for the rest."
    return ""


def _separates(numbers: FloatArray, classes: NDArray[np.str_]) -> bool:
    """Whether every class has a range of its own."""
    order = np.argsort(numbers, kind="stable")
    sorted_classes, sorted_numbers = classes[order], numbers[order]
    changes = sorted_classes[1:] != sorted_classes[:-1]
    clean = np.all(sorted_numbers[1:][changes] != sorted_numbers[:-1][changes])
    return bool(clean) and int(changes.sum()) + 1 == len(np.unique(classes))


def _count(pairs: set[tuple[str, str]], value: str) -> int:
    return sum(own == value for own, _ in pairs)
