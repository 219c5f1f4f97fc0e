"""A file -> a table, or one line that says what is wrong with the file.

Cells of text files stay the text that was written; what a column holds is decided in
`calibrant.tabular.columns`, so that a column means the same in every file.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from calibrant.tabular.arff import parse_arff
from calibrant.tabular.cells import as_cells, as_table, is_number, plain

# What people and programs write where there is no value. "None" is left out: it is the name
# of a class too often.
MISSING = frozenset({"", "?", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"})
# More columns than this are no table to calibrate from few rows.
MOST_COLUMNS = 5000
DELIMITERS = (",", ";", "\t")
# The number of lines by which the delimiter is chosen.
SAMPLE_LINES = 20
LONGEST_CELL = 1_000_000

BINARY_STARTS = {
    b"PK\x03\x04": "a spreadsheet or zip file",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet file",
    b"\x1f\x8b": "a gzip file",
    b"%PDF": "a PDF file",
    b"PAR1": "a Parquet file, which must be named .parquet",
}
# How text that looks like a formula is written: see `calibrant.tabular.writing`.
ESCAPED = re.compile(r"^'(?='*[=+\-@\t\r])")
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?")


def read_table(source: str | Path, *, expected: Collection[str] = ()) -> pd.DataFrame:
    r"""Read a table from a CSV, TSV, Parquet or ARFF file.

    Parameters
    ----------
    source : str or Path
        The file; its suffix says what it is, and other suffixes are read as CSV. "-" is CSV
        or TSV from standard input. Cells of CSV are separated by commas, semicolons or tabs,
        and its first line names the columns.
    expected : collection of str
        Names of columns that are known. A first line that has them all is no data, even if
        it looks like data.

    Returns
    -------
    DataFrame
        Columns of numbers, or of text without surrounding spaces; NaN where a value is
        missing. All columns of CSV and TSV are text. The index says where a row stands: its
        name is "line" or "row".

    Raises
    ------
    ValueError
        If the file is no such table; the message is one line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from calibrant.tabular import read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "beans.csv"
    ...     _ = file.write_text("length,variety\n5.1,seker\n?,bombay\n")
    ...     print(read_table(file))
         length variety
    line
    2       5.1   seker
    3       NaN  bombay
    """
    from_stdin = str(source) == "-"
    name = "standard input" if from_stdin else plain(str(source))
    suffix = "" if from_stdin else Path(source).suffix.lower()
    data = sys.stdin.buffer.read() if from_stdin else _read_bytes(Path(source), name)
    if not data.strip():
        raise ValueError(f"{name} must hold a table. It is empty. Check that it was saved.")
    if suffix in {".parquet", ".pq"}:
        table = _from_parquet(data, name)
    elif suffix == ".arff":
        table = parse_arff(_decode(data, name), name)
    else:
        tabs = suffix in {".tsv", ".tab"}
        table = _from_text(_decode(data, name), name, tabs=tabs, expected=expected)
    _check_count(list(table.columns), name)
    if len(table) == 0:
        raise ValueError(
            f"{name} must hold rows. It has column names and nothing below them. "
            "Check that it was saved."
        )
    return table


def _read_bytes(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ValueError(
            f"{name} must be a file. There is none of that name in {plain(str(Path.cwd()))}. "
            "Check the spelling."
            if not path.is_absolute()
            else f"{name} must be a file. There is none of that name. Check the spelling."
        ) from None
    except IsADirectoryError:
        raise ValueError(f"{name} must be a file. It is a folder. Name a file in it.") from None
    except PermissionError:
        raise ValueError(
            f"{name} must be readable. You have no permission to read it. "
            "Ask its owner, or copy it to a folder of yours."
        ) from None
    except OSError as error:
        raise ValueError(f"{name} must be readable. Got: {error.strerror}. Check it.") from None


def _decode(data: bytes, name: str) -> str:
    for start, kind in BINARY_STARTS.items():
        if data.startswith(start):
            raise ValueError(f"{name} must be a text file. It is {kind}. Save it as CSV.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{name} must be UTF-8 text. It is UTF-16. Save it as CSV in UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in data:
            raise _not_text(name) from None
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{name} must be UTF-8 text. Line {line} has the byte 0x{data[error.start]:02x}, "
            "which is another encoding. Save it as CSV in UTF-8."
        ) from None
    if "\0" in text:
        raise _not_text(name)
    return text


def _not_text(name: str) -> ValueError:
    return ValueError(
        f"{name} must be a text, Parquet or ARFF file. It holds bytes that are not text. "
        "Save the table as CSV."
    )


def _from_text(text: str, name: str, *, tabs: bool, expected: Collection[str]) -> pd.DataFrame:
    delimiter = "\t" if tabs else max(DELIMITERS, key=lambda mark: _agreement(text, mark))
    lines = _records(text, delimiter, name)
    _, header = next(lines, (0, []))
    _check_count(header, name)
    numbers: list[int] = []
    cells: list[list[str]] = []
    for number, record in lines:
        if len(record) != len(header):
            raise ValueError(
                f"{name} must have {len(header)} cells in every line, as many as its first line. "
                f"Line {number} has {len(record)}. Quote cells that hold a separator."
            )
        numbers.append(number)
        cells.append(record)
    columns = [list(column) for column in zip(*cells, strict=True)] or [[] for _ in header]
    if not expected or not set(expected) <= set(header):
        _check_header(header, columns, name)
    titles = [title or f"column {position}" for position, title in enumerate(header, start=1)]
    _check_different(titles, name)
    kept = {
        title: _text_column(column, decimal_comma=delimiter == ";")
        for own, title, column in zip(header, titles, columns, strict=True)
        if own or any(column)  # lines that end in a separator have an empty last column
    }
    return as_table(kept, pd.Index(numbers, name="line"))


def _records(text: str, delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with its line number; records without any text are left out."""
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
        )
        for record in reader:
            stripped = [ESCAPED.sub("", cell.strip()) for cell in record]
            if any(stripped):
                yield reader.line_num, stripped
    except csv.Error as error:
        raise ValueError(
            f"{name} must be CSV. Line {reader.line_num} cannot be read: {error}. "
            "Look for a quotation mark that is not closed."
        ) from None
    finally:
        csv.field_size_limit(limit)


