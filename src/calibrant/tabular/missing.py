"""Missing values: the markers that stand for them, and values that the user declares missing.

Some markers stand for a missing value in any column. Others do so among numbers only: "none" or
"unknown" may well be a category, and "-" is one beside "+".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calibrant._core.phrases import count
from calibrant.tabular.cells import as_cells, as_number, as_text, is_missing, is_number
from calibrant.tabular.phrases import list_names, shorten
from calibrant.tabular.schema import Notice

# In lower case. Those that begin with "#" are errors in a spreadsheet.
MARKS = frozenset(
    {"?", "na", "n/a", "n.a.", "nan", "null", "<na>"}
    | {"#n/a", "#null!", "#value!", "#div/0!", "#ref!", "#num!", "#name?"}
)
DASHES_AND_DOTS = frozenset({".", "..", "-", "--", "---", "\u2013", "\u2014"})
WORDS = frozenset(
    {"none", "missing", "unknown", "unk", "undefined", "nd", "n.d.", "not available"}
    | {"not applicable", "not known", "not recorded", "not done", "not determined"}
)
NUMBER_MARKS = MARKS | DASHES_AND_DOTS | WORDS
# A dash is the opposite of this, not a marker, in a column that has both.
PLUS = "+"
MOST_MARKS = 8


class MissingMarks:
    """Missing-value markers of a table, which is looked at in one or several parts.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    declared : sequence of str
        Values that the user declared missing, each for all columns or, as in "age=999", for one.

    Attributes
    ----------
    missing : dict of str to tuple of str
        The declared values, by column.
    """

    def __init__(self, names: Sequence[str], declared: Sequence[str]) -> None:
        values = {name: _values_for(name, declared, names) for name in names}
        self.missing = {name: held for name, held in values.items() if held}
        self._declared = declared
        self._found: dict[str, Counter[str]] = {name: Counter() for name in names}
        self._used: set[str] = set()

    def clear(self, table: pd.DataFrame) -> pd.DataFrame:
        """Replace missing-value markers by NaN, and count them.

        Parameters
        ----------
        table : DataFrame
            Rows as parsed.

        Returns
        -------
        DataFrame
            The rows with NaN where a value is missing.
        """
        changed: dict[str, list[Any]] = {}
        for name, found in self._found.items():
            cells = table[name].tolist()
            if marks := self._find(name, Counter(cells), found):
                changed[name] = [np.nan if cell in marks else cell for cell in cells]
        table = table.copy()
        for name, cells in changed.items():
            table[name] = pd.Series(as_cells(cells), index=table.index, dtype=object)
        return table

    def describe(self) -> list[Notice]:
        """Say which markers and values were found, and which declared values were not."""
        notices = describe_marks(self._found)
        if absent := [value for value in self._declared if value.strip() not in self._used]:
            notices.append(
                Notice(
                    "missing",
                    f"No cell holds {list_names(absent)}, which you declared missing. Check the "
                    "spelling.",
                )
            )
        return notices

    def _find(self, name: str, n_cells: Mapping[Any, int], found: Counter[str]) -> set[Any]:
        """Return the cells of a column that stand for missing values."""
        declared_as = _make_lookup(self.missing.get(name, ()))
        marks = set()
        for cell, n_same in n_cells.items():
            if is_missing(cell):
                continue
            value = declared_as(cell)
            if value is None and not (isinstance(cell, str) and cell.casefold() in MARKS):
                continue
            if value is not None:
                self._used |= {value, f"{name}={value}"}
            found[as_text(cell)] += n_same
            marks.add(cell)
        return marks


def describe_marks(found: Mapping[str, Mapping[str, int]]) -> list[Notice]:
    """Say which markers are read as missing values, and where.

    Parameters
    ----------
    found : mapping of str to mapping of str to int
        Number of cells by column and marker.

    Returns
    -------
    list of Notice
        One notice, or none if there are no markers.
    """
    places: dict[str, dict[str, int]] = defaultdict(dict)
    for name, n_cells in found.items():
        for mark, n_same in n_cells.items():
            places[mark][name] = n_same
    if not places:
        return []
    by_size = sorted(places.items(), key=lambda item: -sum(item[1].values()))
    phrases = [
        f"{shorten(mark)} ({count(sum(columns.values()), 'cell')} {_locate_in(list(columns))})"
        for mark, columns in by_size[:MOST_MARKS]
    ]
    more = len(by_size) - MOST_MARKS
    tail = f" and {more} more" if more > 0 else ""
    return [Notice("missing", f"Read as missing values: {', '.join(phrases)}{tail}.")]


def is_number_mark(text: str) -> bool:
    """Whether a text stands for a missing value in a column of numbers."""
    return text.casefold() in NUMBER_MARKS


def is_text_sign(text: str) -> bool:
    """Whether a text in a column of text may stand for a missing value, or shows what does."""
    return text in DASHES_AND_DOTS or text == PLUS


def find_text_marks(texts: Collection[str]) -> set[str]:
    """Return the texts that stand for missing values in a column of text."""
    if PLUS in texts:
        return set()
    return {text for text in texts if text in DASHES_AND_DOTS}


def find_words(texts: Iterable[str]) -> list[str]:
    """Return the texts that may stand for missing values, but may also be categories."""
    return sorted({text for text in texts if text.casefold() in WORDS})


def clear_declared(cells: Iterable[Any], values: tuple[str, ...]) -> list[Any]:
    """Return the cells of a column with NaN in place of values that were declared missing."""
    if not values:
        return list(cells)
    declared_as = _make_lookup(values)
    return [
        np.nan if not is_missing(cell) and declared_as(cell) is not None else cell for cell in cells
    ]


def _values_for(name: str, declared: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the values declared missing in all columns, or in the column of a name."""
    values = []
    for given in declared:
        column, equals, value = given.partition("=")
        if not (equals and column in names):
            values.append(given.strip())
        elif column == name:
            values.append(value.strip())
    return tuple(values)


def _make_lookup(values: tuple[str, ...]) -> Callable[[Any], str | None]:
    """Return a function from a cell to the declared value that it equals, if any."""
    texts = {value.casefold(): value for value in values}
    numbers = {as_number(value): value for value in values if is_number(value)}

    def find(cell: Any) -> str | None:
        if isinstance(cell, str) and cell.casefold() in texts:
            return texts[cell.casefold()]
        return numbers.get(as_number(cell)) if numbers else None

    return find


def _locate_in(names: Sequence[str]) -> str:
    return f"in {names[0]!r}" if len(names) == 1 else f"in {count(len(names), 'column')}"
