"""Checks that an output file replaces neither an input nor a file of another kind."""

from __future__ import annotations

import csv
import os
import stat
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from zipfile import ZipFile

from calibrant._core.files import check_writable
from calibrant._core.phrases import capitalize

STANDARD_STREAM = "-"
# Number of leading bytes that show what a file holds.
SAMPLE_BYTES = 4096
DELIMITERS = ",;\t"


class OutputKind(StrEnum):
    """What a command writes. The values are words for error messages."""

    table = "table"
    workbook = "Excel workbook"
    model = "model"
    page = "web page"
    record = "JSON record"
    onnx = "ONNX model"


# Kinds that may be written to standard output.
STREAMED = (OutputKind.table, OutputKind.record)
# A key of every JSON record that calibrant writes: the version.
RECORD_KEY = '"calibrant"'
CERTAIN_TABLES = frozenset({".csv", ".tsv"})
TABLE_SUFFIXES = CERTAIN_TABLES | {".txt", ""}
WORKBOOK_SUFFIX = ".xlsx"
PAGE_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
MODEL_SUFFIX = ".skops"
ONNX_SUFFIX = ".onnx"
MODEL_SUFFIXES = frozenset({MODEL_SUFFIX, ONNX_SUFFIX})
# The first byte of ONNX models, the tag of their format version, and who wrote them.
ONNX_START, ONNX_PRODUCER = b"\x08", b"calibrant"
RECORD_SUFFIX = ".json"
# Suffixes of data files, none of which a model or a page should be given.
DATA_SUFFIXES = CERTAIN_TABLES | {
    WORKBOOK_SUFFIX,
    RECORD_SUFFIX,
    *(".xls", ".xlsm", ".ods", ".parquet", ".pq", ".arff", ".jsonl", ".ndjson", ".gz"),
}
FORBIDDEN_SUFFIXES = {
    OutputKind.model: DATA_SUFFIXES | PAGE_SUFFIXES | {ONNX_SUFFIX},
    OutputKind.page: DATA_SUFFIXES | MODEL_SUFFIXES,
    OutputKind.record: (DATA_SUFFIXES - {RECORD_SUFFIX}) | PAGE_SUFFIXES | MODEL_SUFFIXES,
    OutputKind.onnx: DATA_SUFFIXES | PAGE_SUFFIXES | {MODEL_SUFFIX},
}
USUAL_SUFFIX = {
    OutputKind.model: MODEL_SUFFIX,
    OutputKind.page: ".html",
    OutputKind.record: RECORD_SUFFIX,
    OutputKind.onnx: ONNX_SUFFIX,
}


def check_output(
    path: str | Path,
    kind: OutputKind,
    *,
    inputs: Iterable[str | Path | None] = (),
    outputs: Iterable[str | Path | None] = (),
) -> None:
    """Check that a file may be written, before any work is done.

    Parameters
    ----------
    path : str or Path
        The file to write; "-" means standard output, if it is a table or a record.
    kind : OutputKind
        What will be written to it. A table with the suffix ".xlsx" is a workbook.
    inputs : iterable of str, Path or None
        The files that the command reads; "-" means standard input, and ``None`` is skipped.
    outputs : iterable of str, Path or None
        The other files that the command writes; ``None`` is skipped.

    Raises
    ------
    ValueError
        If the file cannot be written, if it is also an input or another output by any path or
        link, if its suffix belongs to another kind, or if it exists and is of another kind.
    """
    streams = kind in STREAMED and str(path) == STANDARD_STREAM
    for source in inputs:
        if source is not None and _is_same(path, source, streams=streams):
            is_other_path = str(path) != str(source)
            same = (
                f" and {_name(source, 'input')} are the same file" if is_other_path else " is one"
            )
            raise ValueError(
                f"The output must not replace an input. {_name(path, 'output')}{same}. "
                "Choose another name for the output."
            )
    if streams:
        return
    kind = _check_suffix(Path(path), kind)
    target = check_writable(path)
    if any(other is not None and Path(other).resolve() == target for other in outputs):
        raise ValueError(
            f"Every output must have a file of its own. {path} is given for two of them. "
            "Choose another name for one of them."
        )
    found = _identify(target)
    if found and found != kind:
        raise ValueError(
            f"The output must not replace a file of another kind. {path} is {_article(found)}, and "
            f"{_article(kind)} would replace it. Choose another name, or remove the file first."
        )


