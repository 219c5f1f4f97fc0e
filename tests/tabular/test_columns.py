import json

import numpy as np
import pandas as pd
import pytest

from calibrant.tabular import (
    Kind,
    Schema,
    describe_table,
    labels_of,
    new_rows,
    training_rows,
    unseen_categories,
)
from calibrant.tabular.cells import as_cells
from calibrant.tabular.columns import Column

N = 60
rng = np.random.RandomState(0)


def table(**columns):
    """A table of text, as read from CSV, with a target ``y`` of three classes."""
    columns = {"y": ["a", "b", "c"] * (N // 3), "x": rng.normal(size=N).tolist(), **columns}
    cells = {
        name: as_cells(
            [
                np.nan if cell is None else cell if isinstance(cell, str) else repr(cell)
                for cell in column
            ]
        )
        for name, column in columns.items()
    }
    return pd.DataFrame(cells, index=pd.RangeIndex(2, N + 2, name="line"), dtype=object)


def column_of(cells, name="z", **options):
    schema = describe_table(table(**{name: cells}), "y", **options)
    return next(column for column in schema.columns if column.name == name)


def test_kinds_of_columns():
    assert column_of(list(range(0, 3 * N, 3))).kind is Kind.number
    assert column_of(["1e-3", "-2.5", ".5", "+4"] * (N // 4)).kind is Kind.number
    category = column_of(["red", "blue", None] * (N // 3))
    assert category.kind is Kind.category
    assert category.categories == ("blue", "red")
    assert category.n_missing == N // 3


@pytest.mark.parametrize(
    ("cells", "name", "said"),
    [
        ([None] * N, "z", "no values"),
        (["same"] * N, "z", "'same' in every row"),
        (["5", None] * (N // 2), "z", "'5' in every row"),
        (list(range(N)), "z", "numbers the rows"),
        (list(range(N))[::-1], "z", "numbers the rows"),
        (list(range(0, 7 * N, 7)), "patient_id", "numbers the rows"),
        (list(range(0, 7 * N, 7)), "PatientID", "numbers the rows"),
        (list(range(0, 7 * N, 7)), "Sample no", "numbers the rows"),
        ([number // 2 * 7 for number in range(N)], "patient id", "use it for the groups"),
        ([f"sample {number}" for number in range(N)], "z", "another text in every row"),
        ([f"text {number // 2}" for number in range(N)], "z", "30 different texts in 60 rows"),
        (["2026-01-01", "2026-02-03T10:00"] * (N // 2), "z", "dates"),
        (["1.2.2026", "31/12/99"] * (N // 2), "z", "dates"),
        (["<0.1", *map(str, range(5, N + 4))], "z", r"1 of its 60 cells .* such as '<0\.1'"),
    ],
)
def test_columns_that_are_not_used_say_why(cells, name, said):
    column = column_of(cells, name)
    assert column.kind is Kind.ignored
    assert pd.Series([column.reason]).str.contains(said).all()


def test_measurements_that_happen_to_be_whole_numbers_are_used():
    population = (rng.permutation(10**6)[:N]).tolist()
    assert column_of(population, "population").kind is Kind.number
    assert column_of(population, "body mass index").kind is Kind.number
    assert column_of(population, "lipid").kind is Kind.number
    assert column_of([0, 1] * (N // 2), "code").kind is Kind.number


@pytest.mark.parametrize("cells", [[1, 2, 3.5], ["1.0", "2", "3.50"]], ids=["numbers", "text"])
def test_numbers_that_stand_for_categories_are_categories_where_one_says_so(cells):
    frame = table(z=cells * (N // 3))
    assert describe_table(frame, "y").names(Kind.category) == []
    schema = describe_table(frame, "y", categories=["z"])
    assert schema.columns[-1] == Column("z", Kind.category, 0, ("1", "2", "3.5"))
    assert training_rows(frame, schema).X["z"].tolist() == ["1", "2", "3.5"] * (N // 3)
    mixed = table(z=[*cells, "none"] * (N // 4))
    schema = describe_table(mixed, "y", categories=["z"])
    assert unseen_categories(new_rows(mixed, schema), schema) == {}
    same = describe_table(table(z=[5] * N), "y", categories=["z"]).columns[-1]
    assert same == column_of([5] * N, "z")


def test_numbers_of_parquet_are_numbers():
    frame = pd.DataFrame({"y": [1, 2] * 10, "x": rng.normal(size=20)})
    schema = describe_table(frame, "y")
    assert schema.classes == ("1", "2")
    assert schema.names(Kind.number) == ["x"]
    X, y, groups = training_rows(frame, schema)
    assert y.tolist() == ["1", "2"] * 10
    np.testing.assert_array_equal(X["x"], frame["x"])
    assert groups is None


@pytest.mark.parametrize(
    ("columns", "target", "said"),
    [
        ({}, "Y", "Got 'Y'. Did you mean 'y'"),
        ({"diagnosis": [1, 2] * (N // 2)}, "diagnosys", "Did you mean 'diagnosis'"),
        ({}, "unlike", "Choose one of 'y', 'x'"),
        ({"z": rng.normal(size=N).tolist()}, "z", "60 different numbers, as a measurement has"),
        ({"z": [*range(N - 5), *range(5)]}, "z", "55 different numbers"),
        ({"z": ["one"] * N}, "z", "'one' in all 60 rows"),
        ({"z": [None] * N}, "z", "'z' has none in 60 rows"),
        ({"z": [f"name {number}" for number in range(N)]}, "z", "60 different values in 60 rows"),
        ({"z": ["a"] * (N - 2) + ["b", "c"]}, "z", "Got one of 'b', 'c' in 'z'"),
        ({"z": ["a", "b"] * 4 + [None] * (N - 8)}, "z", "10 rows with a class at least. Got 8"),
    ],
)
def test_a_target_that_cannot_be_predicted_is_refused(columns, target, said):
    with pytest.raises(ValueError, match=said) as raised:
        describe_table(table(**columns), target)
    assert "\n" not in str(raised.value)


def test_classes_that_are_numbers_are_classes():
    assert describe_table(table(z=[0, 1, 2, 3] * (N // 4)), "z").classes == ("0", "1", "2", "3")
    halves = describe_table(table(z=["0.5", "1.5"] * (N // 2)), "z")
    assert halves.classes == ("0.5", "1.5")


def test_columns_must_be_there_and_different():
    with pytest.raises(ValueError, match="column of groups must be a column"):
        describe_table(table(), "y", groups="none")
    with pytest.raises(ValueError, match="column to ignore must be a column"):
        describe_table(table(), "y", ignore=["none"])
    with pytest.raises(ValueError, match="column of categories must be a column"):
        describe_table(table(), "y", categories=["none"])
    with pytest.raises(ValueError, match=r"must be one to predict from\. Got 'x', 'y'\. Leave"):
        describe_table(table(), "y", ignore=["x"], categories=["y", "x"])
    with pytest.raises(ValueError, match="another column"):
        describe_table(table(), "y", groups="y")
    with pytest.raises(ValueError, match="Got none: 'x' is ignored: as you asked"):
        describe_table(table(), "y", ignore=["x"])
    with pytest.raises(ValueError, match=r"Got one, 'y'\. Separate cells"):
        describe_table(table()[["y"]], "y")
    with pytest.raises(ValueError, match="has none in 1, the first in line 7"):
        describe_table(table(g=["a"] * 5 + [None] + ["b"] * (N - 6)), "y", groups="g")
    with pytest.raises(ValueError, match="two groups at least"):
        describe_table(table(g=["a"] * N), "y", groups="g")


def test_rows_without_a_class_are_left_out_and_it_is_said():
    frame = table(z=["a", None, "b"] * (N // 3))
    schema = describe_table(frame, "z")
    assert schema.n_rows == 40
    assert schema.class_count == (20, 20)
    assert "20 rows without a value in 'z' are left out." in said_of(schema)
    X, y, _ = training_rows(frame, schema)
    assert len(X) == len(y) == 40
    assert X.index.tolist()[:3] == [2, 4, 5]
    with pytest.raises(ValueError, match="has none in 20, the first in line 3"):
        labels_of(frame, "z")


def said_of(schema):
    return [notice.text for notice in schema.notices]


def topics(schema):
    return [notice.topic for notice in schema.notices]


def test_a_harmless_table_has_no_notices():
    assert describe_table(table(z=rng.normal(size=N).tolist()), "y").notices == ()


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["a code", "b code", "c code"] * (N // 3), "'z' alone tells the class of every row."),
        ([1, 2, 3] * (N // 3), "'z' alone tells the class of every row."),
        ([number % 3 + number / 1000 for number in range(N)], "by its range"),
        (["yes", "no", "no"] * (N // 3), "'z' has one value for class 'a' and another"),
    ],
)
def test_a_column_that_tells_the_class_is_named(cells, said):
    schema = describe_table(table(z=cells), "y")
    assert topics(schema) == ["leakage"]
    assert said in schema.notices[0].text


def test_a_column_that_only_helps_is_not_accused():
    cells = ["yes", "no", "no"] * (N // 3)
    cells[0] = "no"
    assert describe_table(table(z=cells), "y").notices == ()


def test_repeated_rows_are_counted():
    frame = table()
    frame.iloc[10:13] = frame.iloc[7:10].to_numpy()
    schema = describe_table(frame, "y")
    assert topics(schema) == ["duplicates"]
    assert schema.notices[0].text.startswith("3 of 60 rows repeat an earlier one.")


def test_rare_classes_few_rows_and_useless_groups_are_said():
    frame = table(z=["a"] * 30 + ["b"] * 27 + ["c"] * 3, g=list(range(N)))
    schema = describe_table(frame, "z", groups="g")
    assert topics(schema) == ["classes", "groups"]
    assert "'c' (3)" in schema.notices[0].text
    assert topics(describe_table(table().iloc[:30], "y")) == ["rows"]


def test_a_schema_survives_json():
    frame = table(z=["red", "<b>", None] * (N // 3), g=[n // 2 for n in range(N)], c=["1"] * N)
    schema = describe_table(frame, "y", groups="g")
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


def test_rows_are_taken_by_name():
    frame = table(z=["red", "blue", None] * (N // 3), g=[number // 2 for number in range(N)])
    schema = describe_table(frame, "y", groups="g")
    X, _, groups = training_rows(frame, schema)
    assert list(X.columns) == ["x", "z"]
    assert X["x"].dtype == np.float64
    assert X["x"].tolist() == [float(cell) for cell in frame["x"]]
    assert X["z"].dtype == object
    assert X["z"].tolist()[:2] == ["red", "blue"]
    assert groups.tolist()[:4] == ["0", "0", "1", "1"]
    shuffled = frame[["z", "g", "x"]].assign(more="1")
    pd.testing.assert_frame_equal(new_rows(shuffled, schema), X)


def test_missing_columns_are_named():
    schema = describe_table(table(**{f"z{k}": rng.normal(size=N).tolist() for k in range(7)}), "y")
    with pytest.raises(ValueError, match="It lacks 'x', 'z1'\\. Add them"):
        new_rows(
            table(**{f"z{k}": [1.0] * N for k in (0, 2, 3, 4, 5, 6)}).drop(columns="x"), schema
        )
    with pytest.raises(ValueError, match="'z4' and 2 more"):
        new_rows(table(), schema)


def test_text_among_numbers_is_named_with_its_line():
    schema = describe_table(table(), "y")
    for odd in ("high", "inf", "1,5", "0x1F"):
        frame = table()
        frame.iloc[4, 1] = odd
        with pytest.raises(ValueError, match=f"'x' must hold numbers. Got '{odd}' in line 6"):
            new_rows(frame, schema)


def test_categories_of_numbers_are_the_same_text_in_every_file():
    schema = describe_table(table(z=["A", "1", "2.5"] * (N // 3)), "y")
    numbers = table().assign(z=1.0)
    assert new_rows(numbers, schema)["z"].unique().tolist() == ["1"]
    assert unseen_categories(new_rows(numbers, schema), schema) == {}
    odd = new_rows(table(z=["A", "teal", None] * (N // 3)), schema)
    assert unseen_categories(odd, schema) == {"z": ["teal"]}
