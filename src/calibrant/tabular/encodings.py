"""Bytes -> text: UTF-8, UTF-16, or what Windows programs wrote before either."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from calibrant.tabular.phrases import shorten
from calibrant.tabular.schema import Notice

UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Bytes to look at for the zero bytes of UTF-16 without a mark, and the proportion expected: the
# other half of each character of European text is zero.
SAMPLE_BYTES = 2000
ZERO_PROPORTION = 0.7
# Windows-1252 leaves five bytes undefined; in Latin-1, they are invisible control characters.
OLD_ENCODINGS = {"Windows-1252": "cp1252", "Latin-1": "latin-1"}
# Characters that text does not contain. Valid UTF-8 is text unless it contains the first of them.
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f]")
NULL_CHARACTER = re.compile(r"\x00")
FOREIGN_WORD = re.compile(r"[^\s,;\"]*[^\x00-\x7f][^\s,;\"]*")


def decode_text(data: bytes, name: str) -> tuple[str, tuple[Notice, ...]]:
    """Decode the content of a text file.

    Parameters
    ----------
    data : bytes
        The content.
    name : str
        Name of the file, for messages.

    Returns
    -------
    text : str
        The text.
    notices : tuple of Notice
        One if the text is not in UTF-8, with an example of how it was read.
    """
    codec, notices = find_encoding(lambda: io.BytesIO(data), name)
    return data.decode(codec), notices


def find_encoding(open_file: Callable[[], BinaryIO], name: str) -> tuple[str, tuple[Notice, ...]]:
    """Find the encoding of a text file, which is read line by line.

    Parameters
    ----------
    open_file : callable
        Opens the file from its beginning.
    name : str
        Name of the file, for messages.

    Returns
    -------
    codec : str
        Python's name of the encoding.
    notices : tuple of Notice
        One if the text is not in UTF-8, with an example of how it was read.
    """
    with open_file() as file:
        start = file.read(SAMPLE_BYTES)
    for encoding, codec in _candidates(start):
        forbidden = NULL_CHARACTER if encoding == "UTF-8" else CONTROL_CHARACTER
        word = None
        try:
            with read_lines(open_file, codec) as lines:
                for line in lines:
                    if forbidden.search(line):
                        raise _not_text(name)
                    word = word or (None if line.isascii() else FOREIGN_WORD.search(line))
        except UnicodeDecodeError:
            continue
        return codec, _describe(encoding, word[0] if word else "", name)
    raise _not_text(name)


def read_lines(open_file: Callable[[], BinaryIO], codec: str) -> io.TextIOWrapper:
    """Open a text file; the ends of its lines stay as they are, as `csv` requires."""
    return io.TextIOWrapper(open_file(), codec, newline="")


def _not_text(name: str) -> ValueError:
    return ValueError(
        f"{name} must be a CSV, TSV, Excel, JSON, Parquet or ARFF file, but it contains bytes that "
        "are not text. Save the table as CSV."
    )


def _candidates(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names of encodings for the reader and for Python, most certain first."""
    if data.startswith(UTF_16_MARKS):
        yield "UTF-16", "utf-16"
        return
    start = data[:SAMPLE_BYTES]
    for offset, codec in ((1, "utf-16-le"), (0, "utf-16-be")):
        half = start[offset::2]
        if half and half.count(0) >= ZERO_PROPORTION * len(half):
            yield "UTF-16", codec
            return
    yield "UTF-8", "utf-8-sig"
    yield from OLD_ENCODINGS.items()


def _describe(encoding: str, word: str, name: str) -> tuple[Notice, ...]:
    if encoding == "UTF-8":
        return ()
    example = f", for example {shorten(word)}" if word else ""
    advice = "" if encoding == "UTF-16" else " If letters look wrong, save the file as UTF-8."
    return (Notice("file", f"{name} is not UTF-8 and was read as {encoding}{example}.{advice}"),)
