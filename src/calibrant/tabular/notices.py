"""Notices: what to know about a table before relying on results from it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.phrases import count
from calibrant._core.typing import FloatArray
from calibrant.tabular.cell_readings import describe_cells
from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.class_names import RARE_CLASS_ROWS
from calibrant.tabular.codes import find_codes
from calibrant.tabular.columns import (
    describe_others,
    labeled_rows,
    numbers_rows,
    split_numbers,
    to_labels,
    to_numbers,
    to_texts,
)
from calibrant.tabular.dangers import find_near_leakage, find_related_rows
from calibrant.tabular.reading import get_reading
from calibrant.tabular.rows import select_features
from calibrant.tabular.schema import Kind, Notice, Schema, Severity
from calibrant.tabular.summary_rows import find_summary_rows

# Tables with fewer rows than this get a notice.
FEW_ROWS = 50
# A column of categories is named if more than this proportion of its values are numbers.
MIXED = 0.5
# A column can only be suspected of leakage if it has values in this many rows.
LEAKAGE_ROWS = 20
# Rows repeat by themselves if every value has at least this many rows on average, and there are
# fewer possible combinations of values per row than this.
FEW_COMBINATIONS = 10
# Up to this proportion, repeated rows hardly affect the results.
FEW_REPEATS = 0.02


def find_notices(
    table: pd.DataFrame, schema: Schema, ignored: Mapping[str, str]
) -> tuple[Notice, ...]:
    """Find what a user should know before relying on results from a table.

    Parameters
    ----------
    table : DataFrame
        The table.
    schema : Schema
        Its description, with the notices on its classes.
    ignored : mapping of str to str
        Columns to report as not used, each with the reason.

    Returns
    -------
    tuple of Notice
        Most important first.
    """
    rows = labeled_rows(table, schema.target, schema.class_names)
    classes = to_labels(rows[schema.target], schema.class_names)
    features = select_features(rows, schema)  # as a model takes them
    n_labeled = len(labeled_rows(table, schema.target))
    related = tuple(find_related_rows(rows, schema, ignored))
    # All rows of a group may well have the same class. A column of groups is no feature.
    grouping = {notice.option for notice in related}
    leakage = _find_leakage(features, classes, schema)
    return (
        *(each for name, each in leakage if f"--groups={name}" not in grouping),
        *find_summary_rows(rows, schema),
        *_find_duplicates(table, rows, schema),
        *related,
        *schema.notices,
        *_find_rare_classes(schema),
        *_find_few_rows(schema, n_unlabeled=len(table) - n_labeled),
        *_find_useless_groups(rows, schema),
        *get_reading(table).notices,
        *describe_cells(rows, schema),
        *_find_codes(features, schema),
        *_find_distinct_numbers(features, schema),
        *_find_mixed_columns(rows, schema),
        *(Notice("ignored", f"{name!r} is not used: {why}.") for name, why in ignored.items()),
    )


def _find_leakage(
    rows: pd.DataFrame, classes: NDArray[np.str_], schema: Schema
) -> Iterator[tuple[str, Notice]]:
    """Yield the columns that give the class away, each with a warning."""
    for kind in (Kind.number, Kind.category):
        for name in schema.names(kind):
            is_number = kind is Kind.number
            suspicion = _describe_leakage(rows[name], classes, is_number=is_number)
            suspicion = suspicion or find_near_leakage(rows[name], classes, is_number=is_number)
            if suspicion:
                option = f"--ignore={name}"
                warning = Notice(
                    "leakage",
                    f"{suspicion} If it would not be known at the time of a prediction, leave it "
                    f"out ({shlex.quote(option)}).",
                    Severity.warning,
                    option,
                )
                yield name, warning


def _find_duplicates(table: pd.DataFrame, rows: pd.DataFrame, schema: Schema) -> Iterator[Notice]:
    # Before columns are dropped: rows that differ in a column without use do not repeat one
    # another. Only row numbers make no difference.
    names = [name for name in rows.columns if not numbers_rows(table[name])]
    n_repeated = int(rows[names].duplicated().sum())
    if n_repeated and schema.groups is None:
        verb = "repeats" if n_repeated == 1 else "repeat"
        yield Notice(
            "duplicates",
            f"{n_repeated} of {count(len(rows), 'row')} {verb} an earlier row. A model looks "
            "better than it is if it is tested on rows that it was trained on: remove rows that "
            "were recorded twice, or name a column of groups.",
            _weigh_duplicates(rows[names], n_repeated),
        )


def _weigh_duplicates(rows: pd.DataFrame, n_repeated: int) -> Severity:
    """Return a note for repeats that are few or likely with few categories; else a warning."""
    n_values = [float(rows[name].nunique(dropna=False)) for name in rows.columns]
    is_coarse = max(n_values) * FEW_COMBINATIONS <= len(rows)
    is_expected = is_coarse and np.prod(n_values) < len(rows) * FEW_COMBINATIONS
    is_rare = n_repeated <= FEW_REPEATS * len(rows)
    return Severity.note if is_expected or is_rare else Severity.warning


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


def _find_codes(features: pd.DataFrame, schema: Schema) -> Iterator[Notice]:
    for name in schema.names(Kind.number):
        numbers = features[name].to_numpy()
        codes = find_codes(numbers)
        if not codes:
            continue
        rest = numbers[np.isfinite(numbers) & ~np.isin(numbers, list(codes))]
        listed = ", ".join(f"{as_text(code)} ({n_rows})" for code, n_rows in codes.items())
        options = " ".join(f"--missing {name}={as_text(code)}" for code in codes)
        stand = (
            "this stands for a missing value"
            if len(codes) == 1
            else "these stand for missing values"
        )
        yield Notice(
            "codes",
            f"{name!r} has {listed} outside the range of its other values, {rest.min():g} to "
            f"{rest.max():g}. If {stand}, use {options}.",
        )


def _find_distinct_numbers(features: pd.DataFrame, schema: Schema) -> Iterator[Notice]:
    for name in schema.names(Kind.number):
        numbers = features[name].to_numpy()
        is_whole = np.all(np.isfinite(numbers)) and np.all(numbers == np.round(numbers))
        if is_whole and len(np.unique(numbers)) == len(numbers):
            yield Notice(
                "identifiers",
                f"{name!r} has a different whole number in every row and is used as a measurement. "
                "If it identifies rows, ignore it (--ignore).",
            )


def _find_mixed_columns(rows: pd.DataFrame, schema: Schema) -> Iterator[Notice]:
    for column in schema.features:
        if column.kind is not Kind.category:
            continue
        texts = [
            text
            for text in to_texts(rows[column.name].dropna()).tolist()
            if text in column.categories
        ]
        others = split_numbers(texts)[1]
        n_other = sum(text in others for text in texts)
        if 0 < n_other < (1 - MIXED) * len(texts):
            stand = (
                "it stands for a missing value" if n_other == 1 else "they stand for missing values"
            )
            yield Notice(
                "mixed",
                f"{column.name!r} is treated as categories, because {n_other} of its {len(texts)} "
                f"values {describe_others(texts, others)}. If {stand}, use --missing.",
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
    is_repeated = n_values <= len(known) / 2
    if (len(pairs) == n_values and is_repeated) or (
        is_number and _separates(to_numbers(column[present]), known)
    ):
        return f"{column.name!r} alone tells the class of every row."
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
