"""Weka's ARFF, as far as tables go: numeric, nominal, string and date attributes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from calibrant.tabular.cells import as_cells, as_number, as_table

ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(\{.*\}|\S+)""",
    re.IGNORECASE,
)
CELL = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"]*?)\s*(,|$)""")
ESCAPE = re.compile(r"\\(.)")
NUMERIC = {"numeric", "real", "integer"}


def parse_arff(text: str, name: str) -> pd.DataFrame:
    """Read the text of an ARFF file.

    Parameters
    ----------
    text : str
        The text.
    name : str
        What to call the file in errors.

    Returns
    -------
    DataFrame
        Numeric attributes as numbers, all others as text; the index is the line.
    """
    kinds: dict[str, str] = {}
    numbers: list[int] = []
    rows: list[list[Any]] = []
    in_data = False
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            rows.append(_cells(line, kinds, _refusal(name, number)))
            numbers.append(number)
        elif line.lower().startswith("@data"):
            in_data = True
        elif line.lower().startswith("@attribute"):
            title, kind = _attribute(line, _refusal(name, number))
            if title in kinds:
                raise _refusal(name, number)(f"names the attribute {title!r} again")
            kinds[title] = kind
    if not in_data:
        raise ValueError(
            f"{name} must be an ARFF file. It has no @data line. Name it .csv if it is CSV."
        )
    columns = zip(*rows, strict=True) if rows else [[] for _ in kinds]
    return as_table(
        {
            title: np.array(column, dtype=np.float64) if kind in NUMERIC else as_cells(column)
            for (title, kind), column in zip(kinds.items(), columns, strict=True)
        },
        pd.Index(numbers, name="line"),
    )


def _refusal(name: str, number: int) -> Callable[[str], ValueError]:
    def refuse(said: str) -> ValueError:
        return ValueError(
            f"{name} must be an ARFF file. Line {number} {said}. Correct it, or save it as CSV."
        )

    return refuse


def _attribute(line: str, refuse: Callable[[str], ValueError]) -> tuple[str, str]:
    found = ATTRIBUTE.match(line)
    if found is None:
        raise refuse("names no attribute with a type")
    kind = found[2].lower()
    if kind == "relational":
        raise refuse("has a relational attribute")
    return _unquoted(found[1]), "nominal" if kind.startswith("{") else kind


def _cells(line: str, kinds: dict[str, str], refuse: Callable[[str], ValueError]) -> list[Any]:
    if line.startswith("{"):
        raise refuse("is a sparse row, which is not supported")
    cells, position = [], 0
    while True:
        found = CELL.match(line, position)
        if found is None:
            raise refuse("has a quotation mark that is not closed")
        cells.append(found[1])
        position = found.end()
        if not found[2]:
            break
    if len(cells) != len(kinds):
        raise refuse(f"has {len(cells)} values for {len(kinds)} attributes")
    values: list[Any] = []
    for cell, (title, kind) in zip(cells, kinds.items(), strict=True):
        if cell in {"?", ""}:
            values.append(np.nan)
            continue
        text = _unquoted(cell)
        values.append(as_number(text) if kind in NUMERIC else text.strip())
        if values[-1] == np.inf:
            raise refuse(f"has {text!r} for the number {title!r}")
    return values


def _unquoted(text: str) -> str:
    return ESCAPE.sub(r"\1", text[1:-1]) if text[:1] in {"'", '"'} else text
