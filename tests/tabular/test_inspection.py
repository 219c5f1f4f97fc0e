import numpy as np
import pandas as pd
import pytest

from calibrant.tabular import Column, Kind, describe_table
from calibrant.tabular.inspection import check_several_classes

N = 60
rng = np.random.RandomState(0)


def test_columns_and_classes_are_described(make_table):
    frame = make_table(z=["red", "blue", None] * (N // 3), g=[k // 2 for k in range(N)])
    schema = describe_table(frame, "y", groups="g")
    assert schema.classes == ("a", "b", "c")
    assert schema.class_count == (20, 20, 20)
    assert schema.columns == (
        Column("x", Kind.number),
        Column("z", Kind.category, 20, ("blue", "red")),
    )


def test_numbers_of_parquet_are_numbers():
    frame = pd.DataFrame({"y": [1, 2] * 10, "x": rng.normal(size=20)})
    schema = describe_table(frame, "y")
    assert schema.classes == ("1", "2")
    assert schema.names(Kind.number) == ["x"]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (rng.normal(size=N).tolist(), "'z' has 60 different numbers, like a measurement"),
        ([*range(N - 5), *range(5)], "55 different numbers"),
        (["one"] * N, "at least two classes, but 'z' is 'one' in every row"),
        ([None] * N, "'z' is empty in every row"),
        ([f"name {number}" for number in range(N)], "60 different values in 60 rows"),
        (["a"] * (N - 2) + ["b", "c"], "These classes of 'z' have only one: 'b', 'c'"),
        (["a"] * (N - 1) + ["b"], "This class of 'z' has only one: 'b'"),
        (["a", "b"] * 4 + [None] * (N - 8), "at least 10 rows with a class, got 8"),
    ],
)
def test_a_target_that_cannot_be_predicted_is_refused(make_table, cells, message):
    with pytest.raises(ValueError, match=message) as raised:
        describe_table(make_table(z=cells), "z")
    assert "\n" not in str(raised.value)


def test_classes_may_be_numbers(make_table):
    whole = describe_table(make_table(z=[0, 1, 2, 3] * (N // 4)), "z")
    assert whole.classes == ("0", "1", "2", "3")
    halves = describe_table(make_table(z=["0.5", "1.5"] * (N // 2)), "z")
    assert halves.classes == ("0.5", "1.5")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"target": "none"}, "target must name a column"),
        ({"groups": "none"}, "groups must name a column"),
        ({"ignore": ["none"]}, "ignore must name a column"),
        ({"categories": ["none"]}, "categories must name a column"),
        ({"ignore": ["x"], "categories": ["y", "x"]}, r"got 'x', 'y'\. Leave them out"),
        ({"categories": ["y"]}, r"got 'y'\. Leave it out"),
        ({"groups": "y"}, "target must be neither the groups column nor"),
        ({"ignore": ["y"]}, "nor an ignored column, got 'y'"),
        ({"ignore": ["x", "g", "one"]}, r"all columns are ignored \('x': as requested; 'g': as"),
        ({"ignore": ["x"], "groups": "g"}, r"; 'one': its only value is '1'\)"),
        ({"groups": "one"}, "groups must have at least two different values, but 'one' has one"),
    ],
)
def test_columns_must_exist_and_have_one_role(make_table, columns, message):
    frame = make_table(g=[number // 2 for number in range(N)], one=[1] * N)
    with pytest.raises(ValueError, match=message):
        describe_table(frame, **({"target": "y"} | columns))


def test_a_single_column_is_not_a_table(make_table):
    with pytest.raises(ValueError, match=r"Its only column is 'y'\. Separate cells"):
        describe_table(make_table()[["y"]], "y")


def test_every_row_must_have_a_group(make_table):
    frame = make_table(g=["a"] * 5 + [None] + ["b"] * (N - 6))
    with pytest.raises(ValueError, match="is empty in 1 row, first in line 7"):
        describe_table(frame, "y", groups="g")


def test_one_class_is_not_enough():
    check_several_classes(np.array(["a", "b"]), "y")
    with pytest.raises(ValueError, match="'y' is 'a' in every row"):
        check_several_classes(np.array(["a"]), "y")
