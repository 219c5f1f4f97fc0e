"""What the columns of a table hold, and whether the target is one to predict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.typing import FloatArray
from calibrant.tabular.cells import as_code, as_number, as_text, is_missing
from calibrant.tabular.notices import Notice, notices_of

# Fewer rows than this cannot be held out and learned from at once.
LEAST_ROWS = 10
# A target of more different numbers than this is a measurement; with decimals, than the second.
MOST_NUMBERED_CLASSES = 50
MOST_DECIMAL_CLASSES = 10
# Text with more different values than this, and than this share of the rows, is no category.
FEW_CATEGORIES = 10
CATEGORIES_PER_ROW = 0.2
# A column of numbers but for a few cells: from this share on, it is said.
MOSTLY = 0.8

DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d\d)(\s.*)?")
IDENTIFIER = re.compile(
    r"(?:.*[\s_.-])?(?:id|identifier|uuid|guid|key|code)"
    r"|(?:row|index|case|patient|subject|sample)(?:[\s_.-]?(?:no|nr|number|name))?",
    re.IGNORECASE,
)
CAMEL_IDENTIFIER = re.compile(r".*[a-z](ID|Id)")


class Kind(StrEnum):
    """What a column is to a model."""

    number = "number"
    category = "category"
    ignored = "ignored"


@dataclass(frozen=True)
class Column:
    """One column beside the target.

    Attributes
    ----------
    name : str
        Its name.
    kind : Kind
        What it is to a model.
    n_missing : int
        The number of rows without a value.
    categories : tuple of str
        The values of a category, sorted.
    reason : str
        Why it is ignored.
    """

    name: str
    kind: Kind
    n_missing: int = 0
    categories: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Schema:
    """What a table holds, as far as a model must know.

    Attributes
    ----------
    target : str
        The name of the column to predict.
    classes : tuple of str
        Its classes, sorted as text.
    class_count : tuple of int
        The number of rows of each.
    columns : tuple of Column
        The other columns, in the order of the table; without that of the groups.
    groups : str or None
        The name of the column that says which rows belong together.
    notices : tuple of Notice
        What a careful reader would want to know before trusting the table.
    """

    target: str
    classes: tuple[str, ...]
    class_count: tuple[int, ...]
    columns: tuple[Column, ...]
    groups: str | None = None
    notices: tuple[Notice, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of rows with a class."""
        return sum(self.class_count)

    @property
    def features(self) -> tuple[Column, ...]:
        """The columns that a model is fitted on."""
        return tuple(column for column in self.columns if column.kind is not Kind.ignored)

    def names(self, kind: Kind) -> list[str]:
        """Names of the columns of a kind."""
        return [column.name for column in self.columns if column.kind is kind]

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """From what `to_dict` returned."""
        columns = [
            Column(
                **{
                    **column,
                    "kind": Kind(column["kind"]),
                    "categories": tuple(map(str, column["categories"])),
                }
            )
            for column in content["columns"]
        ]
        return cls(
            target=content["target"],
            classes=tuple(content["classes"]),
            class_count=tuple(content["class_count"]),
            columns=tuple(columns),
            groups=content["groups"],
            notices=tuple(Notice(**notice) for notice in content["notices"]),
        )


