import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.tabular import read_table
from calibrant.tabular.csv_output import escape_formula, to_csv
from calibrant.tabular.delimited_layout import ESCAPED

ODD_NAMES = ["<b>bold</b>", 'say "hi"', "🌲", "שלום", "=cmd()", "+1+1", "-x", "@SUM(A1)", "a,b\nc"]


def rows_of(content):
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=2))
def test_numbers_are_not_rounded_and_have_no_exponent(row):
    _, written = rows_of(to_csv({"a": row[:1], "b": row[1:]}))
    np.testing.assert_array_equal([float(cell) for cell in written], row)
    assert not any("e" in cell for cell in written)


def test_no_cell_starts_like_a_formula():
    content = to_csv({"=id": ["@cell"], "n": [np.nan], **{name: [1 / 9] for name in ODD_NAMES}})
    for row in rows_of(content):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)


def test_names_and_cells_are_restored_by_reading(tmp_path):
    path = tmp_path / "table.csv"
    kept = {"=id": ["@cell", "'=quoted", "-1.5", np.nan], "number": [1.5, np.nan, 0.1, 2.0]}
    path.write_bytes(to_csv({**kept, **{name: [1 / 9] * 4 for name in ODD_NAMES}}))
    table = read_table(path)
    assert list(table.columns) == ["=id", "number", *ODD_NAMES]
    assert table["=id"].tolist()[:3] == ["@cell", "'=quoted", "-1.5"]
    assert table["number"].tolist()[::2] == ["1.5", "0.1"]


@given(st.text(st.sampled_from("'=+-@ab1\t")))
def test_reading_undoes_the_escape(text):
    assert ESCAPED.sub("", escape_formula(text)) == text


@pytest.mark.parametrize("number", ["-1", "+2.5e3", "0", ".5"])
def test_numbers_are_not_escaped(number):
    assert escape_formula(number) == number
