import numpy as np
import pandas as pd
import pytest

from calibrant.tabular.labeled_rows import select_labeled_rows


@pytest.fixture
def table():
    labels = ["b", "a", None, "c"] * 5
    content = {"y": labels, "x": range(20), "patient": np.arange(20) // 2}
    return pd.DataFrame(content, index=pd.RangeIndex(2, 22, name="line"), dtype=object)


def test_rows_without_a_class_are_left_out_with_a_notice(table):
    rows = select_labeled_rows(table, ("a", "b", "c"), "y")
    assert rows.y.tolist() == [1, 0, 2] * 5
    assert rows.table["x"].tolist() == [x for x in range(20) if x % 4 != 2]
    assert rows.groups is None
    assert rows.notices == ("Left out 5 rows without a class.",)


def test_groups_are_those_of_the_rows(table):
    rows = select_labeled_rows(table, ("a", "b", "c"), "y", "patient")
    assert len(rows.groups) == 15
    assert rows.groups[0] == rows.groups[1] != rows.groups[2]


def test_unknown_classes_are_named(table):
    with pytest.raises(ValueError, match=r"knows, 'a', 'b', but 5 rows have 'c'\. Correct"):
        select_labeled_rows(table, ("a", "b"), "y")


def test_fewer_than_ten_rows_are_refused(table):
    with pytest.raises(ValueError, match="at least 10 rows with a class, got 3"):
        select_labeled_rows(table[:4], ("a", "b", "c"), "y")


def test_a_missing_column_of_classes_is_to_be_added_or_named(table):
    with pytest.raises(ValueError, match=r"in 'class', but it has no such column\. Add it, or"):
        select_labeled_rows(table, ("a", "b", "c"), "class")
    with pytest.raises(ValueError, match="another column as target, such as 'y'"):
        select_labeled_rows(table, ("a", "b", "c"), "Y")