def describe_table(
    table: pd.DataFrame,
    target: str,
    *,
    groups: str | None = None,
    ignore: Collection[str] = (),
    categories: Collection[str] = (),
) -> Schema:
    """Find out what the columns of a table hold.

    Parameters
    ----------
    table : DataFrame
        A table of `read_table`.
    target : str
        The column to predict. Rows without a value in it are left out, with a notice.
    groups : str, default=None
        The column that says which rows belong together, such as those of one patient. It is
        not used to predict.
    ignore : collection of str
        Columns not to use.
    categories : collection of str
        Columns of numbers that stand for categories, such as 1, 2, 3 for kinds of pain.

    Returns
    -------
    Schema
        What the table holds.

    Raises
    ------
    ValueError
        If there is no such column, or its values are no classes to predict.
    """
    if table.shape[1] < 2:
        raise ValueError(
            "A table must have a column to predict and columns to predict it from. Got one, "
            f"{str(table.columns[0])[:40]!r}. Separate cells by commas, semicolons or tabs."
        )
    target = find_column(table, target, "The target")
    groups = None if groups is None else find_column(table, groups, "The column of groups")
    unused = {find_column(table, name, "A column to ignore") for name in ignore}
    coded = {find_column(table, name, "A column of categories") for name in categories}
    if target == groups or target in unused:
        raise ValueError(
            f"The target must be another column than those of the groups and to ignore. "
            f"Got {target!r} for both. Choose another."
        )
    if coded & {target, groups, *unused}:
        raise ValueError(
            "A column of categories must be one to predict from. "
            f"Got {_listed(sorted(coded & {target, groups, *unused}))}. Leave it out."
        )
    labels = table[target].map(lambda cell: None if is_missing(cell) else as_text(cell))
    labelled = labels.notna().to_numpy()
    rows, classes = table[labelled], np.array(labels[labelled].tolist(), dtype=str)
    count = _check_classes(classes, target, len(table))
    if groups is not None:
        check_groups(rows, groups)
    columns = tuple(
        Column(str(name), Kind.ignored, reason="as you asked")
        if name in unused
        else _describe(rows[name], is_category=name in coded)
        for name in table.columns
        if name not in (target, groups)
    )
    if all(column.kind is Kind.ignored for column in columns):
        why = "; ".join(f"{column.name!r} is ignored: {column.reason}" for column in columns[:3])
        raise ValueError(
            f"A table must have a column to predict {target!r} from. Got none: {why}. "
            "Add columns of numbers or categories."
        )
    return Schema(
        target=target,
        classes=tuple(sorted(count)),
        class_count=tuple(count[name] for name in sorted(count)),
        columns=columns,
        groups=groups,
        notices=notices_of(
            rows,
            classes,
            numbers=[column.name for column in columns if column.kind is Kind.number],
            categories=[column.name for column in columns if column.kind is Kind.category],
            ignored={
                column.name: column.reason
                for column in columns
                if column.reason and column.name not in unused
            },
            target=target,
            groups=groups,
            n_unlabelled=len(table) - len(rows),
        ),
    )


def find_column(table: pd.DataFrame, name: str, role: str) -> str:
    """Return the name of a column as it is in the table, or say what there is instead."""
    names = [str(column) for column in table.columns]
    stripped = name.strip()
    if stripped in names:
        return stripped
    same = [own for own in names if own.casefold() == stripped.casefold()]
    close = same or get_close_matches(stripped, names, n=3)
    hint = (
        f"Did you mean {' or '.join(repr(own) for own in close)}?"
        if close
        else f"Choose one of {_listed(names)}."
    )
    raise ValueError(f"{role} must be a column of the table. Got {name!r}. {hint}")


def to_numbers(column: pd.Series) -> FloatArray:
    """Values of a column; NaN where missing, infinity where a cell is no finite number."""
    return np.array([as_number(cell) for cell in column], dtype=np.float64)


def check_groups(rows: pd.DataFrame, groups: str) -> None:
    """Refuse rows that belong to no group, and a single group."""
    missing = [is_missing(cell) for cell in rows[groups]]
    if any(missing):
        place = f"{rows.index.name} {rows.index[missing.index(True)]}"
        raise ValueError(
            f"The column of groups must have a value in every row. {groups!r} has none in "
            f"{sum(missing)}, the first in {place}. Give rows that stand alone a group each."
        )
    if rows[groups].nunique() < 2:
        raise ValueError(
            f"The column of groups must have two groups at least. {groups!r} has one. "
            "Leave --groups out, or choose another column."
        )


