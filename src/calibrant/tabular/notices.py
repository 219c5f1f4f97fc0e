"""Notices: what to know about a table before relying on results from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.phrases import count
from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import is_missing
from calibrant.tabular.columns import labeled_rows, to_numbers, to_texts
from calibrant.tabular.schema import Kind, Notice, Schema

# Classes and tables with fewer rows than this get a notice.
RARE_CLASS_ROWS = 10
FEW_ROWS = 50
# A column can only be suspected of leakage if it has values in this many rows.
LEAKAGE_ROWS = 20


def find_notices(
    table: pd.DataFrame, schema: Schema, ignored: Mapping[str, str]
) -> tuple[Notice, ...]:
    """Find what a user should know before relying on results from a table.

    Parameters
    ----------
    table : DataFrame
        The table.
    schema : Schema
        Its description.
    ignored : mapping of str to str
        Columns to report as not used, each with the reason.

    Returns
    -------
    tuple of Notice
        Most important first.
    """
    rows = labeled_rows(table, schema.target)
    classes = to_texts(rows[schema.target])
    return (
        *_find_leakage(rows, classes, schema),
        *_find_duplicates(rows, schema),
        *_find_rare_classes(schema),
        *_find_few_rows(schema, n_unlabeled=len(table) - len(rows)),
        *_find_useless_groups(rows, schema),
        *(Notice("ignored", f"{name!r} is not used: {why}.") for name, why in ignored.items()),
    )


def _find_leakage(
    rows: pd.DataFrame, classes: NDArray[np.str_], schema: Schema
) -> Iterator[Notice]:
    for kind in (Kind.number, Kind.category):
        for name in schema.names(kind):
            suspicion = _describe_leakage(rows[name], classes, is_number=kind is Kind.number)
            if suspicion:
                yield Notice(
                    "leakage",
                    f"{suspicion} If its values are known only after the class, ignore it.",
                )


def _find_duplicates(rows: pd.DataFrame, schema: Schema) -> Iterator[Notice]:
    names = [schema.target, *schema.names(Kind.number), *schema.names(Kind.category)]
    n_repeated = int(rows[names].duplicated().sum())
    if n_repeated and schema.groups is None:
        verb = "repeats" if n_repeated == 1 else "repeat"
        yield Notice(
            "duplicates",
            f"{n_repeated} of {count(len(rows), 'row')} {verb} an earlier row. A model looks "
            "better than it is if it is tested on rows that it was trained on: remove rows that "
            "were recorded twice, or name a column of groups.",
        )


def _find_rare_classes(schema: Schema) -> Iterator[Notice]:
    rare = ", ".join(
        f"{name!r} ({n_rows})"
        for name, n_rows in zip(schema.classes, schema.class_count, strict=True)
        if n_rows < RARE_CLASS_ROWS
    )
    if rare:
        yield Notice(
            "classes",
            f"Some classes have fewer than {RARE_CLASS_ROWS} rows: {rare}. Results for these "
            "classes are uncertain.",
        )


def _find_few_rows(schema: Schema, n_unlabeled: int) -> Iterator[Notice]:
    if schema.n_rows < FEW_ROWS:
        yield Notice(
            "rows", f"There are only {count(schema.n_rows, 'row')}, so expect wide intervals."
        )
    if n_unlabeled:
        yield Notice(
            "rows",
            f"{count(n_unlabeled, 'row')} without a value in {schema.target!r} "
            f"{'is' if n_unlabeled == 1 else 'are'} left out.",
        )


def _find_useless_groups(rows: pd.DataFrame, schema: Schema) -> Iterator[Notice]:
    if schema.groups is not None and rows[schema.groups].nunique() == len(rows):
        yield Notice(
            "groups",
            f"Every row has a different value in {schema.groups!r}, so grouping has no effect.",
        )


def _describe_leakage(column: pd.Series, classes: NDArray[np.str_], *, is_number: bool) -> str:
    """Say how a column gives the class away; an empty text if it does not."""
    present = np.array([not is_missing(cell) for cell in column])
    known = classes[present]
    if len(known) < LEAKAGE_ROWS or len(np.unique(known)) < 2:
        return ""
    values = to_texts(column[present])
    pairs = set(zip(values.tolist(), known.tolist(), strict=True))
    n_values = len(set(values.tolist()))
    if len(pairs) == n_values and n_values <= len(known) / 2:
        return f"{column.name!r} alone determines the class of every row."
    if is_number and _separates(to_numbers(column[present]), known):
        return f"The range of {column.name!r} alone determines the class of every row."
    if n_values == 2 and len(pairs) == len(np.unique(known)):
        singled_out = [
            label
            for value, label in sorted(pairs)
            if sum(other == value for other, _ in pairs) == 1
        ]
        if singled_out:
            return (
                f"{column.name!r} has one value for class {singled_out[0]!r} and another for all "
                "other classes."
            )
    return ""


def _separates(numbers: FloatArray, classes: NDArray[np.str_]) -> bool:
    """Whether the ranges of the classes do not overlap."""
    order = np.argsort(numbers, kind="stable")
    sorted_classes, sorted_numbers = classes[order], numbers[order]
    changes = sorted_classes[1:] != sorted_classes[:-1]
    clean = np.all(sorted_numbers[1:][changes] != sorted_numbers[:-1][changes])
    return bool(clean) and int(changes.sum()) + 1 == len(np.unique(classes))
