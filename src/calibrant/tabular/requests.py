"""What a user asks for of a data file: its target, the use of its columns, how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from calibrant.tabular.class_names import RareClasses
from calibrant.tabular.data_files import STANDARD_INPUT
from calibrant.tabular.inspection import describe_table
from calibrant.tabular.readers import read_table
from calibrant.tabular.schema import Schema


@dataclass(frozen=True)
class TableRequest:
    """A data file, and how to use it.

    Attributes
    ----------
    data : str
        The file, or "-" for standard input.
    target, groups, ignore, categories, numbers, merge_case, rare_classes
        As in `describe_table`.
    sheet, missing
        As in `read_table`.
    """

    data: str
    target: str
    groups: str | None = None
    ignore: Sequence[str] = ()
    categories: Sequence[str] = ()
    numbers: Sequence[str] = ()
    sheet: str | None = None
    missing: Sequence[str] = ()
    merge_case: bool = False
    rare_classes: str = RareClasses.keep.value

    @property
    def title(self) -> str:
        """Name of the file on a page."""
        return "standard input" if self.data == STANDARD_INPUT else Path(self.data).name

    def read(self) -> pd.DataFrame:
        """Read the file."""
        return read_table(self.data, sheet=self.sheet, missing=self.missing)

    def describe(self, table: pd.DataFrame) -> Schema:
        """Describe the table that `read` returned."""
        return describe_table(
            table,
            self.target,
            groups=self.groups,
            ignore=self.ignore,
            categories=self.categories,
            numbers=self.numbers,
            merge_case=self.merge_case,
            rare_classes=self.rare_classes,
        )

    def spell(self, data: str | None = None) -> list[str]:
        """Return the words of the command line that ask for the same.

        Parameters
        ----------
        data : str, default=None
            Another name for the file. ``None`` means its own.
        """
        words = [self.data if data is None else data, "--target", self.target]
        words += [] if self.groups is None else ["--groups", self.groups]
        # With an equals sign, a value may begin with a dash.
        words += [f"--ignore={name}" for name in self.ignore]
        words += [f"--categories={name}" for name in self.categories]
        words += [f"--numbers={name}" for name in self.numbers]
        words += [] if self.sheet is None else [f"--sheet={self.sheet}"]
        words += [f"--missing={value}" for value in self.missing]
        words += ["--merge-case"] if self.merge_case else []
        keeps = self.rare_classes == RareClasses.keep
        return words + ([] if keeps else ["--rare-classes", self.rare_classes])
