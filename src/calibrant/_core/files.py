"""Atomic writing of files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

# Where Linux shows the open files of a process, as symbolic links.
OPEN_FILES = Path("/proc/self/fd")


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a file atomically, as `open_atomically` does.

    Parameters
    ----------
    path : str or Path
        The file to write or replace.
    content : bytes
        The new content.
    """
    with open_atomically(path) as file:
        file.write(content)


@contextmanager
def open_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file to be written atomically.

    Readers see either the old or the new content, never a part of it, even if the process is
    killed or the machine loses power. After an error, the file is as it was.

    Parameters
    ----------
    path : str or Path
        The file to write or replace.

    Yields
    ------
    file object
        A binary file. Its content takes the place of the old content when the context ends.

    Notes
    -----
    Where the system can, the new file has no name until it is complete, so that a process that is
    killed leaves nothing behind.
    """
    target = check_writable(path)
    if target.exists() and not target.is_file():  # a device or a pipe
        with target.open("wb") as file:
            yield file
        return
    part = target.with_name(f".{target.name}.{uuid4().hex}.part")
    nameless = _open_nameless(target.parent)
    try:
        with part.open("wb") if nameless is None else nameless as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if nameless is not None:
                _name(file, part)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _open_nameless(folder: Path) -> BinaryIO | None:
    """Open a new file without a name in a folder; None if the system cannot do so."""
    if not hasattr(os, "O_TMPFILE") or not OPEN_FILES.is_dir():
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    except OSError:  # some file systems cannot
        return None


def _name(file: BinaryIO, path: Path) -> None:
    """Give a name to a file that has none."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # Only with the descriptor of a folder does Python follow the symbolic link.
        os.link(OPEN_FILES / str(file.fileno()), path.name, dst_dir_fd=folder)
    finally:
        os.close(folder)


def check_writable(path: str | Path) -> Path:
    """Check that a file can be written before any work is done.

    Parameters
    ----------
    path : str or Path
        The file to write.

    Returns
    -------
    Path
        The resolved path.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise ValueError(f"The output must be a file. {path} is a folder. Name a file in it.")
    folder = target.parent
    if not folder.is_dir():
        raise ValueError(
            f"The folder of {path} must exist. {folder} does not exist. Create it first."
        )
    # The new file replaces the old one, so it is the folder that must be writable.
    place = target if target.exists() and not target.is_file() else folder
    if not os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise ValueError(
            f"The output must be writable. You do not have permission to write {path}. "
            "Choose another folder."
        )
    return target
