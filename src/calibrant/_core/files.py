"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a file in one step: a run that is stopped leaves what was there before.

    Parameters
    ----------
    path : str or Path
        The file; one that is there is replaced.
    content : bytes
        What to write.
    """
    target = check_writable(path)
    if target.exists() and not target.is_file():  # a device or a pipe
        target.write_bytes(content)
        return
    part = target.with_name(f".{target.name}.{uuid4().hex}.part")
    try:
        part.write_bytes(content)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def check_writable(path: str | Path) -> Path:
    """Refuse, before any work is done, a file that cannot be written.

    Parameters
    ----------
    path : str or Path
        The file to write.

    Returns
    -------
    Path
        Where it will be, links followed.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise ValueError(f"{path} must be a file to write. It is a folder. Name a file in it.")
    folder = target.parent
    if not folder.is_dir():
        raise ValueError(
            f"{path} must be in a folder that exists. {folder} does not. Make it first."
        )
    # A new file takes the place of the old one, so it is the folder that is written to.
    place = target if target.exists() and not target.is_file() else folder
    if not os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise ValueError(
            f"{path} must be a file that you may write. You have no permission. "
            "Choose another folder."
        )
    return target
