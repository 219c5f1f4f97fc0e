"""Atomic writing of files."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a file atomically.

    Readers see either the old or the new content, never a part of it, even if the process is
    killed or the machine loses power.

    Parameters
    ----------
    path : str or Path
        The file to write or replace.
    content : bytes
        The new content.
    """
    target = check_writable(path)
    if target.exists() and not target.is_file():  # a device or a pipe
        target.write_bytes(content)
        return
    part = target.with_name(f".{target.name}.{uuid4().hex}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


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
