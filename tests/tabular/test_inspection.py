import numpy as np
import pandas as pd
import pytest

from calibrant.tabular import Column, Kind, describe_table, select_training_rows
from calibrant.tabular.inspection import check_several_classes

N = 60
rng = np.random.RandomState(0)


def test_columns_and_classes_are_described(make_table):
    frame = make_table(z=["red", "blue", None] * (N // 3), g=[k // 2 for k in range(N)])
    schema = describe_table(frame, "y", groups="g")
    assert schema.classes == ("a", "b", "c")
    assert schema.class_count == (20, 20, 20)
    numbers = [float(cell) for cell in frame["x"]]
    assert schema.columns == (
        Column("x", Kind.number, low=min(numbers), high=max(numbers)),
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


def test_classes_are_merged_and_dropped_when_asked(make_table):
    labels = ["yes"] * 25 + ["Yes"] * 5 + ["no"] * 20 + ["a"] * 7 + ["b"] * 3
    frame = make_table(z=labels)
    schema = describe_table(frame, "z", merge_case=True, rare_classes="merge")
    assert dict(zip(schema.classes, schema.class_count, strict=True)) == {
        "no": 20,
        "other": 10,
        "yes": 30,
    }
    assert select_training_rows(frame, schema).y.tolist() == (
        ["yes"] * 30 + ["no"] * 20 + ["other"] * 10
    )
    schema = describe_table(frame, "z", merge_case=True, rare_classes="drop")
    rows = select_training_rows(frame, schema)
    assert schema.classes == ("no", "yes")
    assert len(rows.y) == len(rows.X) == schema.n_rows == 50


def test_whole_numbers_with_gaps_name_classes_without_decimals(make_table):
    frame = make_table(z=["1.0", "2.0", None] * (N // 3))
    schema = describe_table(frame, "z")
    assert schema.classes == ("1", "2")
    assert set(select_training_rows(frame, schema).y) == {"1", "2"}


def test_a_class_of_one_row_names_the_remedy(make_table):
    frame = make_table(z=["a"] * 30 + ["b"] * 29 + ["c"])
    with pytest.raises(ValueError, match="Add rows, or use --rare-classes drop"):
        describe_table(frame, "z")
    with pytest.raises(ValueError, match="--rare-classes merge or --rare-classes drop"):
        describe_table(make_table(z=["a"] * 50 + ["b"] * 9 + ["c"]), "z")
    assert describe_table(frame, "z", rare_classes="drop").classes == ("a", "b")


def test_numbers_of_all_rows_are_not_used_even_if_some_have_no_class(make_table):
    frame = make_table(z=["a", "b", None] * (N // 3), number=list(range(N)))
    reasons = {column.name: column.reason for column in describe_table(frame, "z").columns}
    assert "a different whole number in every row" in reasons["number"]
    assert "number" in describe_table(frame, "z", categories=["number"]).names(Kind.category)


def test_numbers_are_measurements_even_if_they_look_like_identifiers():
    n_rows = 30
    table = pd.DataFrame(
        {
            "order": np.arange(n_rows).astype(str),
            "x": [f"{number:.1f}" for number in np.random.default_rng(0).normal(size=n_rows)],
            "text": ["a", "b", "c"] * 10,
            "class": ["yes", "no"] * 15,
        },
        index=pd.RangeIndex(2, n_rows + 2, name="line"),
    )
    assert describe_table(table, "class").names(Kind.ignored) == ["order"]
    schema = describe_table(table, "class", numbers=["order"])
    assert schema.names(Kind.ignored) == []
    assert schema.columns[0].kind is Kind.number
    assert (schema.columns[0].low, schema.columns[0].high) == (0.0, 29.0)
    with pytest.raises(ValueError, match="numbers must name columns of numbers, but 30 of the 30"):
        describe_table(table, "class", numbers=["text"])
    with pytest.raises(ValueError, match="numbers must not name the target"):
        describe_table(table, "class", numbers=["x"], categories=["x"])
