"""Records that describe a table: its target, its classes and its columns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from calibrant._core.records import Record


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
    """

    name: str
    kind: Kind
    n_missing: int = 0
    categories: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Notice(Record):
    """Something to know about a table before relying on results from it.

    Attributes
    ----------
    topic : str
        One of "rows", "classes", "duplicates", "leakage", "groups", "ignored".
    text : str
        One or two sentences: the observation, and what to do about it.
    """

    topic: str
    text: str


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
    """

    target: str
    classes: tuple[str, ...]
    class_count: tuple[int, ...]
    columns: tuple[Column, ...]
    groups: str | None = None
    notices: tuple[Notice, ...] = ()

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
