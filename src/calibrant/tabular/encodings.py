"""Bytes -> text: UTF-8, UTF-16, or what Windows programs wrote before either."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

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
    for encoding, codec in _candidates(data):
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        if "\0" in text or (encoding != "UTF-8" and CONTROL_CHARACTER.search(text)):
            break
        return text, _describe(encoding, text, name)
    raise ValueError(
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


def _describe(encoding: str, text: str, name: str) -> tuple[Notice, ...]:
    if encoding == "UTF-8":
        return ()
    found = FOREIGN_WORD.search(text)
    example = f", for example {shorten(found[0])}" if found else ""
    advice = "" if encoding == "UTF-16" else " If letters look wrong, save the file as UTF-8."
    return (Notice("file", f"{name} is not UTF-8 and was read as {encoding}{example}.{advice}"),)
