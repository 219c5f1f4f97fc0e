import pandas as pd

from calibrant.tabular.reading import Reading, add_notices, get_reading, set_reading
from calibrant.tabular.schema import Notice


def test_a_table_without_a_reading_has_an_empty_one():
    assert get_reading(pd.DataFrame({"x": [1]})) == Reading()


def test_a_reading_stays_with_columns_and_selected_rows():
    table = pd.DataFrame({"x": [1, 2], "y": [3, 4]})
    set_reading(table, decimal_comma=True, missing={"x": ("9",)})
    add_notices(table, [Notice("file", "one")])
    add_notices(table, [Notice("file", "two")])
    for part in (table, table["x"], table[[True, False]], table[[True, False]]["y"], table.copy()):
        reading = get_reading(part)
        assert reading.decimal_comma
        assert reading.missing == {"x": ("9",)}
        assert [notice.text for notice in reading.notices] == ["one", "two"]
