"""Finding the columns that hold the probabilities of classes, by name or as the user says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant.calibrators._validation import SUM_TOLERANCE
from calibrant.tabular.columns import describe_column, describe_missing, find_column
from calibrant.tabular.phrases import list_names, suggest
from calibrant.tabular.predictions import EXPECTED_COST, PROBABILITY
from calibrant.tabular.probability_columns import (
    LEAST_PERCENTAGE,
    PERCENT,
    ProbabilityColumns,
    has_percent_signs,
    read_numbers,
)
from calibrant.tabular.schema import Kind

# With this many logits, not all of them would lie between 0 and 1.
MANY_LOGITS = 10


def find_probability_columns(
    table: pd.DataFrame,
    target: str,
    labels: NDArray[np.str_],
    *,
    columns: Mapping[str, str] | None = None,
    positive: str | None = None,
    logits: bool = False,
) -> ProbabilityColumns:
    """Find the column of each class.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned.
    target : str
        The column of true classes.
    labels : ndarray of shape (n_rows,)
        The true classes.
    columns : mapping of str to str, default=None
        Class by column, for columns that are not named after their class.
    positive : str, default=None
        The class of a single column of probabilities. The column is named after the class or
        given by ``columns``; otherwise, it is the only one that can hold probabilities.
    logits : bool, default=False
        Whether the columns hold logits rather than probabilities.

    Returns
    -------
    ProbabilityColumns
        The columns. Without ``columns`` and ``positive``, they are all numeric columns if their
        rows sum to 1, which may include classes without any row; otherwise, those of the classes.
    """
    seen = sorted(set(labels.tolist()))
    column_of = _check_columns(table, target, columns or {})
    if positive is not None:
        _check_positive(positive, seen, column_of, target)
        if positive not in column_of:
            column_of[positive] = _find_single(table, target, positive, logits=logits)
    classes = (
        sorted({*seen, *column_of})
        if column_of
        else _find_classes(table, target, seen, logits=logits)
    )
    found: list[str | None] = [column_of.get(name, name) for name in classes]
    absent = [at for at, name in enumerate(found) if name not in table.columns]
    if column_of and len(classes) == 2 and len(absent) == 1:
        found[absent[0]] = None
    elif absent:
        free = [str(name) for name in table.columns if name not in (target, *found)]
        raise ValueError(
            "The table must have one column for each class, named after the class. "
            f"{describe_missing([classes[at] for at in absent], free)}, or say which column "
            "belongs to which class with --columns. With two classes, one column is "
            "enough: name its class with --positive."
        )
    result = ProbabilityColumns(tuple(classes), tuple(found), logits)
    return _inspect_single(result, table) if result.is_single else result


def split_assignments(items: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Split items such as ``score=malignant`` into a column and its class.

    Parameters
    ----------
    items : sequence of str
        The items. A column or a class may itself contain an equals sign.
    names : sequence of str
        Names of the columns of the table.

    Returns
    -------
    dict of str to str
        Class by column.
    """
    found = {}
    for item in items:
        splits = [(item[:at], item[at + 1 :]) for at, mark in enumerate(item) if mark == "="]
        known = [split for split in splits if split[0].strip() in names] or splits
        if not known or not known[0][1]:
            raise ValueError(
                f"columns must have the form column=class, got {item!r}. Write the name of a "
                "column, an equals sign and the class that its probabilities are for."
            )
        column, label = known[0]
        if column in found:
            raise ValueError(
                f"columns must name each column once, got {column!r} twice. Leave one of them out."
            )
        found[column] = label
    return found


def _check_columns(table: pd.DataFrame, target: str, columns: Mapping[str, str]) -> dict[str, str]:
    """Return the column by class."""
    column_of: dict[str, str] = {}
    for column, label in columns.items():
        name = find_column(table, column, "columns")
        if name == target:
            raise ValueError(
                f"columns must not name the target, got {name!r}. Name columns of probabilities."
            )
        if label in column_of:
            raise ValueError(
                f"columns must name each class once, got {label!r} for {column_of[label]!r} and "
                f"{name!r}. Leave one of them out."
            )
        column_of[label] = name
    return column_of


