"""Phrases used in messages and in the report."""

from __future__ import annotations

from collections.abc import Sequence

NBSP = "\N{NO-BREAK SPACE}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> from calibrant._core.phrases import count
    >>> count(1, "row"), count(1200, "row"), count(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def capitalize(text: str) -> str:
    """Capitalize the first letter of a text, leaving the rest unchanged.

    Examples
    --------
    >>> from calibrant._core.phrases import capitalize
    >>> capitalize("naive Bayes")
    'Naive Bayes'
    """
    return text[:1].upper() + text[1:]


def join_phrases(phrases: Sequence[str]) -> str:
    """Join phrases by commas, and the last one by "and".

    Examples
    --------
    >>> from calibrant._core.phrases import join_phrases
    >>> join_phrases(["a"]), join_phrases(["a", "b"]), join_phrases(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *rest, last = phrases
    return f"{', '.join(rest)} and {last}" if rest else last


def percent(fraction: float, digits: int = 0) -> str:
    """Format a fraction as a percentage; only exactly 0 and 1 become 0% and 100%."""
    least = 10.0 ** -(digits + 2)
    if 0 < fraction < least / 2:
        return f"<{NBSP}{100 * least:.{digits}f}%"
    if 1 - least / 2 < fraction < 1:
        return f">{NBSP}{100 * (1 - least):.{digits}f}%"
    return f"{100 * fraction:.{digits}f}%"
