import io
import os
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.tabular import read_table
from calibrant.tabular.reading import ESCAPED, MISSING, MOST_COLUMNS

ROWS = "length,variety,note\n5.1,seker,<b>bold</b>\n4.7,bombay,\n"


@pytest.fixture
def file(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_csv_is_read_as_written(file):
    table = read_table(file(ROWS))
    assert list(table.columns) == ["length", "variety", "note"]
    assert table["length"].tolist() == ["5.1", "4.7"]
    assert table["note"].isna().tolist() == [False, True]
    assert table.index.tolist() == [2, 3]
    assert table.index.name == "line"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (ROWS.replace(",", ";"), "table.csv"),
        (ROWS.replace(",", "\t"), "table.csv"),
        (ROWS.replace(",", "\t"), "table.tsv"),
        (ROWS.replace("\n", "\r\n"), "table.csv"),
        (ROWS.replace("\n", "\r"), "table.csv"),
        ("\ufeff" + ROWS, "table.csv"),
        (ROWS.replace(",", " , "), "table.txt"),
        (ROWS.replace("\n", "\n\n") + ",,\n \n", "table.data"),
        ("".join(f"{line},\n" for line in ROWS.splitlines()), "table.csv"),
        ('"length","variety","note"\n"5.1","seker","<b>bold</b>"\n"4.7","bombay",\n', "a.csv"),
    ],
    ids=["semicolons", "tabs", "tsv", "crlf", "cr", "bom", "spaces", "blank", "ends", "quoted"],
)
def test_spellings_of_the_same_table_are_the_same(file, content, name):
    pd.testing.assert_frame_equal(
        read_table(file(content, name)).reset_index(drop=True),
        read_table(file(ROWS, "plain.csv")).reset_index(drop=True),
    )


def test_stdin_is_read(monkeypatch):
    for mark in ",;\t":
        stream = io.TextIOWrapper(io.BytesIO(ROWS.replace(",", mark).encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        assert read_table("-").shape == (2, 3)


def test_decimal_commas_of_semicolon_files_are_numbers(file):
    table = read_table(file("x;y;z\n1,5;a;1,5\n-2;b;x,y\n;c;?\n"))
    assert table["x"].tolist()[:2] == ["1.5", "-2"]
    assert table["z"].tolist()[:2] == ["1,5", "x,y"]
    assert pd.isna(table["x"].iloc[2])
    assert pd.isna(table["z"].iloc[2])


def test_quoted_cells_hold_separators_quotes_and_lines(file):
    table = read_table(file('x,y\n"a, ""b""","1\n2"\nc,d\n'))
    assert table["x"].tolist() == ['a, "b"', "c"]
    assert table["y"].tolist() == ["1\n2", "d"]
    assert table.index.tolist() == [3, 4]


def test_a_column_without_a_name_gets_one(file):
    table = read_table(file(",x\nr1,1\nr2,2\n"))
    assert list(table.columns) == ["column 1", "x"]


def test_names_are_kept_as_text(file):
    names = ["<script>alert(1)</script>", 'say "hi"', "🌲", "שלום", "=cmd()", "a\u202eb"]
    quoted = ",".join('"{}"'.format(name.replace('"', '""')) for name in names)
    table = read_table(file(quoted + "\n" + "1,2,3,4,5,6\n"))
    assert list(table.columns) == names


def test_parquet_keeps_numbers_and_writes_the_rest_as_text(tmp_path):
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "decimal": [0.1, np.nan, 0.3],
            "text": ["a ", None, "c"],
            "truth": [True, False, True],
            "day": pd.to_datetime(["2026-01-01", None, "2026-01-03"]),
            "kind": pd.Categorical(["x", "y", None]),
        }
    )
    frame.to_parquet(tmp_path / "table.parquet")
    table = read_table(tmp_path / "table.parquet")
    np.testing.assert_array_equal(table["whole"], [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(table["decimal"], frame["decimal"])
    assert table["text"].dtype == object
    assert table["text"].tolist()[::2] == ["a", "c"]
    assert table["truth"].tolist() == ["True", "False", "True"]
    assert table["day"].iloc[0].startswith("2026-01-01")
    assert table.isna().sum().tolist() == [1, 1, 1, 0, 1, 1]
    assert table.index.tolist() == [1, 2, 3]
    assert table.index.name == "row"


def test_parquet_without_pyarrow_says_what_to_install(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"pip install 'calibrant\[parquet\]'"):
        read_table(file(b"PAR1", "table.parquet"))


ARFF = """% a comment
@RELATION "iris"
@attribute 'sepal length' NUMERIC
@ATTRIBUTE class {Iris-setosa, 'Iris, other', 'it\\'s'}
@attribute note string
@attribute day date "yyyy-MM-dd"
@data
5.1, Iris-setosa, 'a, b', "2026-01-01"
?, 'Iris, other', ?, ?

% another
4.9,'it\\'s',plain,2026-01-02
"""


def test_arff_is_read(file):
    table = read_table(file(ARFF, "table.arff"))
    assert list(table.columns) == ["sepal length", "class", "note", "day"]
    np.testing.assert_array_equal(table["sepal length"], [5.1, np.nan, 4.9])
    assert table["class"].dtype == object
    assert table["class"].tolist() == ["Iris-setosa", "Iris, other", "it's"]
    assert table["note"].tolist()[::2] == ["a, b", "plain"]
    assert table.index.tolist() == [8, 9, 12]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (ARFF.replace("@data", ""), "no @data line"),
        (ARFF.replace("5.1,", "5.1x,"), r"Line 8 has '5\.1x' for the number 'sepal length'"),
        (ARFF.replace("5.1,", ""), "Line 8 has 3 values for 4 attributes"),
        (ARFF.replace("plain", "'pl"), "Line 12 has a quotation mark"),
        (ARFF.replace("5.1, Iris-setosa, 'a, b', ", "{0 5.1}"), "Line 8 is a sparse row"),
        (ARFF.replace("note", "class"), "Line 5 names the attribute 'class' again"),
        (ARFF.replace("class {", "{"), "Line 4 names no attribute"),
    ],
)
def test_bad_arff_is_one_line_that_names_the_line(file, changed, said):
    with pytest.raises(ValueError, match=said):
        read_table(file(changed, "table.arff"))


