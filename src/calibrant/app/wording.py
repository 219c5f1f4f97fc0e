"""Words on pages: durations, and texts of the command line without its options."""

from __future__ import annotations

import re

from calibrant._core.phrases import count

# Texts that tell users of the command line which option to use, and what pages say instead.
REPLACEMENTS = (
    (re.compile(r" \((?:'--(?:ignore|groups)=[^']*'|--(?:ignore|groups)(?:=[^)]*)?)\)"), ""),
    (re.compile(r"choose one with --sheet"), "you can choose another one below"),
    (re.compile(r"use --merge-case"), "merge them"),
    (re.compile(r"use --rare-classes merge or --rare-classes drop"), "merge or drop rare classes"),
    (re.compile(r"use --rare-classes drop"), "drop rare classes"),
    (re.compile(r"use --missing(?=\.|$)"), "declare them missing"),
    (re.compile(r"(declare (?:it|them) missing) with --missing"), r"\1"),
    (re.compile(r"use calibrant calibrate --logits"), "turn them into probabilities first"),
)
VALUES = re.compile(r"use ((?:--missing (?:'[^']*'|[^\s']+?)(?: |(?=\.$|\.\s|$)))+)")


def without_options(text: str) -> str:
    """Return a text with advice for pages in place of options of the command line."""
    for pattern, words in REPLACEMENTS:
        text = pattern.sub(words, text)
    return VALUES.sub(_list_values, text)


def _list_values(found: re.Match[str]) -> str:
    values = [value.strip(" '") for value in found[1].split("--missing ") if value]
    return f"add {', '.join(values)} to the missing values"


def describe_seconds(seconds: float) -> str:
    """Return a duration in words, rounded as an estimate is."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 55:
        return count(5 * round(seconds / 5), "second")
    if seconds < 55 * 60:
        return count(max(round(seconds / 60), 1), "minute")
    return count(max(round(seconds / 3600), 1), "hour")
