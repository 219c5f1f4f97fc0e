"""Files -> tables, or an error of one line that tells what is wrong with the file.

Cells of text files stay the text that was written. What a column holds is decided in
`calibrant.tabular.columns`, so that it does not depend on the format of the file.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from pathlib import Path
from zipfile import ZipFile

import pandas as pd

from calibrant.tabular.arff import parse_arff
from calibrant.tabular.data_files import DataFile, check_unpacked
from calibrant.tabular.delimited import parse_delimited
from calibrant.tabular.encodings import decode_text, find_encoding
from calibrant.tabular.excel import parse_excel
from calibrant.tabular.json_records import looks_like_records, parse_json
from calibrant.tabular.missing import MissingMarks
from calibrant.tabular.parquet import parse_parquet
from calibrant.tabular.reading import add_notices, set_reading
from calibrant.tabular.schema import Notice

ZIP_START = b"PK\x03\x04"
# First bytes of other files that are not text: their kind, and what to do with them.
BINARY_STARTS = {
    b"\xd0\xcf\x11\xe0": (
        "a spreadsheet in the old .xls format or with a password",
        "Save it as .xlsx without a password, or as CSV.",
    ),
    b"%PDF": ("a PDF file", "Save the table as CSV."),
    b"PAR1": ("a Parquet file", "Give it the suffix .parquet."),
}
# Members of zip archives that are not tables.
ARCHIVES = {
    "schema.json": ("a saved model", "Give the data file instead."),
    "content.xml": ("an OpenDocument file", "Save the table as .xlsx or CSV."),
    "word/document.xml": ("a Word document", "Save the table as .xlsx or CSV."),
}
EXCEL_MEMBER = "xl/workbook.xml"
# How a web page begins, in lower case. It is often an error message in place of a download.
PAGE_STARTS = ("<!doctype html", "<html")
EXCEL_SUFFIXES = frozenset({".xlsx", ".xlsm"})
JSON_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
PARQUET_SUFFIXES = frozenset({".parquet", ".pq"})
ARFF_SUFFIX = ".arff"
OTHER_SUFFIXES = EXCEL_SUFFIXES | JSON_SUFFIXES | PARQUET_SUFFIXES | {ARFF_SUFFIX}
# Bytes that tell delimited text from other files.
START_BYTES = 2**16


def read_table(
    source: str | Path,
    *,
    expected: Collection[str] = (),
    sheet: str | None = None,
    missing: Sequence[str] = (),
) -> pd.DataFrame:
    r"""Read a table from a CSV, TSV, Excel, JSON, Parquet or ARFF file.

    Parameters
    ----------
    source : str or Path
        The file. Its suffix determines the format; files with an unknown suffix are read as CSV.
        "-" reads CSV, TSV or JSON from standard input. Cells of CSV are separated by commas,
        semicolons, tabs or spaces. Text files may be compressed, with the suffix ".gz".
    expected : collection of str
        Names of columns that the table should have. A first line that has them all is taken
        for column names, even if it looks like data.
    sheet : str, default=None
        Name or number of the sheet of an Excel workbook. ``None`` means the first with a table.
    missing : sequence of str
        Values that stand for missing values, besides the usual markers. "age=999" declares a value
        missing in one column.

    Returns
    -------
    DataFrame
        Columns of numbers, or of text without surrounding spaces, with NaN where a value is
        missing. All columns of CSV and TSV files are text. The index, named "line" or "row",
        tells where a row is in the file. What was decided or changed is in the notices of
        `calibrant.tabular.reading.get_reading`.

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
    return read_file(DataFile(source), expected=expected, sheet=sheet, missing=missing)


