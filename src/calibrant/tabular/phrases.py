"""Phrases of error messages and notices: lists of names, places in a table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

MOST_NAMES = 8
MOST_CHARACTERS = 40


def list_names(names: Sequence[str]) -> str:
    """Return quoted names, separated by commas; a long list ends in how many are left out.

    Examples
    --------
    >>> list_names(["x", "y"]), list_names("abcdefghij")
    ("'x', 'y'", "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 2 more")
    """
    shown = ", ".join(repr(name) for name in names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return shown if more <= 0 else f"{shown} and {more} more"


def shorten(text: str) -> str:
    """Return a text in quotation marks, cut if it is long."""
    return repr(text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 3] + "...")


def printable(text: str) -> str:
    """Return a text, with escapes if it would not fit on one line of a terminal."""
    return text if text.isprintable() else repr(text)


def locate(index: pd.Index, position: int) -> str:
    """Say where a row is in its file: line 5, or row 4.

    Parameters
    ----------
    index : Index
        Index of a table that `read_table` returned.
    position : int
        Position of the row, from 0.
    """
    return f"{index.name} {index[position]}"
