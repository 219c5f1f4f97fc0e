import math

import pytest

from calibrant.tabular import read_table
from calibrant.tabular.kept_columns import keep_columns


@pytest.mark.parametrize(
    "cells",
    [
        ["007", "12", "13"],
        ["12E5", "13", "14"],
        ["a1", "2", "3"],
        ["1234567890123456", "2", "3"],
        ["+49", "2", "3"],
        ["5 mg", "6 mg", "7 mg"],
    ],
)
def test_text_that_is_not_a_plain_number_keeps_its_column_as_text(write_file, cells):
    table = read_table(write_file("id,x\n" + "".join(f"{cell},1.5\n" for cell in cells)))
    assert keep_columns(table, ["id"], numbers=True) == {"id": cells}


def test_columns_of_numbers_are_numbers_if_wanted(write_file):
    table = read_table(write_file("id,x,y\n1,-1.50,a\n2,,b\n30,0.25,c\n"))
    assert keep_columns(table, ["id"]) == {"id": ["1", "2", "30"]}
    kept = keep_columns(table, ["id", "x", "y"], numbers=True)
    assert kept["id"] == [1.0, 2.0, 30.0]
    assert (kept["x"][0], kept["x"][2]) == (-1.5, 0.25)
    assert math.isnan(kept["x"][1])
    assert kept["y"] == ["a", "b", "c"]


def test_numbers_may_have_decimal_commas_if_the_file_has(write_file):
    table = read_table(write_file("id;x;y\n1;1,5;1.234\n2;2,25;2.345\n"))
    kept = keep_columns(table, ["id", "x", "y"], numbers=True)
    assert kept == {"id": [1.0, 2.0], "x": [1.5, 2.25], "y": ["1.234", "2.345"]}