def _check_classes(classes: NDArray[np.str_], target: str, n_rows: int) -> dict[str, int]:
    """Count the classes, which must be two or more, of two rows or more."""
    count = dict(Counter(classes.tolist()))
    if not count:
        raise ValueError(
            f"The target must have values. {target!r} has none in {n_rows} rows. Choose another."
        )
    numbers = np.array([as_number(name) for name in count])
    decimals = bool(np.any(numbers != np.round(numbers)))
    most = MOST_DECIMAL_CLASSES if decimals else MOST_NUMBERED_CLASSES
    if np.isfinite(numbers).all() and len(count) > most:
        raise ValueError(
            f"The target must be classes. {target!r} has {len(count)} different numbers, as a "
            "measurement has. Choose another column, or cut it into ranges with names."
        )
    if len(count) < 2:
        raise ValueError(
            f"The target must have two classes at least. {target!r} is {next(iter(count))!r} in "
            f"all {len(classes)} rows. Choose another column, or add rows of another class."
        )
    single = sorted(name for name, rows in count.items() if rows == 1)
    if len(single) > len(classes) / 2:
        raise ValueError(
            f"The target must be classes that come again. {target!r} has {len(count)} different "
            f"values in {len(classes)} rows. Choose another column."
        )
    if single:
        raise ValueError(
            f"Every class must have two rows at least, to learn from one and test on another. "
            f"Got one of {_listed(single)} in {target!r}. Merge classes, add rows or drop these."
        )
    if len(classes) < LEAST_ROWS:
        raise ValueError(
            f"A table must have {LEAST_ROWS} rows with a class at least. Got {len(classes)}. "
            "Add rows."
        )
    return count


def _describe(column: pd.Series, *, is_category: bool) -> Column:
    name = str(column.name)
    present = [cell for cell in column if not is_missing(cell)]
    n_missing = len(column) - len(present)

    def ignored(reason: str) -> Column:
        return Column(name, Kind.ignored, n_missing, reason=reason)

    if not present:
        return ignored("it has no values")
    texts = [as_text(cell) for cell in present]
    values = sorted(set(texts))
    if len(values) == 1:
        return ignored(f"it is {values[0][:40]!r} in every row")
    numbers = np.array([as_number(cell) for cell in present])
    finite = np.isfinite(numbers)
    if is_category:
        if finite.all():
            values = sorted({as_code(cell) for cell in present})
        return Column(name, Kind.category, n_missing, tuple(values))
    named = bool(IDENTIFIER.fullmatch(name) or CAMEL_IDENTIFIER.fullmatch(name))
    unique = len(values) == len(texts)
    if finite.all():
        whole = bool(np.all(numbers == np.round(numbers)))
        if whole and unique and (named or np.ptp(numbers) == len(numbers) - 1):
            return ignored("it numbers the rows, as an identifier does")
        if whole and named and len(values) > max(FEW_CATEGORIES, len(texts) * CATEGORIES_PER_ROW):
            return ignored(
                "it looks like an identifier; if its rows belong together, use it for the groups"
            )
        return Column(name, Kind.number, n_missing)
    if finite.mean() >= MOSTLY:
        odd = present[int(np.argmin(finite))]
        return ignored(
            f"{np.sum(~finite)} of its {len(present)} cells are not numbers, such as "
            f"{as_text(odd)[:40]!r}; write numbers, or leave these cells empty"
        )
    if all(DATE.fullmatch(text) for text in texts):
        return ignored("it holds dates; write what matters of them as numbers, such as days")
    if unique:
        return ignored("it has another text in every row, as an identifier or a remark has")
    if len(values) > max(FEW_CATEGORIES, len(texts) * CATEGORIES_PER_ROW):
        return ignored(
            f"it has {len(values)} different texts in {len(texts)} rows, too many for categories"
        )
    return Column(name, Kind.category, n_missing, tuple(values))


def _listed(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
