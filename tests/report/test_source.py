import pandas as pd

from calibrant.report import Source


def test_the_index_of_the_table_numbers_the_rows():
    table = pd.DataFrame(
        {"age": [61.0, None], "code": ["a<b", "c"], "count": [1, 2**60 + 1]},
        index=pd.Index([2, 5], name="line"),
    )
    source = Source("data.csv", table)
    assert source.row_word == "line"
    assert source.row_numbers(2) == [2, 5]
    assert source.cells(0) == [("age", "61"), ("code", "a<b"), ("count", "1")]
    assert source.cells(1) == [("age", ""), ("code", "c"), ("count", str(2**60 + 1))]


def test_without_a_table_rows_are_numbered_from_1():
    source = Source("forecasts")
    assert source.row_word == "row"
    assert list(source.row_numbers(3)) == [1, 2, 3]
    assert source.cells(0) == []
