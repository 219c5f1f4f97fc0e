"""Spaces around cells, which are removed, with a notice where this makes values the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from calibrant.tabular.cells import is_number
from calibrant.tabular.phrases import shorten
from calibrant.tabular.schema import Notice

# A notice names this many columns.
MOST_COLUMNS = 5


def describe_spaces(columns: Mapping[str, Iterable[Any]]) -> list[Notice]:
    """Name columns in which values differ only in surrounding spaces.

    Parameters
    ----------
    columns : mapping of str to iterable
        Cells as in the file, by column. Numbers and cells without text are not considered.

    Returns
    -------
    list of Notice
        One notice, or none if there are no such values.
    """
    examples = []
    for name, cells in columns.items():
        spellings: dict[str, set[str]] = defaultdict(set)
        for cell in cells:
            if isinstance(cell, str) and cell.strip() and not is_number(cell.strip()):
                spellings[cell.strip()].add(cell)
        differing = [sorted(found) for found in spellings.values() if len(found) > 1]
        if differing:
            first, second = differing[0][:2]
            examples.append(f"{name!r} ({shorten(first)} and {shorten(second)})")
    if not examples:
        return []
    more = len(examples) - MOST_COLUMNS
    tail = f" and {more} more" if more > 0 else ""
    return [
        Notice(
            "file",
            "Spaces around values were removed, so values that differed only in spaces are now "
            f"the same: {', '.join(examples[:MOST_COLUMNS])}{tail}.",
        )
    ]