def _agreement(text: str, delimiter: str) -> tuple[int, int]:
    """How many of the first lines a delimiter cuts into as many cells as the header."""
    try:
        lines = [record for _, record in islice(_records(text, delimiter, ""), SAMPLE_LINES)]
    except ValueError:
        return -1, 0
    if not lines or len(lines[0]) < 2:
        return -1, 0
    return sum(len(line) == len(lines[0]) for line in lines), len(lines[0])


def _text_column(cells: list[str], *, decimal_comma: bool) -> np.ndarray:
    values = [np.nan if cell in MISSING else cell for cell in cells]
    texts = [value for value in values if isinstance(value, str)]
    if decimal_comma and all(DECIMAL_COMMA.fullmatch(cell) for cell in texts):
        values = [value.replace(",", ".") if isinstance(value, str) else value for value in values]
    return as_cells(values)


def _check_count(names: list[str], name: str) -> None:
    if len(names) > MOST_COLUMNS:
        raise ValueError(
            f"{name} must have at most {MOST_COLUMNS:,} columns. Got {len(names):,}. "
            "Keep the columns that may tell the classes apart."
        )


def _check_different(names: list[str], name: str) -> None:
    twice = [own for own, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"{name} must have different names for its columns. Got {_short(twice[0])} more than "
            "once. Rename one of them."
        )


def _check_header(header: list[str], columns: list[list[str]], name: str) -> None:
    """Refuse a first line of data: numbers, and words that come again in their own column."""
    n_numbers = sum(is_number(title) for title in header)
    n_recurring = sum(
        title in column and bool(title) and not is_number(title)
        for title, column in zip(header, columns, strict=True)
    )
    if n_numbers + n_recurring == len(header) or (n_numbers and n_recurring):
        start = ", ".join(_short(title) for title in header[:3])
        raise ValueError(
            f"{name} must name its columns in the first line. The first line looks like data: "
            f"{start}, ... Add a line with a name for each of the {len(header)} columns."
        )


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _from_parquet(data: bytes, name: str) -> pd.DataFrame:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ValueError(
            f"{name} needs pyarrow to be read. It is not installed. "
            "Run pip install 'calibrant[parquet]', or save the table as CSV."
        ) from None
    try:
        frame = parquet.read_table(io.BytesIO(data)).to_pandas(ignore_metadata=True)
    except (pa.ArrowException, ValueError, OSError):
        raise ValueError(
            f"{name} must be a Parquet file. It cannot be read as one. Save it again, or as CSV."
        ) from None
    titles = [str(title).strip() for title in frame.columns]
    _check_different(titles, name)
    columns = {
        title: _native_column(frame.iloc[:, position]) for position, title in enumerate(titles)
    }
    return as_table(columns, pd.RangeIndex(1, len(frame) + 1, name="row"))


def _native_column(column: pd.Series) -> np.ndarray:
    """Numbers as numbers, everything else as its text."""
    if pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column):
        missing = column.isna().to_numpy()
        texts = [str(value).strip() for value in column]
        return as_cells([np.nan if gone else own for own, gone in zip(texts, missing, strict=True)])
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
