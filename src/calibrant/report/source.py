"""The data behind a report, and the commands shown on its page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from calibrant.tabular import Schema


@dataclass(frozen=True)
class Commands:
    """Commands that the page suggests, as spelled by the caller.

    Attributes
    ----------
    repeat : sequence of str
        Words of the command that recreates the report. Empty means that there is none.
    fit : callable or None
        Returns the words of the command that fits and saves a model, given the index of the
        model in the evaluation and whether to calibrate it. ``None`` means that there is none.
    """

    repeat: Sequence[str] = ()
    fit: Callable[[int, bool], Sequence[str]] | None = None


@dataclass(frozen=True, eq=False)
class Source:
    """The data behind a report.

    Attributes
    ----------
    title : str
        Name of the data, such as a file name.
    table : DataFrame or None
        The rows of the evaluation. Its index numbers them, and the name of the index says
        what it counts, such as "row" or "line". ``None`` means rows numbered from 1.
    schema : Schema or None
        Columns of the table. ``None`` means that the probabilities were given.
    commands : Commands
        Commands that the page suggests.
    """

    title: str
    table: pd.DataFrame | None = None
    schema: Schema | None = None
    commands: Commands = Commands()

    @property
    def row_word(self) -> str:
        """What the row numbers count: "row" or "line"."""
        return "row" if self.table is None else str(self.table.index.name or "row")

    def row_numbers(self, n_rows: int) -> Sequence[Any]:
        """Return the row numbers known to the reader."""
        return range(1, n_rows + 1) if self.table is None else self.table.index.tolist()

    def cells(self, row: int) -> list[tuple[str, str]]:
        """Return the column names and cells of a row, as text."""
        if self.table is None:
            return []
        from calibrant.tabular.cells import as_text, is_missing  # requires pandas

        names = [str(name) for name in self.table.columns]
        values = self.table.iloc[[row]].to_numpy(dtype=object)[0]
        texts = ["" if is_missing(value) else as_text(value) for value in values]
        return list(zip(names, texts, strict=True))
