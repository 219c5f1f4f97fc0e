import numpy as np
import pandas as pd
import pytest

from calibrant.tabular.cells import as_cells
from calibrant.tabular.missing import (
    MissingMarks,
    clear_declared,
    find_text_marks,
    find_words,
    is_number_mark,
)


def table_of(**columns):
    return pd.DataFrame({name: as_cells(cells) for name, cells in columns.items()}, dtype=object)


def missing_of(table, *declared):
    marks = MissingMarks(list(table.columns), declared)
    parts = [marks.clear(table.iloc[:1]), marks.clear(table.iloc[1:])]
    notices = marks.describe()
    whole = MissingMarks(list(table.columns), declared)
    is_missing = whole.clear(table).isna()
    assert whole.describe() == notices
    pd.testing.assert_frame_equal(pd.concat(parts).isna(), is_missing)
    return is_missing, [notice.text for notice in notices]


@pytest.mark.parametrize(
    "mark", ["?", "NA", "n/a", "N/A", "NaN", "null", "<NA>", "#N/A", "#DIV/0!"]
)
def test_usual_marks_are_missing_in_any_column_and_are_named(mark):
    is_missing, texts = missing_of(table_of(x=["1", mark], y=[mark, "a"]))
    assert is_missing.to_numpy().tolist() == [[False, True], [True, False]]
    assert texts == [f"Read as missing values: {mark!r} (2 cells in 2 columns)."]


def test_words_and_dashes_may_be_categories():
    is_missing, texts = missing_of(table_of(x=["none", "unknown", "missing", "-", ".", "+"]))
    assert not is_missing.to_numpy().any()
    assert texts == []


def test_declared_values_are_missing_whatever_their_case_or_decimals():
    table = table_of(x=["-999", "-999.0", "1"], y=[-999.0, 2.0, 3.0], z=["Unknown", "a", "b"])
    is_missing, texts = missing_of(table, "-999", "unknown")
    assert is_missing["x"].tolist() == [True, True, False]
    assert is_missing["y"].tolist() == [True, False, False]
    assert is_missing["z"].tolist() == [True, False, False]
    assert "'-999' (2 cells in 2 columns)" in texts[0]
    assert "'Unknown' (1 cell in 'z')" in texts[0]


def test_a_value_may_be_declared_missing_in_one_column():
    is_missing, _ = missing_of(table_of(age=["99", "5"], weight=["99", "7"]), "age=99")
    assert is_missing.to_numpy().tolist() == [[True, False], [False, False]]
    assert MissingMarks(["age", "b"], ["age=99", "a=b"]).missing == {
        "age": ("99", "a=b"),
        "b": ("a=b",),
    }


def test_a_declared_value_that_does_not_occur_is_named():
    _, texts = missing_of(table_of(age=["99"], b=["7"]), "age=99", "b=99", "-1")
    assert texts[1] == "No cell holds 'b=99', '-1', which you declared missing. Check the spelling."


def test_any_name_may_be_that_of_a_column():
    names = ["self", "x y", "=cmd()"]
    table = pd.DataFrame([["NA"] * 3], columns=names, dtype=object)
    assert missing_of(table)[0].to_numpy().all()


def test_a_dash_beside_a_plus_is_a_category():
    assert find_text_marks({"a", ".", "-", "--", "none"}) == {".", "-", "--"}
    assert find_text_marks({"+", "-"}) == set()


def test_words_stand_for_missing_values_among_numbers_only():
    assert all(map(is_number_mark, [".", "-", "None", "MISSING", "unknown", "n/a"]))
    assert not any(map(is_number_mark, ["5", "high", "", "<5"]))
    assert find_words(["None", "a", "unknown", "a"]) == ["None", "unknown"]


def test_declared_values_are_cleared_and_other_cells_are_kept():
    cells = clear_declared(["99", 99.0, "98", np.nan, "NA"], ("99",))
    assert [cell if isinstance(cell, str) else None for cell in cells] == [
        None,
        None,
        "98",
        None,
        "NA",
    ]
