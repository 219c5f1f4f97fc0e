import numpy as np
import pytest

from calibrant.tabular.costs import read_costs

COSTS = "true class,a,b,wait\nb,10,0,1\na,0,2.5,1\n"


def test_rows_are_those_of_the_classes_whatever_their_order(write_file):
    table = read_costs(write_file(COSTS), ["a", "b"])
    assert table.classes == ("a", "b")
    assert table.decisions == ("a", "b", "wait")
    np.testing.assert_array_equal(table.costs, [[0, 2.5, 1], [10, 0, 1]])


def test_classes_and_decisions_may_be_numbers(write_file):
    table = read_costs(write_file("true class,0,1\n0,0,1\n1,5,0\n"), ["0", "1"])
    np.testing.assert_array_equal(table.costs, [[0, 1], [5, 0]])


def test_names_that_look_like_formulas_are_read_as_the_page_writes_them(write_file):
    table = read_costs(write_file("true class,'=a,'-b\n'=a,0,1\n'-b,5,0\n"), ["-b", "=a"])
    assert table.decisions == ("=a", "-b")
    np.testing.assert_array_equal(table.costs, [[5, 0], [0, 1]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("true class,a\na,0\nb,1\n", "at least two more, one per decision, got 'true class', 'a'"),
        ("true class,a,b\na,0,1\nB,1,0\n", r"got 'B' in line 3\. Did you mean 'b'\?"),
        ("true class,a,b\na,0,1\na,1,0\n", r"got 'a' again in line 3\. Remove the row"),
        ("true class,a,b\na,0,1\n", "It lacks 'b'. Add the costs of each decision for this class"),
        ("true class,a,b\na,0,one\nb,1,0\n", "got 'one' for 'b' in line 2"),
        ("true class,a,b\na,0,1\nb,,0\n", "got an empty cell for 'a' in line 3"),
        ("", "is empty"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_in_one_line(write_file, content, message):
    with pytest.raises(ValueError, match=message) as raised:
        read_costs(write_file(content), ["a", "b"])
    assert "\n" not in str(raised.value)
