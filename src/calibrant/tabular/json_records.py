"""JSON -> tables: a list of records, or one record per line."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd

from calibrant.tabular.cells import as_cells, as_table
from calibrant.tabular.headers import check_column_count, check_distinct_names
from calibrant.tabular.phrases import list_names
from calibrant.tabular.reading import add_notices
from calibrant.tabular.schema import Notice
from calibrant.tabular.spaces import describe_spaces

# How the text of records begins, whatever the suffix of their file.
RECORDS = re.compile(r'\s*(?:\[\s*)?\{\s*"')


def looks_like_records(text: str) -> bool:
    """Whether a text begins like JSON records."""
    return RECORDS.match(text) is not None


def parse_json(text: str, source: str) -> pd.DataFrame:
    """Parse JSON records.

    Parameters
    ----------
    text : str
        A JSON list of objects, or one object per line.
    source : str
        Name of the file, for messages.

    Returns
    -------
    DataFrame
        Numbers as numbers, all other values as text, NaN where a record has no value. Indexed by
        the numbers of the records, or of the lines if there is one record per line.
    """
    records = _parse_records(text, source)
    names = list(dict.fromkeys(name for _, record in records for name in record))
    check_column_count(len(names), source)
    check_distinct_names([name.strip() for name in names], source)
    columns = {
        name.strip(): as_cells(_read_value(record.get(name)) for _, record in records)
        for name in names
    }
    word = "line" if records and _has_lines(text) else "row"
    table = as_table(columns, pd.Index([number for number, _ in records], name=word))
    nested = [
        name
        for name in names
        if any(isinstance(record.get(name), dict | list) for _, record in records)
    ]
    add_notices(
        table,
        describe_spaces({name: [record.get(name) for _, record in records] for name in names}),
    )
    if nested:
        add_notices(
            table,
            [Notice("file", f"Lists and objects in {list_names(nested)} were read as text.")],
        )
    return table


def _has_lines(text: str) -> bool:
    return text.lstrip().startswith("{")


def _parse_records(text: str, source: str) -> list[tuple[int, dict[str, Any]]]:
    try:
        if _has_lines(text):
            lines = enumerate(text.split("\n"), start=1)
            numbered = [(number, json.loads(line)) for number, line in lines if line.strip()]
        else:
            numbered = list(enumerate(json.loads(text), start=1))
    except (ValueError, TypeError, RecursionError) as error:
        where = f" ({error})" if isinstance(error, ValueError) else ""
        raise ValueError(
            f"{source} must be a JSON list of records or have one record per line, but it cannot "
            f"be read as such{where}. Save the table as records, or as CSV."
        ) from None
    for number, record in numbered:
        if not isinstance(record, dict):
            raise ValueError(
                f"Every record of {source} must hold one value per column, but record "
                f"{number} is not an object. Save the table as records, or as CSV."
            )
    if _has_lines(text) and len(numbered) == 1:
        _check_flat(numbered[0][1], source)
    return numbered


def _check_flat(record: dict[str, Any], source: str) -> None:
    """Refuse a single object that holds a table in another form, such as one list per column."""
    nested = [name for name, value in record.items() if isinstance(value, dict | list)]
    if nested:
        raise ValueError(
            f"{source} must be a JSON list of records or have one record per line, but it is a "
            f"single object with lists or objects in {list_names(nested)}. Save the table as "
            "records, or as CSV."
        )


def _read_value(value: Any) -> Any:
    if value is None:
        return np.nan
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return float(value)
    return str(value).strip() or np.nan
