"""Downloads from the UCI repository, verified, cached and written atomically."""

from __future__ import annotations

import hashlib
import io
import urllib.request
import zipfile
import zlib
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from urllib.error import HTTPError

from calibrant._core.files import write_atomically
from calibrant._core.progress import track_bytes
from calibrant.datasets.catalog import DataSetInfo

SOURCE = "https://archive.ics.uci.edu/static/public"
BLOCK = 1 << 14
TIMEOUT_SECONDS = 30.0
# Raised by zipfile and unlzw3, depending on which byte is wrong.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)


def download_dataset(info: DataSetInfo, folder: Path, *, source: str | None = None) -> Path:
    """Download the missing files of a data set.

    Parameters
    ----------
    info : DataSetInfo
        The data set.
    folder : Path
        Folder of all data sets, with one subfolder per data set.
    source : str, default=None
        URL of the archives. ``None`` means UCI.

    Returns
    -------
    Path
        The subfolder of the data set. Each downloaded file is complete and has the expected
        SHA-256.
    """
    target = folder / info.name
    missing = missing_files(info, folder)
    if not missing:
        return target
    if info.archive is None:
        raise ValueError(where_to_get(info, folder))
    archive = _download(f"{source or SOURCE}/{info.archive}", info)
    target.mkdir(parents=True, exist_ok=True)
    for file in missing:
        content = _unpack(archive, file, info, target)
        found = digest(content)
        if found != info.files[file]:
            raise ValueError(
                f"{file} of {info.title} must have the SHA-256 {info.files[file]}, got {found}. "
                "The download is damaged or its source has changed. Try again, or get the file "
                f"elsewhere and put it into {target}."
            )
        write_atomically(target / file, content)
    return target


def missing_files(info: DataSetInfo, folder: Path) -> list[str]:
    """Return the files of a data set that are missing from its subfolder."""
    return [file for file in info.files if not (folder / info.name / file).is_file()]


def where_to_get(info: DataSetInfo, folder: Path) -> str:
    """Explain where to get a data set that is not available from UCI, and where to put it."""
    return (
        f"{info.title} cannot be downloaded from UCI. It comes from {info.source}. "
        f"Put {' and '.join(info.files)} into {folder / info.name}."
    )


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file whose line endings are normalized to LF."""
    return hashlib.sha256(b"".join(line + b"\n" for line in content.splitlines())).hexdigest()


def _download(address: str, info: DataSetInfo) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as response:
            length = response.headers.get("Content-Length")
            size = int(length) if length else None
            blocks = iter(lambda: response.read(BLOCK), b"")
            content = b"".join(track_bytes(blocks, size, info.name))
        if size is not None and len(content) < size:
            raise IncompleteRead(content, size - len(content))
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # it holds the connection
        reason = "the connection was lost" if isinstance(error, IncompleteRead) else error
        raise ConnectionError(
            f"{info.title} could not be downloaded from {address}: {reason}. Check the "
            "connection and try again, or set CALIBRANT_DATA to a folder that has the files."
        ) from None
    return content


def _unpack(archive: bytes, file: str, info: DataSetInfo, target: Path) -> bytes:
    """Return a file from the archive of a data set."""
    remedy = f"get {file} from {info.source} and put it into {target}."
    try:
        content = _find_file(archive, file)
    except DAMAGED as error:
        raise ValueError(
            f"The archive of {info.title} must be a complete zip file, got {len(archive)} bytes "
            f"that cannot be read ({error}). The download is damaged. Try again, or {remedy}"
        ) from None
    if content is None:
        raise ValueError(
            f"The archive of {info.title} must contain {file}, but its source has changed. "
            f"Instead, {remedy}"
        )
    return content


def _find_file(archive: bytes, name: str) -> bytes | None:
    """Find a file in a zip archive, in archives within it, or compressed as .Z."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for entry in opened.namelist():
            base = entry.rsplit("/", 1)[-1]
            if base == name:
                return opened.read(entry)
            if base == f"{name}.Z":
                return _uncompress(opened.read(entry), base)
            if base.lower().endswith(".zip"):
                content = _find_file(opened.read(entry), name)
                if content is not None:
                    return content
    return None


def _uncompress(data: bytes, name: str) -> bytes:
    """Uncompress the old Unix format that UCI uses for the waveform data."""
    try:
        from unlzw3 import unlzw
    except ImportError:
        raise ImportError(
            f"Reading {name} requires unlzw3, which is not installed. "
            "Run pip install 'calibrant[datasets]'."
        ) from None
    return unlzw(data)
