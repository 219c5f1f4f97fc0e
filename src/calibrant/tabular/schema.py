"""Records that describe a table: its target, its classes and its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from calibrant._core.plain_values import (
    read_class_count,
    read_count,
    read_number,
    read_text,
)
from calibrant._core.records import Record
from calibrant.tabular.number_formats import PLAIN, NumberFormat


class Kind(StrEnum):
    """How a model uses a column."""

    number = "number"
    category = "category"
    ignored = "ignored"


@dataclass(frozen=True)
class Column(Record):
    """A column other than the target and the groups.

    Attributes
    ----------
    name : str
        Its name.
    kind : Kind
        How a model uses it.
    n_missing : int
        Number of rows without a value.
    categories : tuple of str
        Sorted values of a categorical column.
    reason : str
        Why it is ignored, as a clause that follows a colon.
    number_format : NumberFormat
        Notation of a column of numbers.
    missing : tuple of str
        Values that the user declared missing.
    low, high : float or None
        Smallest and largest value of a column of numbers. ``None`` means unknown, as in models
        that were saved by version 0.1.0.
    """

    name: str
    kind: Kind
    n_missing: int = 0
    categories: tuple[str, ...] = ()
    reason: str = ""
    number_format: NumberFormat = PLAIN
    missing: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


class Severity(StrEnum):
    """How much a notice matters."""

    warning = "warning"  # results may be wrong
    note = "note"


@dataclass(frozen=True)
class Notice(Record):
    """Something to know about a table before relying on results from it.

    Attributes
    ----------
    topic : str
        One of "leakage", "counts" (of cases per row), "totals" (below the table), "duplicates",
        "spelling" (of classes), "classes", "rows", "groups", "file" (how it was read), "missing",
        "numbers" (how they are written), "codes" (for missing values), "mixed" (numbers and text
        in a column), "identifiers" (that may be measurements), "ignored".
    text : str
        One or two sentences: the observation, and what to do about it.
    severity : Severity
        Whether results may be wrong, or the notice is only good to know.
    option : str or None
        Option of the command line that follows the advice, such as ``--ignore=COLUMN``. ``None``
        means that there is none.
    """

    topic: str
    text: str
    severity: Severity = Severity.note
    option: str | None = None


@dataclass(frozen=True)
class Schema(Record):
    """Description of a table, as far as a model depends on it.

    Attributes
    ----------
    target : str
        Name of the column to predict.
    classes : tuple of str
        Classes of the target, sorted as text.
    class_count : tuple of int
        Number of rows of each class.
    columns : tuple of Column
        All columns except the target and the groups, in the order of the table.
    groups : str or None
        Name of the column that tells which rows belong together. ``None`` means ungrouped.
    notices : tuple of Notice
        What to know before relying on results from the table, most important first.
    class_names : mapping of str to str or None
        Class by value of the target, for values that are not the name of a class. ``None`` means
        that rows with the value are left out.
    """

    target: str
    classes: tuple[str, ...]
    class_count: tuple[int, ...]
    columns: tuple[Column, ...]
    groups: str | None = None
    notices: tuple[Notice, ...] = ()
    class_names: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows with a class."""
        return sum(self.class_count)

    @property
    def features(self) -> tuple[Column, ...]:
        """Columns that a model is fitted on."""
        return tuple(column for column in self.columns if column.kind is not Kind.ignored)

    def names(self, kind: Kind) -> list[str]:
        """Return the names of the columns of one kind."""
        return [column.name for column in self.columns if column.kind is kind]

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Return the schema that `to_dict` was called on.

        Parameters
        ----------
        content : dict
            What `to_dict` returned, or the same after a round trip through JSON.

        Returns
        -------
        Schema
            An equal schema.
        """
        groups = content["groups"]
        return cls(
            target=read_text(content["target"]),
            classes=tuple(map(read_text, content["classes"])),
            class_count=tuple(map(read_count, read_class_count(content["class_count"]))),
            columns=tuple(map(_read_column, content["columns"])),
            groups=None if groups is None else read_text(groups),
            notices=tuple(
                Notice(
                    read_text(notice["topic"]),
                    read_text(notice["text"]),
                    Severity(notice.get("severity", Severity.note)),  # not in version 0.1.0
                    _read_option(notice.get("option")),
                )
                for notice in content["notices"]
            ),
            class_names={
                read_text(value): None if name is None else read_text(name)
                for value, name in content.get("class_names", {}).items()
            },
        )


def _read_option(option: Any) -> str | None:
    return None if option is None else read_text(option)


def _read_column(content: Mapping[str, Any]) -> Column:
    """Return the column that `to_dict` was called on."""
    number_format = content.get("number_format", {})
    low, high = (
        None if content.get(end) is None else read_number(content[end]) for end in ("low", "high")
    )
    return Column(
        read_text(content["name"]),
        Kind(content["kind"]),
        read_count(content["n_missing"]),
        tuple(map(read_text, content["categories"])),
        read_text(content["reason"]),
        NumberFormat(**{name: read_text(value) for name, value in number_format.items()}),
        tuple(map(read_text, content.get("missing", ()))),
        low,
        high,
    )
