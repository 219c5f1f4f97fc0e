import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.tabular import read_table
from calibrant.tabular.reading import ESCAPED
from calibrant.tabular.writing import as_plain_text, to_csv

ODD_NAMES = ["<b>bold</b>", 'say "hi"', "🌲", "שלום", "=cmd()", "+1+1", "-x", "@SUM(A1)", "a,b\nc"]


def numbers(content, n_kept=0):
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    return np.array([[float(cell) for cell in row[n_kept:]] for row in rows[1:]])


@given(st.lists(st.floats(0, 1), min_size=2, max_size=2).map(lambda pair: [pair]))
def test_probabilities_lose_nothing(proba):
    np.testing.assert_array_equal(numbers(to_csv(np.array(proba), ["a", "b"])), proba)


def test_nothing_is_left_that_a_spreadsheet_takes_as_a_formula():
    content = to_csv(np.full((1, 9), 1 / 9), ODD_NAMES, {"=id": ["@cell"], "n": [np.nan]})
    for row in csv.reader(io.StringIO(content.decode(), newline="")):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)


def test_odd_names_come_back(tmp_path):
    path = tmp_path / "table.csv"
    kept = {"=id": ["@cell", "'=quoted", "-1.5", np.nan], "number": [1.5, np.nan, 0.1, 2.0]}
    path.write_bytes(to_csv(np.full((4, 9), 1 / 9), ODD_NAMES, kept))
    table = read_table(path)
    assert list(table.columns) == ["=id", "number", *ODD_NAMES]
    assert table["=id"].tolist()[:3] == ["@cell", "'=quoted", "-1.5"]
    assert table["number"].tolist()[::2] == ["1.5", "0.1"]


@given(st.text(st.sampled_from("'=+-@ab1\t")))
def test_plain_text_is_undone_by_reading(text):
    assert ESCAPED.sub("", as_plain_text(text)) == text


@pytest.mark.parametrize("number", ["-1", "+2.5e3", "0", ".5"])
def test_numbers_are_no_formulas(number):
    assert as_plain_text(number) == number
