"""Download of UCI's own files: checked, cached, never half-written."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import urllib.request
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from urllib.error import HTTPError

from calibrant.datasets.catalog import CATALOG, DataSetInfo
from calibrant.datasets.lzw import uncompress

SOURCE = "https://archive.ics.uci.edu/static/public"
BLOCK = 1 << 14
TIMEOUT_SECONDS = 30.0
# What the readers of .zip and .Z raise, depending on which byte is wrong.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)


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
                f"{file} of {info.title} must have the SHA-256 {info.files[file]}. Got {found}. "
                "The download is damaged, or its source has changed: try again, or get the file "
                f"elsewhere and put it into {target}."
            )
        _write_whole(target / file, content)
    return target


def missing_files(info: DataSetInfo, folder: Path) -> list[str]:
    """Return the files of a data set that its subfolder lacks."""
    return [file for file in info.files if not (folder / info.name / file).is_file()]


def where_to_get(info: DataSetInfo, folder: Path) -> str:
    """Say of a data set that is not UCI's where it comes from and where to put it."""
    return (
        f"{info.title} is not UCI's and cannot be fetched. Its source is {info.source}. "
        f"Get {' and '.join(info.files)} there and put it into {folder / info.name}."
    )


def digest(content: bytes) -> str:
    """Return the SHA-256 of a text file's lines, each ended by LF, whatever ended it."""
    return hashlib.sha256(b"".join(line + b"\n" for line in content.splitlines())).hexdigest()


def _download(address: str, info: DataSetInfo) -> bytes:
    """Return the whole of a file; an error if the connection ends before it does."""
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as response:
            length = response.headers.get("Content-Length")
            size = int(length) if length else None
            blocks = iter(lambda: response.read(BLOCK), b"")
            content = b"".join(_shown(blocks, size, info.name))
        if size is not None and len(content) < size:
            raise IncompleteRead(content, size - len(content))
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # it holds the connection
        reason = "the connection was cut" if isinstance(error, IncompleteRead) else error
        raise ConnectionError(
            f"{info.title} is downloaded from {address}. That failed: {reason}. Check the "
            "connection and try again, or set CALIBRANT_DATA to a folder that has the files."
        ) from None
    return content


def _shown(blocks: Iterable[bytes], size: int | None, title: str) -> Iterator[bytes]:
    """Yield the blocks; a bar counts their bytes on a terminal, if rich is installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
    except ImportError:
        yield from blocks
        return
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=size)
        for block in blocks:
            yield block
            progress.update(task, advance=len(block), refresh=True)


def _unpack(archive: bytes, file: str, info: DataSetInfo, target: Path) -> bytes:
    """Return a file of an archive, or say what is wrong with the archive."""
    remedy = f"get {file} from its source and put it into {target}."
    try:
        content = _inner_file(archive, file)
    except DAMAGED as error:
        raise ValueError(
            f"The archive of {info.title} must be a whole zip file. Got {len(archive)} bytes that "
            f"cannot be read ({error}). The download was cut or damaged: try again, or {remedy}"
        ) from None
    if content is None:
        raise ValueError(
            f"The archive of {info.title} must hold {file}. It does not. "
            f"Its source has changed: {remedy}"
        )
    return content


def _inner_file(archive: bytes, name: str) -> bytes | None:
    """Find a file by name in a zip archive, in archives within it, or compressed (.Z)."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
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
