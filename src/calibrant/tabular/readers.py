"""Files -> tables, or an error of one line that tells what is wrong with the file.

Cells of text files stay the text that was written. What a column holds is decided in
`calibrant.tabular.columns`, so that it does not depend on the format of the file.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from calibrant.tabular.arff import parse_arff
from calibrant.tabular.delimited import parse_delimited
from calibrant.tabular.parquet import parse_parquet
from calibrant.tabular.phrases import printable

# First bytes of files that are not text: their kind, and what to do with them.
BINARY_STARTS = {
    b"PK\x03\x04": ("a spreadsheet or a zip file", "Save the table as CSV."),
    b"\xd0\xcf\x11\xe0": ("an old spreadsheet", "Save the table as CSV."),
    b"\x1f\x8b": ("a gzip file", "Unpack it first."),
    b"%PDF": ("a PDF file", "Save the table as CSV."),
    b"PAR1": ("a Parquet file", "Give it the suffix .parquet."),
}


def read_table(source: str | Path, *, expected: Collection[str] = ()) -> pd.DataFrame:
    r"""Read a table from a CSV, TSV, Parquet or ARFF file.

    Parameters
    ----------
    source : str or Path
        The file. Its suffix tells the format, and files with an unknown suffix are read as CSV.
        "-" reads CSV or TSV from standard input. Cells of CSV are separated by commas,
        semicolons or tabs, and the first line names the columns.
    expected : collection of str
        Names of columns that the table should have. A first line that has them all is taken
        for column names, even if it looks like data.

    Returns
    -------
    DataFrame
        Columns of numbers, or of text without surrounding spaces, with NaN where a value is
        missing. All columns of CSV and TSV files are text. The index, named "line" or "row",
        tells where a row is in the file.

    Raises
    ------
    ValueError
        If the file is not such a table. The message is a single line.

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
    name = "standard input" if from_stdin else printable(str(source))
    suffix = "" if from_stdin else Path(source).suffix.lower()
    data = sys.stdin.buffer.read() if from_stdin else _read_bytes(Path(source), name)
    if not data.strip():
        raise ValueError(f"{name} must hold a table, but it is empty. Check that it was saved.")
    if suffix in {".parquet", ".pq"}:
        table = parse_parquet(data, name)
    elif suffix == ".arff":
        table = parse_arff(_decode(data, name), name)
    else:
        delimiter = "\t" if suffix in {".tsv", ".tab"} else None
        table = parse_delimited(_decode(data, name), name, delimiter, expected)
    if len(table) == 0:
        raise ValueError(
            f"{name} must have rows, but it has only column names. Check that it was saved."
        )
    return table


def _read_bytes(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        where = "" if path.is_absolute() else f" in {printable(str(Path.cwd()))}"
        raise ValueError(
            f"{name} must be a file, but there is no such file{where}. Check the spelling."
        ) from None
    except IsADirectoryError:
        raise ValueError(f"{name} must be a file, but it is a folder. Name a file in it.") from None
    except PermissionError:
        raise ValueError(
            f"{name} must be readable, but you do not have permission to read it. "
            "Ask its owner for permission or for a copy."
        ) from None
    except OSError as error:
        raise ValueError(
            f"{name} must be readable, but reading it failed: {error.strerror}. Check the path."
        ) from None


def _decode(data: bytes, name: str) -> str:
    for start, (kind, remedy) in BINARY_STARTS.items():
        if data.startswith(start):
            raise ValueError(f"{name} must be a text file, but it is {kind}. {remedy}")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{name} must be UTF-8 text, but it is UTF-16. Save it as UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in data:
            raise _not_text(name) from None
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{name} must be UTF-8 text, but line {line} contains the byte "
            f"0x{data[error.start]:02x} of another encoding. Save it as UTF-8."
        ) from None
    if "\0" in text:
        raise _not_text(name)
    return text


def _not_text(name: str) -> ValueError:
    return ValueError(
        f"{name} must be a CSV, TSV, Parquet or ARFF file, but it contains bytes that are not "
        "text. Save the table as CSV."
    )