def _check_suffix(path: Path, kind: OutputKind) -> OutputKind:
    """Return the kind of an output after checking that its suffix is one of that kind."""
    suffix = path.suffix.lower()
    if kind is OutputKind.table:
        if suffix == WORKBOOK_SUFFIX:
            return OutputKind.workbook
        if suffix not in TABLE_SUFFIXES:
            raise ValueError(
                "A table must be written to a file with the suffix .csv, .tsv or .xlsx, got "
                f"{path}. Change the suffix."
            )
    elif suffix in FORBIDDEN_SUFFIXES[kind]:
        raise ValueError(
            f"{capitalize(_article(kind))} must not be written to a file with the suffix {suffix}, "
            f"got {path}. "
            f"Give it the suffix {USUAL_SUFFIX[kind]}."
        )
    return kind


def _is_same(output: str | Path, source: str | Path, *, streams: bool) -> bool:
    """Whether an output and an input are the same file; devices and pipes are not files."""
    try:
        written = os.fstat(sys.stdout.fileno()) if streams else os.stat(output)
        from_stdin = str(source) == STANDARD_STREAM
        read = os.fstat(sys.stdin.fileno()) if from_stdin else os.stat(source)
    except (OSError, ValueError):  # there is no such file, or the stream is not a file
        return False
    return stat.S_ISREG(written.st_mode) and os.path.samestat(written, read)


def _identify(path: Path) -> str:
    """Say what an existing file holds; an empty text if nothing would be lost."""
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            start = file.read(SAMPLE_BYTES)
    except OSError:
        return "file that cannot be read"
    if not start.strip():
        return ""
    if start.startswith(b"PK"):
        return _identify_archive(path)
    suffix = path.suffix.lower()
    if start.startswith(ONNX_START) and (suffix == ONNX_SUFFIX or ONNX_PRODUCER in start):
        return OutputKind.onnx
    is_text = b"\0" not in start
    text = start.decode("utf-8-sig", errors="replace")
    lines = text.splitlines()
    if len(start) == SAMPLE_BYTES:
        lines.pop()  # it may be cut off
    begins_like_page = text.lstrip().lower().startswith(("<!doctype html", "<html"))
    if begins_like_page or (is_text and suffix in PAGE_SUFFIXES):
        return OutputKind.page
    if text.lstrip().startswith("{") and RECORD_KEY in text:
        return OutputKind.record
    if suffix in CERTAIN_TABLES or (is_text and _is_delimited(lines)):
        return OutputKind.table
    return "file of another kind"


def _identify_archive(path: Path) -> str:
    try:
        with ZipFile(path) as archive:
            names = set(archive.namelist())
    except Exception:  # a damaged archive can fail in any way
        return "zip file"
    if "schema.json" in names:
        return OutputKind.model
    return OutputKind.workbook if "xl/workbook.xml" in names else "zip file"


def _is_delimited(lines: list[str]) -> bool:
    """Whether all lines have the same number of cells, at least two."""
    for mark in DELIMITERS:
        try:
            widths = {len(record) for record in csv.reader(lines, delimiter=mark) if record}
        except csv.Error:
            continue
        if len(widths) == 1 and widths.pop() > 1:
            return True
    return False


def _name(path: str | Path, stream: str) -> str:
    return f"standard {stream}" if str(path) == STANDARD_STREAM else str(path)


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOU' else 'a'} {noun}"
