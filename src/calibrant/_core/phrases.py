"""Phrases used in messages and in the report."""

from __future__ import annotations


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
