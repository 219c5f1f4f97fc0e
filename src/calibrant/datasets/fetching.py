"""Download of UCI's own files: checked, cached, never half-written."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from calibrant.datasets.catalog import CATALOG, DataSetInfo
from calibrant.datasets.lzw import uncompress
from calibrant.progress import track

SOURCE = "https://archive.ics.uci.edu/static/public"
BLOCK = 1 << 16
TIMEOUT_SECONDS = 30.0


def fetch_dataset(name: str, folder: Path, *, source: str | None = None) -> Path:
    """Download a data set into a folder, unless it is there already.

    Parameters
    ----------
    name : str
        The name of a data set.
    folder : Path
        The folder of all data sets; this one gets a subfolder.
    source : str, default=None
        Where the archives are; None is UCI.

    Returns
    -------
    Path
        The subfolder. Each file in it is whole and has the known SHA-256.
    """
    info = CATALOG[name]
    target = folder / info.name
    missing = [file for file in info.files if not (target / file).is_file()]
    if not missing:
        return target
    if info.archive is None:
        raise ValueError(
            f"{info.title} is not UCI's and cannot be fetched: {info.source}. "
            f"Put its file into {target}."
        )
    archive = _download(f"{source or SOURCE}/{info.archive}", info)
    target.mkdir(parents=True, exist_ok=True)
    for file in missing:
        content = _inner_file(archive, file)
        if content is None:
            raise ValueError(
                f"The archive of {info.title} must hold {file}. It does not. "
                f"Get the file from its source and put it into {target}."
            )
        found = hashlib.sha256(content).hexdigest()
        if found != info.files[file]:
            raise ValueError(
                f"{file} of {info.title} must have the SHA-256 {info.files[file]}. Got {found}. "
                "The download is damaged, or its source has changed: try again, or get the file "
                f"elsewhere and put it into {target}."
            )
        _write_whole(target / file, content)
    return target


def _download(address: str, info: DataSetInfo) -> bytes:
    """Return the whole of a file; an error if the connection ends before it does."""
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as response:
            length = response.headers.get("Content-Length")
            size = int(length) if length else None
            blocks = iter(lambda: response.read(BLOCK), b"")
            total = -(-size // BLOCK) if size else 1
            content = b"".join(track(_counted(blocks, total), total, info.name))
    except (urllib.error.URLError, OSError) as error:
        raise ConnectionError(
            f"{info.title} is downloaded from {address}. That failed: {error}. Check the "
            "connection and try again, or set CALIBRANT_DATA to a folder that has the files."
        ) from None
    if size is not None and len(content) != size:
        raise ConnectionError(
            f"{address} must have {size} bytes. The connection was cut after {len(content)}. "
            "Try again: nothing was kept."
        )
    return content


def _counted(blocks: Iterable[bytes], total: int) -> Iterator[bytes]:
    """Join what comes beyond the expected number of blocks to the last one."""
    held = b""
    for number, block in enumerate(blocks, start=1):
        if number < total:
            yield block
        else:
            held += block
    yield held


def _inner_file(archive: bytes, name: str) -> bytes | None:
    """Find a file by name in a zip archive, in archives within it, or compressed (.Z)."""
    try:
        opened = zipfile.ZipFile(io.BytesIO(archive))
    except zipfile.BadZipFile:
        return None
    with opened:
        for entry in opened.namelist():
            base = entry.rsplit("/", 1)[-1]
            if base == name:
                return opened.read(entry)
            if base == f"{name}.Z":
                return uncompress(opened.read(entry))
            if base.lower().endswith(".zip"):
                content = _inner_file(opened.read(entry), name)
                if content is not None:
                    return content
    return None


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file such that it is there wholly or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
