"""Model archives in memory: the schema and the arrays of a skops file, read within limits.

An archive is read once, checked, and written anew before skops builds objects from it. So skops
sees exactly what was checked: repeated members, repeated keys of the schema and whatever else two
readers of one file could understand differently are gone.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

SCHEMA_MEMBER = "schema.json"
ARRAY_MEMBER = re.compile(r"\d{1,20}\.np[yz]")
SPARSE_MEMBERS = frozenset(
    f"{name}.npy" for name in ("data", "format", "indices", "indptr", "shape", "_is_array")
)
# A genuine file of 100 models that share no array inflates about twentyfold.
MOST_INFLATION = 200
FREE_BYTES = 32 * 2**20
# Descriptions of structured types, such as the nodes of trees, take less than a kilobyte.
LONGEST_HEADER = 4096


@dataclass
class Archive:
    """The contents of a skops file.

    Attributes
    ----------
    schema : dict
        The description of the model, which refers to the arrays by name.
    arrays : dict of str to bytes
        The arrays, each in numpy's format or, if sparse, in SciPy's.
    """

    schema: dict[str, Any]
    arrays: dict[str, bytes]

    def to_bytes(self, *, compress: bool) -> bytes:
        """Return the zip archive with the schema and the arrays that it refers to.

        An archive that compresses so well that `read_archive` would refuse it, such as one with
        large arrays of zeros, is not compressed.
        """
        members = {SCHEMA_MEMBER: json.dumps(self.schema).encode()}
        members |= {name: self.arrays[name] for name in _files(self.schema)}
        if compress:
            content = _pack(members, ZIP_DEFLATED)
            if sum(map(len, members.values())) <= _most_bytes(len(content)):
                return content
        return _pack(members, ZIP_STORED)


def read_archive(content: bytes) -> Archive:
    """Read a skops file into memory.

    Parameters
    ----------
    content : bytes
        A zip archive.

    Returns
    -------
    Archive
        Its schema and arrays. Other members, such as the description of the model, are left out.

    Raises
    ------
    Exception
        Of any type, if the archive is damaged; ValueError, if a member inflates beyond what its
        array declares, or all of them beyond what a model of this size could take.
    """
    with ZipFile(io.BytesIO(content)) as archive:
        members = {info.filename: info for info in archive.infolist()}
        wanted = [info for name, info in members.items() if ARRAY_MEMBER.fullmatch(name)]
        _check_inflation([members[SCHEMA_MEMBER], *wanted], len(content))
        arrays = {info.filename: _read_array_member(archive, info, len(content)) for info in wanted}
        schema = json.loads(read_member(archive, members[SCHEMA_MEMBER], len(content)))
    if not isinstance(schema, dict):
        raise ValueError("The schema does not describe an object.")
    return Archive(schema, arrays)


def parse_array(content: bytes) -> NDArray[Any]:
    """Return the array in the bytes of a member, which `read_archive` has checked."""
    return np.lib.format.read_array(
        io.BytesIO(content), allow_pickle=False, max_header_size=LONGEST_HEADER
    )


def _pack(members: dict[str, bytes], method: int) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", method) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return buffer.getvalue()


def _most_bytes(size: int) -> int:
    """Return the number of bytes to which an archive of a size may inflate."""
    return FREE_BYTES + MOST_INFLATION * size


def _check_inflation(members: list[ZipInfo], size: int) -> None:
    total = sum(info.file_size for info in members)
    if total > _most_bytes(size):
        raise ValueError(f"A file of {size} bytes inflates to {total} bytes.")


def read_member(archive: ZipFile, info: ZipInfo, size: int) -> bytes:
    """Read a member of an archive of a size; zipfile stops at the size that the member states."""
    _check_inflation([info], size)
    with archive.open(info) as stream:
        content = stream.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise ValueError(f"The member {info.filename} does not have its stated size.")
    return content


def _read_array_member(archive: ZipFile, info: ZipInfo, size: int) -> bytes:
    if info.filename.endswith(".npy"):
        with archive.open(info) as stream:
            _check_header(stream, info.file_size)
        return read_member(archive, info, size)
    content = read_member(archive, info, size)
    with ZipFile(io.BytesIO(content)) as sparse:
        parts = sparse.infolist()
        names = [part.filename for part in parts]
        if len(names) != len(set(names)) or not SPARSE_MEMBERS.issuperset(names):
            raise ValueError("A sparse matrix has unknown parts.")
        _check_inflation(parts, len(content))
        for part in parts:
            with sparse.open(part) as stream:
                _check_header(stream, part.file_size)
    return content


def _check_header(stream: Any, size: int) -> None:
    """Check that an array has the size that its header declares, before it is inflated."""
    start = io.BytesIO(stream.read(LONGEST_HEADER))
    version = np.lib.format.read_magic(start)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, _, dtype = read(start, max_header_size=LONGEST_HEADER)
    if dtype.hasobject:
        raise ValueError("An array of objects is stored as a pickle.")
    n_items = 1
    for length in shape:
        n_items *= length
    if start.tell() + n_items * dtype.itemsize != size or min(shape, default=0) < 0:
        raise ValueError(f"An array of shape {shape} does not have its declared size.")


def _files(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("file"), str):
            yield node["file"]
        for item in node.values():
            yield from _files(item)
    elif isinstance(node, list):
        for item in node:
            yield from _files(item)
