import pytest

from calibrant.tabular.headers import MOST_COLUMNS, check_column_count, check_distinct_names


def test_the_number_of_columns_is_limited():
    check_column_count(MOST_COLUMNS, "wide.csv")
    with pytest.raises(ValueError, match=r"wide\.csv must have at most 5,000 columns, got 5,001"):
        check_column_count(MOST_COLUMNS + 1, "wide.csv")


def test_repeated_names_are_refused():
    check_distinct_names(["a", "A"], "t.csv")
    with pytest.raises(ValueError, match="must have distinct names, but 'a' occurs"):
        check_distinct_names(["a", "b", "a"], "t.csv")
