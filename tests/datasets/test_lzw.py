import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.datasets.lzw import uncompress


def compress(data, largest_width=16):
    """Write the .Z format from its description, with the table never cleared."""
    table = {bytes([value]): value for value in range(256)}
    following, width = 257, 9
    bits, n_bits, in_group = 0, 0, 0

    def emit(code):
        nonlocal bits, n_bits, in_group
        bits |= code << n_bits
        n_bits += width
        in_group += 1

    current = b""
    for value in data:
        longer = current + bytes([value])
        if longer in table:
            current = longer
            continue
        emit(table[current])
        if following < 1 << largest_width:
            table[longer] = following
            following += 1
        # The reader's table is one entry behind the writer's, and so is its width.
        if following - 1 >= 1 << width and width < largest_width:
            n_bits += (-in_group % 8) * width
            width, in_group = width + 1, 0
        current = bytes([value])
    if current:
        emit(table[current])
    body = bits.to_bytes((n_bits + 7) // 8, "little")
    return b"\x1f\x9d" + bytes([0x80 | largest_width]) + body


@given(st.binary(min_size=1, max_size=300))
def test_short_data_come_back(data):
    assert uncompress(compress(data)) == data


def test_long_data_come_back_through_growing_widths():
    data = b"".join(b"%d,%.2f\n" % (row, row / 7) for row in range(20_000))
    assert uncompress(compress(data)) == data


def test_other_files_are_refused():
    with pytest.raises(ValueError, match="must begin with the bytes 1f 9d"):
        uncompress(b"PK\x03\x04")


def test_damaged_files_are_refused():
    with pytest.raises(ValueError, match="damaged"):
        uncompress(b"\x1f\x9d\x90" + b"\xff" * 20)
