"""Data files as bytes: from a path or standard input, unpacked if they are compressed."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, cast

from calibrant._core.phrases import count
from calibrant.tabular.phrases import printable

GZIP_START = b"\x1f\x8b"
GZIP_SUFFIX = ".gz"
STANDARD_INPUT = "-"
# A file must not unpack to more bytes: a small file can be made to fill the memory.
MOST_UNPACKED = 512 * 2**20
# Text files that take many times their size when all cells are in memory, the bytes from which on
# this is said, and what `calibrant fit` took for a file of 19 MB: results/limits.md.
TEXT_SUFFIXES = frozenset({".csv", ".tsv", ".tab", ".txt"})
LARGE_FILE = 50_000_000
MEMORY_BYTES, MEMORY_PER_BYTE = 200e6, 18.0
SECONDS_PER_MEGABYTE = 2.0


class _Unpacked(gzip.GzipFile):
    """The content of a compressed file, which is closed with it."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(fileobj=file)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()


class DataFile:
    """A data file, which can be opened several times.

    Parameters
    ----------
    source : str or Path
        The path, or "-" for standard input.

    Attributes
    ----------
    name : str
        How messages call it.
    """

    def __init__(self, source: str | Path) -> None:
        self._path = None if str(source) == STANDARD_INPUT else Path(source)
        self.name = "standard input" if self._path is None else printable(str(source))

    @property
    def suffix(self) -> str:
        """The last suffix in lower case, without that of compression if it is compressed."""
        suffixes = [] if self._path is None else [each.lower() for each in self._path.suffixes]
        if suffixes[-1:] == [GZIP_SUFFIX] and self._is_compressed:
            del suffixes[-1]
        return suffixes[-1] if suffixes else ""

    def open(self) -> BinaryIO:
        """Open the unpacked content from its beginning; reading must be inside `one_error`."""
        is_compressed = self._is_compressed  # which reads from a copy that all share
        file = self._open()
        return cast(BinaryIO, _Unpacked(file)) if is_compressed else file

    def read(self) -> bytes:
        """Return the unpacked content."""
        with self.one_error(), self.open() as file:
            if not self._is_compressed:
                return file.read()
            content = file.read(MOST_UNPACKED + 1)
        check_unpacked(len(content), self.name)
        return content

    @contextmanager
    def one_error(self) -> Iterator[None]:
        """Turn errors of reading into a ValueError of one line."""
        try:
            yield
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise ValueError(
                f"{self.name} must be a gzip file, but it is damaged. Copy or download it again."
            ) from None
        except FileNotFoundError:
            path = self._path or Path()
            where = "" if path.is_absolute() else f" in {printable(str(Path.cwd()))}"
            raise ValueError(
                f"{self.name} must be a file, but there is no such file{where}. Check the spelling."
            ) from None
        except IsADirectoryError:
            raise ValueError(
                f"{self.name} must be a file, but it is a folder. Name a file in it."
            ) from None
        except PermissionError:
            raise ValueError(
                f"{self.name} must be readable, but you do not have permission to read it. "
                "Ask its owner for permission or for a copy."
            ) from None
        except OSError as error:
            raise ValueError(
                f"{self.name} must be readable, but reading it failed: {error.strerror}. "
                "Check the path."
            ) from None

    @cached_property
    def _is_compressed(self) -> bool:
        with self._open() as file:
            return file.read(len(GZIP_START)) == GZIP_START

    def _open(self) -> BinaryIO:
        if self._path is not None and self._path.is_file():
            return self._path.open("rb")
        self._copy.seek(0)
        # A file object of its own, which may be closed.
        return open(os.dup(self._copy.fileno()), "rb")

    @cached_property
    def _copy(self) -> BinaryIO:
        """A copy of standard input or of a pipe, which can be read only once."""
        copy = TemporaryFile()  # noqa: SIM115 - it is open as long as this object exists
        weakref.finalize(self, copy.close)
        if self._path is None:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        else:
            with self._path.open("rb") as file:
                shutil.copyfileobj(file, copy)
        copy.flush()
        return copy


def check_unpacked(n_bytes: int, name: str) -> None:
    """Raise an error if a compressed file unpacks to more bytes than is reasonable.

    Parameters
    ----------
    n_bytes : int
        The size of its unpacked content.
    name : str
        How messages call it.
    """
    if n_bytes > MOST_UNPACKED:
        raise ValueError(
            f"{name} must unpack to at most {MOST_UNPACKED // 2**20} MB, but it unpacks to more. "
            "Remove rows or columns that are not needed."
        )


def describe_demand(source: str | Path) -> str | None:
    """Say what it takes to read a large file of text as a whole and to fit a model to it.

    Parameters
    ----------
    source : str or Path
        The path, or "-" for standard input.

    Returns
    -------
    str or None
        A sentence on memory and time; None if the file is small, compressed or not a file.
    """
    path = Path(source)
    if not path.is_file() or path.suffix.lower() not in TEXT_SUFFIXES:
        return None
    n_bytes = path.stat().st_size
    if n_bytes < LARGE_FILE:
        return None
    gigabytes = (MEMORY_BYTES + MEMORY_PER_BYTE * n_bytes) / 1e9
    minutes = round(SECONDS_PER_MEGABYTE * n_bytes / 60e6) or 1
    return (
        f"{printable(str(source))} is {n_bytes / 1e6:,.0f} MB. With a fast model such as naive "
        f"Bayes, it takes about {gigabytes:.1f} GB of memory and {count(minutes, 'minute')} to "
        "read the file, check it and fit the model; a random forest takes much longer. A sample of "
        "the rows may be enough."
    )
