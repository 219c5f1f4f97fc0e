import io
import sys

import openpyxl
import pytest

from calibrant.tabular.excel_output import to_excel


def cells(content):
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    return [[(cell.value, cell.data_type) for cell in row] for row in sheet.iter_rows()]


def test_numbers_are_numbers_and_text_is_text():
    number = 0.123456789012345
    assert cells(to_excel({"id": ["007", "a"], "p": [number, float("nan")]})) == [
        [("id", "s"), ("p", "s")],
        [("007", "s"), (number, "n")],
        [("a", "s"), (None, "n")],
    ]


def test_text_that_looks_like_a_formula_stays_text():
    assert cells(to_excel({"=cmd()": ["=1+1", "+x"]})) == [
        [("=cmd()", "s")],
        [("=1+1", "s")],
        [("+x", "s")],
    ]


def test_text_that_excel_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="must not contain control characters"):
        to_excel({"x": ["a\x01b"]})


def test_more_columns_than_excel_can_hold_are_refused():
    with pytest.raises(ValueError, match="at most 1,048,576 rows and 16,384 columns"):
        to_excel({str(number): [1.0] for number in range(16_385)})


def test_without_openpyxl_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"calibrant\[excel\]"):
        to_excel({"x": [1.0]})
