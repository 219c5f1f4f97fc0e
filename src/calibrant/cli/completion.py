"""Shell completion of column names, read from the data file given earlier on the line."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

import typer

# A first line beyond this is not read: completion must answer at once.
LONGEST_HEADER = 1_000_000
# Formats whose first line names the columns. The others take as long as reading the file.
TEXT_SUFFIXES = {"", ".csv", ".tsv", ".tab", ".txt"}

# Stands for bytes that are not UTF-8.
REPLACED = "\N{REPLACEMENT CHARACTER}"
SPECIAL = re.compile(r"[^\w@%+=:,./-]")


def complete_columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the columns that begin with what was typed."""
    data = ctx.params.get("data")
    if not isinstance(data, str) or data == "-":
        return []
    return [_escape(name) for name in _read_columns(Path(data)) if name.startswith(incomplete)]


def complete_assignments(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the columns that begin with what was typed, each with an equals sign."""
    return [f"{name}=" for name in complete_columns(ctx, incomplete)]


def _escape(name: str) -> str:
    """Escape a name for bash, which takes suggestions as they are; other shells escape them."""
    is_bash = os.environ.get("_CALIBRANT_COMPLETE") == "complete_bash"
    return SPECIAL.sub(r"\\\g<0>", name) if is_bash else name


def _read_columns(path: Path) -> list[str]:
    """Return the column names of a file; none if it cannot be read."""
    try:
        if path.suffix.lower() in TEXT_SUFFIXES:
            names = _read_first_line(path)
            if all(name.isprintable() and REPLACED not in name for name in names):
                return names
        from calibrant.tabular import read_table

        return [str(name) for name in read_table(path).columns]
    except Exception:  # an error would be printed among the suggestions
        return []


def _read_first_line(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        line = file.readline(LONGEST_HEADER)
    delimiter = max(",;\t", key=line.count)
    return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
