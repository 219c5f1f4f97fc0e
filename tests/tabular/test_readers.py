import io
import os
import sys
import tempfile
from pathlib import Path

import pandas as pd
import pytest

from calibrant.tabular import read_table

ROWS = "length,variety,note\n5.1,seker,<b>bold</b>\n4.7,bombay,\n"
ARFF = "@attribute length string\n@attribute variety string\n@attribute note string\n@data\n"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (ROWS, "table.csv"),
        (ROWS, "table.txt"),
        ("\ufeff" + ROWS, "table.data"),
        (ROWS.replace(",", "\t"), "table.tsv"),
        (ROWS.replace(",", "\t"), "table.TAB"),
        (ARFF + "".join(ROWS.splitlines(keepends=True)[1:]), "table.arff"),
    ],
)
def test_the_suffix_tells_the_format(write_file, content, name):
    table = read_table(write_file(content, name)).reset_index(drop=True)
    expected = pd.DataFrame(
        {"length": ["5.1", "4.7"], "variety": ["seker", "bombay"], "note": ["<b>bold</b>", None]},
        dtype=object,
    )
    pd.testing.assert_frame_equal(table.where(table.notna(), None), expected)


def test_parquet_files_are_read(tmp_path):
    frame = pd.DataFrame({"x": [0.1, 0.2], "y": ["a", "b"]})
    for suffix in (".parquet", ".pq"):
        frame.to_parquet(tmp_path / f"table{suffix}")
        table = read_table(tmp_path / f"table{suffix}")
        assert table["x"].tolist() == [0.1, 0.2]
        assert table["y"].tolist() == ["a", "b"]


def test_standard_input_is_read(monkeypatch):
    for mark in ",;\t":
        stream = io.TextIOWrapper(io.BytesIO(ROWS.replace(",", mark).encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        assert read_table("-").shape == (2, 3)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("", "t.csv", "it is empty"),
        (" \n\n", "t.csv", "it is empty"),
        ("a,b\n", "t.csv", "has only column names"),
        ("a,b\né,2\n".encode("latin-1"), "t.csv", "line 2 contains the byte 0xe9"),
        ("a,b\n1,2\n".encode("utf-16"), "t.csv", "it is UTF-16"),
        (b"a,b\n\x00\x01,2\n", "t.csv", "bytes that are not text"),
        (bytes(range(256)), "t.csv", "bytes that are not text"),
        (b"PK\x03\x04rest", "t.xlsx", r"a spreadsheet or a zip file\. Save the table as CSV"),
        (b"\x1f\x8brest", "t.csv.gz", r"a gzip file\. Unpack it"),
        (b"PAR1rest", "t.csv", "Give it the suffix .parquet"),
        (b"PAR1rest", "t.parquet", "cannot be read as one"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused_with_one_line(write_file, content, name, message):
    with pytest.raises(ValueError, match=message) as raised:
        read_table(write_file(content, name))
    assert "\n" not in str(raised.value)


def test_a_missing_file_or_a_folder_is_refused_with_one_line(tmp_path):
    with pytest.raises(ValueError, match=r"none\.csv must be a file, but there is no such file\."):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="there is no such file in ") as raised:
        read_table("none.csv")
    assert str(Path.cwd()) in str(raised.value)
    with pytest.raises(ValueError, match="it is a folder"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match="must be readable") as raised:
        read_table(tmp_path / ("long" * 100))
    assert "\n" not in str(raised.value)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are those of POSIX")
def test_a_file_without_permission_is_refused(unprivileged):
    # Not in tmp_path, whose parents are closed to others.
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        path = Path(name) / "table.csv"
        path.write_text(ROWS)
        path.chmod(0)
        with unprivileged(), pytest.raises(ValueError, match="not have permission to read"):
            read_table(path)