def read_file(
    file: DataFile,
    *,
    expected: Collection[str] = (),
    sheet: str | None = None,
    missing: Sequence[str] = (),
) -> pd.DataFrame:
    """Read a table from a data file, as `read_table` does."""
    data, name = file.read(), file.name
    _check_content(data, name)
    members = _list_archive(data, name)
    is_excel = members is not None and EXCEL_MEMBER in members
    if sheet is not None and not is_excel:
        raise ValueError(
            f"sheet must be given for Excel workbooks only, but {name} is not one. Leave it out."
        )
    if members is not None and not is_excel:
        known = [found for member, found in ARCHIVES.items() if member in members]
        kind, remedy = known[0] if known else ("a zip file", "Unpack it first.")
        raise ValueError(f"{name} must be a table, but it is {kind}. {remedy}")
    table = (
        parse_excel(data, name, sheet, expected)
        if is_excel
        else _parse(data, name, file.suffix, expected)
    )
    check_row_count(len(table), name)
    marks = MissingMarks([str(column) for column in table.columns], missing)
    table = marks.clear(table)
    add_notices(table, marks.describe())
    options = [] if sheet is None else [f"--sheet={sheet}"]
    options += [f"--missing={value}" for value in missing]
    set_reading(table, missing=marks.missing, options=tuple(options))
    return table


def check_row_count(n_rows: int, name: str) -> None:
    """Raise an error if a table has no rows."""
    if n_rows == 0:
        raise ValueError(
            f"{name} must have rows, but it has only column names. Check that it was saved."
        )


def find_delimited_text(file: DataFile) -> tuple[str, tuple[Notice, ...]] | None:
    """Return the encoding of a file of delimited text, and notices on it; None if it is another.

    Parameters
    ----------
    file : DataFile
        The file.

    Raises
    ------
    ValueError
        If the file cannot be read, or if it is not text.
    """
    with file.one_error():
        with file.open() as content:
            start = content.read(START_BYTES)
        is_binary = start.startswith((ZIP_START, *BINARY_STARTS)) or not start.strip()
        if is_binary or file.suffix in OTHER_SUFFIXES:
            return None
        codec, notices = find_encoding(file.open, file.name)
    text = start.decode(codec, errors="ignore").lstrip()
    is_other = not text or text.lower().startswith(PAGE_STARTS) or looks_like_records(text)
    return None if is_other else (codec, notices)


def find_delimiter(suffix: str) -> str | None:
    """Return the delimiter that the suffix of a file tells, if any."""
    return "\t" if suffix in {".tsv", ".tab"} else None


def _parse(data: bytes, name: str, suffix: str, expected: Collection[str]) -> pd.DataFrame:
    if suffix in PARQUET_SUFFIXES:
        return parse_parquet(data, name)
    for start, (kind, remedy) in BINARY_STARTS.items():
        if data.startswith(start):
            raise ValueError(f"{name} must be a table, but it is {kind}. {remedy}")
    if suffix in EXCEL_SUFFIXES:
        raise ValueError(
            f"{name} must be an Excel workbook, as its suffix says, but it is not one. "
            "If it is CSV, give it the suffix .csv."
        )
    text, notices = decode_text(data, name)
    _check_content(text, name)
    if text.lstrip().lower().startswith(PAGE_STARTS):
        raise ValueError(
            f"{name} must be a table, but it is a web page. Download the table itself, or save it "
            "as CSV."
        )
    if suffix == ARFF_SUFFIX:
        table = parse_arff(text, name)
    elif suffix in JSON_SUFFIXES or looks_like_records(text):
        table = parse_json(text, name)
    else:
        table = parse_delimited(text, name, find_delimiter(suffix), expected)
    add_notices(table, notices)
    return table


def _check_content(content: bytes | str, name: str) -> None:
    if not content.strip():
        raise ValueError(f"{name} must hold a table, but it is empty. Check that it was saved.")


def _list_archive(data: bytes, name: str) -> set[str] | None:
    """Return the names in a zip archive, or None if the content is not one."""
    if not data.startswith(ZIP_START):
        return None
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except Exception:  # a damaged archive can fail in any way
        return set()
    check_unpacked(sum(member.file_size for member in members), name)
    return {member.filename for member in members}


def is_workbook(source: str | Path) -> bool:
    """Return whether a file is an Excel workbook, going by its content."""
    try:
        with ZipFile(source) as archive:
            return EXCEL_MEMBER in archive.namelist()
    except Exception:  # no such file, another kind of file, or a damaged archive
        return False
