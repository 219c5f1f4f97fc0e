"""Typed reading of plain values, such as those of JSON files that may be damaged or forged."""

from __future__ import annotations

from math import isfinite
from typing import Any


def read_text(value: Any) -> str:
    """Return a text; anything else is a TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"Expected a text, got {value!r}.")
    return value


def read_number(value: Any) -> float:
    """Return a finite number as a float; texts and truth values are a TypeError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"Expected a number, got {value!r}.")
    if not isfinite(value):
        raise ValueError(f"Expected a finite number, got {value}.")
    return float(value)


def read_count(value: Any) -> int:
    """Return a whole number of at least 0."""
    number = read_number(value)
    if number < 0 or number != round(number):
        raise ValueError(f"Expected a whole number of at least 0, got {value}.")
    return round(number)


def read_class_count(values: Any) -> tuple[float, ...]:
    """Return the number of rows of each class, which are not all 0."""
    if not isinstance(values, list | tuple):
        raise TypeError(f"Expected a list, got {values!r}.")
    counts = tuple(map(read_number, values))
    if min(counts, default=0.0) < 0 or not sum(counts) > 0:
        raise ValueError(f"Expected numbers of rows, got {list(counts)}.")
    return counts