NAMES = ",".join(f"x{number}" for number in range(10_000))


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        ("", "t.csv", "It is empty"),
        (" \n\n", "t.csv", "It is empty"),
        ("a,b\n", "t.csv", "nothing below them"),
        ("1,2\n3,4\n", "t.csv", r"first line looks like data: '1', '2'.* the 2 columns"),
        ("M,0.5\nF,0.6\nM,0.7\n", "t.csv", "first line looks like data: 'M', '0.5'"),
        ("id1,0.5,cp\nid2,0.6,im\nid3,0.6,cp\n", "t.csv", "first line looks like data"),
        ("p,x\np,y\ne,x\n", "t.csv", "first line looks like data"),
        ("a,b,a\n1,2,3\n", "t.csv", "Got 'a' more than once"),
        ("a,b\n1,2\n3,4,5\n", "t.csv", "2 cells in every line.* Line 3 has 3"),
        ("a,b\n1,2\n3\n", "t.csv", "Line 3 has 1"),
        ('a,b\n1,"2\n3,4\n', "t.csv", "Line 3 cannot be read"),
        ("a,b\né,2\n".encode("latin-1"), "t.csv", "Line 2 has the byte 0xe9"),
        ("a,b\n1,2\n".encode("utf-16"), "t.csv", "It is UTF-16"),
        (b"a,b\n\x00\x01,2\n", "t.csv", "not text"),
        (bytes(range(256)), "t.csv", "not text"),
        (b"PK\x03\x04rest", "t.xlsx", "a spreadsheet or zip file"),
        (b"\x1f\x8brest", "t.csv.gz", "a gzip file"),
        (b"PAR1rest", "t.csv", "must be named .parquet"),
        (b"PAR1rest", "t.parquet", "cannot be read as one"),
        (f"{NAMES}\n{NAMES}\n", "t.csv", f"at most {MOST_COLUMNS:,} columns. Got 10,000"),
    ],
)
def test_a_bad_file_is_one_clear_line(file, content, name, said):
    with pytest.raises(ValueError, match=said) as raised:
        read_table(file(content, name))
    assert "\n" not in str(raised.value)


def test_numbers_as_names_are_taken_where_they_are_expected(file):
    path = file("1,2\n0.4,0.6\n")
    assert read_table(path, expected=["2", "1"]).shape == (1, 2)
    spectra = file("class,401.5,402.5\na,1,2\nb,3,4\n", "spectra.csv")
    assert read_table(spectra).shape == (2, 3)
    with pytest.raises(ValueError, match="looks like data"):
        read_table(path, expected=["1", "3"])


def test_a_missing_file_or_a_folder_is_one_clear_line(tmp_path):
    with pytest.raises(ValueError, match="There is none of that name"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="There is none of that name in /"):
        read_table("none.csv")
    with pytest.raises(ValueError, match="It is a folder"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match="must be readable") as raised:
        read_table(tmp_path / ("long" * 100))
    assert "\n" not in str(raised.value)


@contextmanager
def as_somebody():
    """The superuser may read every file; nobody may not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_without_permission_is_one_clear_line(file):
    path = file(ROWS)
    path.chmod(0)
    with as_somebody(), pytest.raises(ValueError, match="no permission to read"):
        read_table(path)


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5)] * 2),
        min_size=1,
        max_size=5,
    )
)
def test_any_text_in_cells_comes_back(tmp_path_factory, cells):
    table = pd.DataFrame(cells, columns=["first name", "second name"])
    path = tmp_path_factory.mktemp("cells") / "table.csv"
    table.to_csv(path, index=False, encoding="utf-8-sig")
    expected = [
        ["" if cell.strip() in MISSING else ESCAPED.sub("", cell.strip()) for cell in row]
        for row in cells
        if any(cell.strip() for cell in row)
    ]
    if expected:
        assert read_table(path).fillna("").to_numpy().tolist() == expected
