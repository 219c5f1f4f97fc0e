"""Reader of the old Unix compress format (.Z), in which UCI keeps the waveform data."""

from __future__ import annotations

MAGIC = b"\x1f\x9d"
SMALLEST_WIDTH = 9
CLEAR = 256


def uncompress(data: bytes) -> bytes:
    """Return what the ``compress`` program was given.

    Parameters
    ----------
    data : bytes
        The contents of a .Z file.

    Returns
    -------
    bytes
        The uncompressed contents.

    Notes
    -----
    LZW codes of 9 bits and more, least significant bit first. Codes of one width come in
    groups of eight; when the width grows or the table is cleared, the rest of the group is
    padding.
    """
    if data[:2] != MAGIC or len(data) < 3:
        raise ValueError("A .Z file must begin with the bytes 1f 9d. Get the file again.")
    largest_width, block_mode = data[2] & 0x1F, bool(data[2] & 0x80)
    body = data[3:]

    table = [bytes([value]) for value in range(256)] + ([b""] if block_mode else [])
    first_free = len(table)
    width, position, group_start = SMALLEST_WIDTH, 0, 0
    output: list[bytes] = []
    previous = b""
    while position + width <= 8 * len(body):
        around = int.from_bytes(body[position // 8 : position // 8 + 4], "little")
        code = (around >> position % 8) & ((1 << width) - 1)
        position += width
        if block_mode and code == CLEAR:
            del table[first_free:]
            position = _next_group(position, group_start, width)
            width, group_start, previous = SMALLEST_WIDTH, position, b""
            continue
        if code < len(table):
            entry = table[code]
        elif code == len(table) and previous:
            entry = previous + previous[:1]
        else:
            raise ValueError("The .Z file is damaged. Get the file again.")
        output.append(entry)
        if previous and len(table) < 1 << largest_width:
            table.append(previous + entry[:1])
        previous = entry
        if len(table) >= 1 << width and width < largest_width:
            position = _next_group(position, group_start, width)
            width, group_start = width + 1, position
    return b"".join(output)


def _next_group(position: int, group_start: int, width: int) -> int:
    """First bit after the group of eight codes that a position is in."""
    group = 8 * width
    return group_start + -(-(position - group_start) // group) * group
