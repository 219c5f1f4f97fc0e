"""Rows of predictions that a page shows: filtered, ordered, and not too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

# How many rows a page shows.
MOST_SHOWN = 200
# Positions of the predicted class and its probability among the cells of a row.
CLASS, PROBABILITY = 0, 1


@dataclass(frozen=True)
class Filter:
    """Which rows to show.

    Attributes
    ----------
    predicted : str
        The predicted class. Empty means any.
    least : float
        The smallest probability of the predicted class, in percent.
    text : str
        A text that some cell contains, in any case. Empty means any.
    order : str
        "sure" or "unsure" for the rows with the highest or lowest probability first. Empty means
        the order of the file.
    """

    predicted: str = ""
    least: float = 0.0
    text: str = ""
    order: str = ""


class Shown(NamedTuple):
    """The rows to show, each with its place in the file, and how many rows the filter finds."""

    rows: list[tuple[str, Sequence[Any]]]
    n_found: int


def filter_rows(content: Mapping[str, Any], wanted: Filter) -> Shown:
    """Return the rows that a filter asks for.

    Parameters
    ----------
    content : mapping
        The places of the rows in the file ("places"), and their cells ("rows").
    wanted : Filter
        Which rows to show.
    """
    words = wanted.text.casefold()
    rows = [
        (place, row)
        for place, row in zip(content["places"], content["rows"], strict=True)
        if wanted.predicted in ("", row[CLASS])
        and 100 * row[PROBABILITY] >= wanted.least
        and (not words or any(words in str(cell).casefold() for cell in (place, *row)))
    ]
    if wanted.order in ("sure", "unsure"):
        rows.sort(key=lambda item: item[1][PROBABILITY], reverse=wanted.order == "sure")
    return Shown(rows[:MOST_SHOWN], len(rows))