def _check_positive(
    positive: str, seen: Sequence[str], column_of: Mapping[str, str], target: str
) -> None:
    if positive not in seen:
        raise ValueError(
            f"positive must be a class of {target!r}, got {positive!r}. {suggest(positive, seen)}"
        )
    if len(seen) != 2:
        raise ValueError(
            f"positive requires two classes, but {target!r} has {len(seen)}. Give a column of "
            "probabilities for each class instead."
        )
    if column_of and positive not in column_of:
        raise ValueError(
            f"positive must be the class of a column in columns, got {positive!r}. Leave out "
            "positive, or name its column."
        )


def _find_single(table: pd.DataFrame, target: str, positive: str, *, logits: bool) -> str:
    """Return the column of the positive class: that of its name, or the only candidate."""
    names = [str(name) for name in table.columns if name != target]
    if positive in names:
        return positive
    candidates: list[str] = []
    for test in (_is_any_number,) if logits else LIKELY:
        candidates = [name for name in names if test(table[name])]
        if len(candidates) == 1:
            return candidates[0]
    found = list_names(candidates) if candidates else "none"
    raise ValueError(
        "positive requires one column of probabilities, but the columns that may hold them are "
        f"{found}. Say which one to use with --columns, as in score={positive}."
    )


def _is_between_0_and_1(column: pd.Series) -> bool:
    """Whether a column holds numbers from 0 to 1, not only the codes 0 and 1."""
    values = read_numbers(column)
    is_code = (values == np.round(values)).all()
    return not is_code and bool(values.min() >= 0 and values.max() <= 1)


def _is_percentage(column: pd.Series) -> bool:
    """Whether a column may hold percentages, and is not an identifier."""
    values = read_numbers(column)
    is_used = describe_column(column).kind is Kind.number
    return is_used and bool(values.min() >= 0 and values.max() <= PERCENT)


def _is_any_number(column: pd.Series) -> bool:
    return bool(np.isfinite(read_numbers(column)).all())


# What a column of probabilities looks like, most certain first. If the only numeric column holds
# anything else, such as logits, it is refused with the row when it is read.
LIKELY = (has_percent_signs, _is_between_0_and_1, _is_percentage, _is_any_number)


def _inspect_single(given: ProbabilityColumns, table: pd.DataFrame) -> ProbabilityColumns:
    """Tell whether a single column holds percentages; refuse probabilities given as logits."""
    [name] = given.names
    numbers = read_numbers(table[name])
    if not np.isfinite(numbers).all():  # refused, with the row, when they are read
        return given
    low, high = numbers.min(), numbers.max()
    if given.logits and len(numbers) >= MANY_LOGITS and low >= 0 and high <= 1:
        raise ValueError(
            f"--logits requires logits, but {name!r} lies between 0 and 1 in every row, "
            "as probabilities do. Leave out --logits."
        )
    is_percentage = has_percent_signs(table[name]) or (low >= 0 and high > LEAST_PERCENTAGE)
    return ProbabilityColumns(
        given.classes, given.columns, given.logits, bool(is_percentage and not given.logits)
    )


def _find_classes(table: pd.DataFrame, target: str, seen: list[str], *, logits: bool) -> list[str]:
    """Return all numeric columns if their rows sum to 1, otherwise the labels."""
    # These are not classes if the table was written by calibrant.
    other = {target, *({PROBABILITY, EXPECTED_COST} - set(seen))}
    numbers = {str(name): read_numbers(table[name]) for name in table.columns if name not in other}
    numbers = {name: values for name, values in numbers.items() if np.isfinite(values).all()}
    if not logits and set(seen) < set(numbers):
        total = np.sum(list(numbers.values()), axis=0)
        if any(np.all(np.abs(total / scale - 1) <= SUM_TOLERANCE) for scale in (1.0, PERCENT)):
            return sorted(numbers)
    return seen
