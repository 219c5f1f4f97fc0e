import pytest

from calibrant.tabular.headers import (
    MOST_COLUMNS,
    check_column_count,
    check_distinct_names,
    check_header,
    count_title_rows,
    describe_titles,
    name_columns,
)


def test_the_number_of_columns_is_limited():
    check_column_count(MOST_COLUMNS, "wide.csv")
    with pytest.raises(ValueError, match=r"wide\.csv must have at most 5,000 columns, got 5,001"):
        check_column_count(MOST_COLUMNS + 1, "wide.csv")


def test_repeated_names_are_refused():
    check_distinct_names(["a", "A"], "t.csv")
    with pytest.raises(ValueError, match="must have distinct names, but 'a' occurs"):
        check_distinct_names(["a", "b", "a"], "t.csv")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["a", "b", "c"], ["1", "2", "3"]], 0),
        ([["Report"], ["a", "b", "c"], ["1", "2", "3"]], 1),
        ([["Report", "", ""], ["May", "", ""], ["a", "b", "c"], ["1", "2", "3"]], 2),
        ([["# made by", "us"], ["a", "b", "c", "d"], ["1", "2", "3", "4"]], 1),
        ([["", "x"], ["r1", "1"], ["r2", "2"]], 0),  # the first column has no name
        ([["x"], ["1", "2"], ["3", "4"]], 0),  # no names follow
        ([["Report"], ["a", "a", "b"], ["1", "2", "3"]], 0),  # nor here
        ([["x"], ["a"]], 0),
        ([["t"]] * 11 + [["a", "b", "c"]] * 20, 0),
        ([], 0),
    ],
)
def test_rows_with_few_cells_above_distinct_names_are_titles(rows, expected):
    assert count_title_rows(rows) == expected


def test_titles_are_quoted():
    text = describe_titles(["Report"], 1, "line 2", "t.csv").text
    assert text == (
        "The column names of t.csv are in line 2; the row above them was skipped: 'Report'."
    )
    assert describe_titles(list("abcd"), 2, "line 3", "t.csv").text.endswith(
        "'a', 'b', 'c' and 1 more."
    )


def test_columns_without_a_name_are_named_by_position():
    assert name_columns(["", "x", ""]) == ["column 1", "x", "column 3"]


def test_data_are_not_taken_for_names():
    check_header(["x", "2020"], [["a"], ["b"]], "t.csv")
    with pytest.raises(ValueError, match="looks like data: '1', '2'"):
        check_header(["1", "2"], [["3"], ["4"]], "t.csv")
    with pytest.raises(ValueError, match=r"looks like data: 'M', '0.5'"):
        check_header(["M", "0.5"], [["F", "M"], ["0.6", "0.7"]], "t.csv")
