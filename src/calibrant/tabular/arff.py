"""ARFF files -> tables: numeric, nominal, string and date attributes.

Neither of the existing parsers reads all of these: `scipy.io.arff` lacks string attributes and
quoted commas, and liac-arff, last released in 2020, lacks date attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from calibrant._core.phrases import count
from calibrant.tabular.cells import as_cells, as_number, as_table
from calibrant.tabular.headers import check_column_count

ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(\{.*\}|\S+)""",
    re.IGNORECASE,
)
CELL = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"]*?)\s*(,|$)""")
ESCAPE = re.compile(r"\\(.)")
NUMERIC = {"numeric", "real", "integer"}


def parse_arff(text: str, source: str) -> pd.DataFrame:
    """Parse the text of an ARFF file.

    Parameters
    ----------
    text : str
        The text.
    source : str
        Name of the file, for error messages.

    Returns
    -------
    DataFrame
        Numeric attributes as numbers, all others as text, indexed by line number.
    """
    types: dict[str, str] = {}
    lines: list[int] = []
    rows: list[list[Any]] = []
    in_data = False
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            rows.append(_parse_row(line, types, _error_in(source, number)))
            lines.append(number)
        elif line.lower().startswith("@data"):
            in_data = True
            check_column_count(len(types), source)
        elif line.lower().startswith("@attribute"):
            name, kind = _parse_attribute(line, _error_in(source, number))
            if name in types:
                raise _error_in(source, number)(f"declares the attribute {name!r} again")
            types[name] = kind
    if not in_data:
        raise ValueError(
            f"{source} must be an ARFF file, but it has no @data line. "
            "If it is CSV, give it the suffix .csv."
        )
    columns = zip(*rows, strict=True) if rows else [[] for _ in types]
    return as_table(
        {
            name: np.array(column, dtype=np.float64) if kind in NUMERIC else as_cells(column)
            for (name, kind), column in zip(types.items(), columns, strict=True)
        },
        pd.Index(lines, name="line"),
    )


def _error_in(source: str, line: int) -> Callable[[str], ValueError]:
    """Return a function from what a line does wrong to the error."""

    def make_error(fault: str) -> ValueError:
        return ValueError(
            f"{source} must be a valid ARFF file, but line {line} {fault}. "
            "Correct the line, or save the table as CSV."
        )

    return make_error


def _parse_attribute(line: str, make_error: Callable[[str], ValueError]) -> tuple[str, str]:
    found = ATTRIBUTE.match(line)
    if found is None:
        raise make_error("does not give the name and type of an attribute")
    kind = found[2].lower()
    if kind == "relational":
        raise make_error("declares a relational attribute, which is not supported")
    return _unquote(found[1]), "nominal" if kind.startswith("{") else kind


def _parse_row(
    line: str, types: dict[str, str], make_error: Callable[[str], ValueError]
) -> list[Any]:
    if line.startswith("{"):
        raise make_error("is a sparse row, which is not supported")
    cells, position = [], 0
    while True:
        found = CELL.match(line, position)
        if found is None:
            raise make_error("has an unclosed quotation mark")
        cells.append(found[1])
        position = found.end()
        if not found[2]:
            break
    if len(cells) != len(types):
        raise make_error(f"has {count(len(cells), 'value')} for {count(len(types), 'attribute')}")
    values: list[Any] = []
    for cell, (name, kind) in zip(cells, types.items(), strict=True):
        if cell in {"?", ""}:
            values.append(np.nan)
            continue
        text = _unquote(cell)
        values.append(as_number(text) if kind in NUMERIC else text.strip())
        if values[-1] == np.inf:
            raise make_error(f"has {text!r} for the numeric attribute {name!r}")
    return values


def _unquote(text: str) -> str:
    return ESCAPE.sub(r"\1", text[1:-1]) if text[:1] in {"'", '"'} else text
