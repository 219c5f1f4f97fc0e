"""Phrases of error messages and notices: lists of names, similar names, places in a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

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


def find_similar(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that a misspelled name may stand for, most similar first.

    Names that differ only in case, spaces and punctuation come alone.

    Parameters
    ----------
    name : str
        The name that was not found.
    names : iterable of str
        The names to choose from.
    most : int, default=3
        The largest number of names to return.

    Examples
    --------
    >>> find_similar("Body mass", ["body_mass", "body_fat"]), find_similar("agee", ["age", "sex"])
    (['body_mass'], ['age'])
    """
    simple: dict[str, list[str]] = {}
    for other in names:
        simple.setdefault(_simplify(other), []).append(other)
    key = _simplify(name)
    matches = [key] if key in simple else get_close_matches(key, simple, n=most)
    return [other for match in matches for other in simple[match]][:most]


def suggest(name: str, names: Sequence[str]) -> str:
    """Return a sentence that says what to write instead of a name that was not found."""
    similar = find_similar(name, names)
    if similar:
        return f"Did you mean {' or '.join(repr(other) for other in similar)}?"
    return f"Choose one of {list_names(names)}."


def _simplify(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold())) or name
