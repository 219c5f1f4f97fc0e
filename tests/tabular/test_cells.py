import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.tabular.cells import (
    as_cells,
    as_code,
    as_number,
    as_table,
    as_text,
    is_missing,
    is_number,
)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive_their_text(number):
    assert as_number(as_text(number)) == number
    assert is_number(repr(number))


@pytest.mark.parametrize("text", ["inf", "nan", "1,5", "0x1F", "1_000", "", " 1"])
def test_other_texts_are_not_numbers(text):
    assert not is_number(text)
    assert as_number(text) == math.inf


def test_equal_numbers_have_equal_codes():
    assert {as_code(cell) for cell in ("5", "5.0", 5.0, "5e0", "+5")} == {"5"}
    assert as_code("five") == "five"


def test_only_nan_is_missing():
    assert is_missing(np.nan)
    assert not any(map(is_missing, ["", "nan", 0.0, 1]))


def test_tables_keep_text_and_numbers_as_they_are():
    text = as_cells(["1", np.nan, "x"])
    table = as_table({"t": text, "n": np.array([1.0, 2.0, 3.0])}, pd.Index([2, 3, 4], name="line"))
    assert table["t"].dtype == object
    assert table["t"].tolist()[::2] == ["1", "x"]
    assert table["n"].dtype == np.float64
