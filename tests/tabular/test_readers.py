import gzip
import io
import os
import sys
import tempfile
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from calibrant.tabular import read_table
from calibrant.tabular.reading import get_reading

ROWS = "length,variety,note\n5.1,seker,<b>bold</b>\n4.7,bombay,\n"
ARFF = "@attribute length string\n@attribute variety string\n@attribute note string\n@data\n"


def archive(name):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(name, "content")
    return buffer.getvalue()


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
        (b"a,b\n\x00\x01,2\n", "t.csv", "bytes that are not text"),
        (bytes(range(256)), "t.csv", "bytes that are not text"),
        (b"PK\x03\x04rest", "t.xlsx", r"it is a zip file\. Unpack it first"),
        (archive("schema.json"), "t.csv", r"it is a saved model\. Give the data file instead"),
        (archive("content.xml"), "t.ods", "it is an OpenDocument file"),
        (b"x,y\n1,2\n", "t.xlsx", r"but it is not one\. If it is CSV"),
        (b"\xd0\xcf\x11\xe0rest", "t.xls", r"old \.xls format or with a password\. Save it as"),
        (b"\x1f\x8brest", "t.csv.gz", r"must be a gzip file, but it is damaged"),
        (gzip.compress(b" "), "t.csv.gz", "it is empty"),
        (b"[1, 2]", "t.json", "record 1 is not an object"),
        (b"\n<!DOCTYPE html>\n<p>404</p>", "t.csv", "it is a web page"),
        (b"PAR1rest", "t.csv", "Give it the suffix .parquet"),
        (b"PAR1rest", "t.parquet", "cannot be read as one"),
    ],
    # Archives hold the time they were made, and a test's id must not change from worker to worker.
    ids=lambda value: "bytes" if isinstance(value, bytes) else None,
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


def notices(table):
    return [notice.text for notice in get_reading(table).notices]


def test_compressed_files_are_read_by_the_suffix_before_gz(write_file):
    expected = read_table(write_file(ROWS)).to_numpy().tolist()[0]
    for content, name in [(ROWS, "t.csv.gz"), (ROWS.replace(",", "\t"), "t.tsv.gz")]:
        table = read_table(write_file(gzip.compress(content.encode()), name))
        assert table.to_numpy().tolist()[0] == expected
        assert notices(table) == []


@pytest.mark.parametrize("codec", ["cp1252", "utf-16"])
def test_other_encodings_are_read_with_a_notice(write_file, codec):
    table = read_table(write_file("naïve,y\nköln,2\n".encode(codec)))
    assert list(table.columns) == ["naïve", "y"]
    assert table["naïve"].tolist() == ["köln"]
    assert "for example 'naïve'" in notices(table)[0]


def test_excel_is_recognized_by_its_content(tmp_path):
    frame = pd.DataFrame({"x": [0.1, 0.2], "y": ["a", "b"]})
    frame.to_excel(tmp_path / "t.xlsx", index=False, sheet_name="beans")
    (tmp_path / "t.csv").write_bytes((tmp_path / "t.xlsx").read_bytes())
    for name in ("t.xlsx", "t.csv"):
        table = read_table(tmp_path / name, sheet="beans")
        assert table.to_numpy().tolist() == frame.to_numpy().tolist()


def test_a_sheet_of_another_file_is_refused(write_file):
    with pytest.raises(ValueError, match="sheet must be given for Excel workbooks only"):
        read_table(write_file(ROWS), sheet="1")


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.txt", "t.csv"])
def test_json_records_are_read(write_file, name):
    text = '{"x": 1, "y": "a"}\n{"x": null, "y": "n/a"}\n'
    table = read_table(write_file(text, name))
    assert table.isna().to_numpy().tolist() == [[False, False], [True, True]]


def test_values_that_the_user_declares_are_missing(write_file):
    table = read_table(write_file("x,y\n-999,a\n5,?\n7,-999\n"), missing=["x=-999"])
    assert table.isna().to_numpy().tolist() == [[True, False], [False, True], [False, False]]
    assert get_reading(table).missing == {"x": ("-999",)}
    assert notices(table) == [
        "Read as missing values: '-999' (1 cell in 'x'), '?' (1 cell in 'y')."
    ]


def test_the_options_that_repeat_a_reading_are_kept(write_file, tmp_path):
    table = read_table(write_file("x,y\n-9,a\n"), missing=["-9", "y=b c"])
    assert get_reading(table).options == ("--missing=-9", "--missing=y=b c")
    pd.DataFrame({"x": [1], "y": ["a"]}).to_excel(tmp_path / "t.xlsx", index=False)
    assert get_reading(read_table(tmp_path / "t.xlsx", sheet="1")).options == ("--sheet=1",)
    assert get_reading(read_table(tmp_path / "t.xlsx")).options == ()


def test_files_that_unpack_to_too_much_are_refused(write_file, monkeypatch):
    monkeypatch.setattr("calibrant.tabular.data_files.MOST_UNPACKED", 2**20)
    rows = ROWS.encode() + b"4.7,bombay,\n" * 2**17
    with pytest.raises(ValueError, match="must unpack to at most 1 MB"):
        read_table(write_file(gzip.compress(rows), "bomb.csv.gz"))
    assert len(read_table(write_file(rows, "large.csv"))) == 2**17 + 2
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.xml", "content")
        file.writestr("xl/worksheets/sheet1.xml", bytes(2**20))
    with pytest.raises(ValueError, match="must unpack to at most 1 MB"):
        read_table(write_file(buffer.getvalue(), "bomb.xlsx"))
