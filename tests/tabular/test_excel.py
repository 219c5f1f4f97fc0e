import datetime
import io
import sys

import numpy as np
import openpyxl
import pandas as pd
import pytest

from calibrant.tabular.excel import parse_excel
from calibrant.tabular.reading import get_reading

HEADER = ["length", "variety"]
ROWS = [[5.1, "seker"], [4.7, "bombay"], [None, "seker"]]


def workbook_of(*sheets):
    """Return the bytes of a workbook with sheets of rows, by title."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for title, rows in sheets:
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(row)
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def parse(content, sheet=None, expected=()):
    return parse_excel(content, "t.xlsx", sheet, expected)


def notices(table):
    return [notice.text for notice in get_reading(table).notices]


def test_a_sheet_is_the_table_that_pandas_reads():
    content = workbook_of(("beans", [HEADER, *ROWS]))
    table = parse(content)
    expected = pd.read_excel(io.BytesIO(content)).astype(object)
    assert table.fillna("").to_numpy().tolist() == expected.fillna("").to_numpy().tolist()
    assert (table.index.name, table.index.tolist()) == ("row", [2, 3, 4])
    assert notices(table) == []


def test_the_first_sheet_with_a_table_is_read_and_the_others_are_named():
    content = workbook_of(
        ("README", [["About beans"], ["By us"]]), ("2020", [HEADER, *ROWS]), ("codes", [["a", "b"]])
    )
    table = parse(content)
    assert list(table.columns) == HEADER
    assert notices(table) == [
        "t.xlsx has 3 sheets, of which '2020' was read. The others are 'README', 'codes'; choose "
        "one with --sheet."
    ]


@pytest.mark.parametrize("sheet", ["beans", "BEANS", "2"])
def test_a_sheet_is_chosen_by_name_or_number(sheet):
    content = workbook_of(("first", [["x", "y"], [1, 2]]), ("beans", [HEADER, *ROWS]))
    table = parse(content, sheet)
    assert list(table.columns) == HEADER
    assert notices(table) == []


def test_a_name_that_looks_like_a_number_is_a_name():
    content = workbook_of(("2", [HEADER, *ROWS]), ("1", [["x", "y"], [1, 2]]))
    assert list(parse(content, "1").columns) == ["x", "y"]


@pytest.mark.parametrize("sheet", ["peas", "0", "3", ""])
def test_a_sheet_that_does_not_exist_is_refused_with_the_names(sheet):
    content = workbook_of(("a", [HEADER, *ROWS]), ("b", [HEADER]))
    with pytest.raises(ValueError, match=r"or a number from 1 to 2, got .* Choose one of 'a', 'b'"):
        parse(content, sheet)


def test_titles_above_the_header_are_skipped_with_a_notice():
    rows = [["Report on beans"], [None, "May 2026"], [], [*HEADER, "weight"]]
    table = parse(workbook_of(("s", [*rows, *([*row, 1] for row in ROWS)])))
    assert list(table.columns) == [*HEADER, "weight"]
    assert table.index.tolist() == [5, 6, 7]
    [text] = notices(table)
    assert "are in row 4; the 2 rows above them were skipped: 'Report on beans', 'May 2026'" in text


def test_a_table_may_begin_anywhere():
    shifted = [[], [], *([None, None, *row] for row in [HEADER, *ROWS])]
    table = parse(workbook_of(("s", shifted)))
    assert list(table.columns) == HEADER
    assert table.index.tolist() == [4, 5, 6]


def test_columns_without_a_name_are_named_by_position_and_empty_ones_left_out():
    rows = [["x", None, "y", None], [1, 5, "a", None], [2, 6, "b", None]]
    assert list(parse(workbook_of(("s", rows))).columns) == ["x", "column 2", "y"]


def test_cells_are_numbers_or_the_text_that_is_displayed():
    day = datetime.datetime(2026, 5, 4)
    rows = [["a", "b", "c", "d", "e"], [1, "  x ", True, day, day.replace(hour=7)]]
    table = parse(workbook_of(("s", rows)))
    cells = table.iloc[0].tolist()
    assert cells == [1.0, "x", "TRUE", "2026-05-04", "2026-05-04T07:00:00"]


def test_percentages_are_read_as_displayed():
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (["rate", "y"], [0.364, "a"], [0.07, "b"]):
        sheet.append(row)
    for position in (2, 3):
        sheet.cell(position, 1).number_format = "0.0%"
    buffer = io.BytesIO()
    workbook.save(buffer)
    assert parse(buffer.getvalue())["rate"].tolist() == ["36.4%", "7%"]


def test_numbers_may_be_column_names_where_they_are_expected():
    content = workbook_of(("s", [[1, 2], [0.4, 0.6]]))
    assert list(parse(content, expected=["1", "2"]).columns) == ["1", "2"]
    with pytest.raises(ValueError, match="looks like data: '1', '2'"):
        parse(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04", "cannot be read as one"),
        (workbook_of(("s", [])), "must hold a table, but it is empty"),
        (workbook_of(("s", [["x", "x"], [1, 2]])), "must have distinct names"),
    ],
)
def test_other_workbooks_are_refused_with_one_line(content, message):
    with pytest.raises(ValueError, match=message) as raised:
        parse(content)
    assert "\n" not in str(raised.value)


def test_without_openpyxl_the_remedy_is_named(monkeypatch):
    workbook = workbook_of(("s", [HEADER, *ROWS]))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"calibrant\[excel\]"):
        parse(workbook)


def test_what_pandas_writes_is_read(tmp_path):
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"x": rng.normal(size=20), "n": range(20), "y": list("ab") * 10})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    table = parse((tmp_path / "t.xlsx").read_bytes())
    np.testing.assert_allclose(table["x"].astype(float), frame["x"], rtol=1e-15)
    assert table["n"].tolist() == frame["n"].tolist()


def test_formulas_without_results_are_noticed():
    rows = [["x", "y"], *([f"=1+{n}", "ab"[n % 2]] for n in range(4))]
    table = parse(workbook_of(("s", rows)))
    assert table["x"].isna().all()
    assert notices(table)[0].startswith("'x' is empty, because the results of formulas are not")


def test_spaces_around_text_are_removed_and_said_where_they_make_a_difference():
    table = parse(workbook_of(("s", [["x", "y"], [1, "Yes"], [2, "Yes "], [3, "no"]])))
    assert set(table["y"]) == {"Yes", "no"}
    assert "'y' ('Yes' and 'Yes ')" in notices(table)[0]
