import numpy as np
import pandas as pd
import pytest

from calibrant.tabular import (
    describe_table,
    find_unseen_categories,
    select_features,
    select_labels,
    select_training_rows,
)

N = 60
rng = np.random.RandomState(0)


def test_rows_are_selected_by_the_names_of_columns(make_table):
    frame = make_table(z=["red", "blue", None] * (N // 3), g=[number // 2 for number in range(N)])
    schema = describe_table(frame, "y", groups="g")
    X, y, groups = select_training_rows(frame, schema)
    assert list(X.columns) == ["x", "z"]
    assert X["x"].dtype == np.float64
    assert X["x"].tolist() == [float(cell) for cell in frame["x"]]
    assert X["z"].dtype == object
    assert X["z"].tolist()[:2] == ["red", "blue"]
    assert y.tolist() == frame["y"].tolist()
    assert groups.tolist()[:4] == ["0", "0", "1", "1"]
    shuffled = frame[["z", "g", "x"]].assign(more="1")
    pd.testing.assert_frame_equal(select_features(shuffled, schema), X)


def test_numbers_of_parquet_are_not_converted():
    frame = pd.DataFrame({"y": [1, 2] * 10, "x": rng.normal(size=20)})
    X, y, groups = select_training_rows(frame, describe_table(frame, "y"))
    assert y.tolist() == ["1", "2"] * 10
    np.testing.assert_array_equal(X["x"], frame["x"])
    assert groups is None


def test_rows_without_a_class_are_left_out(make_table):
    frame = make_table(z=["a", None, "b"] * (N // 3))
    X, y, _ = select_training_rows(frame, describe_table(frame, "z"))
    assert len(X) == len(y) == 40
    assert X.index.tolist()[:3] == [2, 4, 5]
    with pytest.raises(ValueError, match="'z' is empty in 20 rows, first in line 3"):
        select_labels(frame, "z")
    assert select_labels(frame, "y").tolist() == frame["y"].tolist()


def test_missing_columns_are_named(make_table):
    names = [f"z{k}" for k in range(9)]
    columns = {name: rng.normal(size=N).tolist() for name in names}
    schema = describe_table(make_table(**columns), "y")
    frame = make_table(**columns)
    with pytest.raises(ValueError, match=r"It lacks 'x', 'z1'\. Add them"):
        select_features(frame.drop(columns=["x", "z1"]), schema)
    with pytest.raises(ValueError, match=r"It lacks 'x'\. Add it"):
        select_features(frame.drop(columns="x"), schema)
    with pytest.raises(ValueError, match="'z7' and 1 more"):
        select_features(make_table(), schema)


@pytest.mark.parametrize("cell", ["high", "inf", "1,5", "0x1F"])
def test_text_among_numbers_is_located(make_table, cell):
    schema = describe_table(make_table(), "y")
    frame = make_table()
    frame.iloc[4, 1] = cell
    with pytest.raises(ValueError, match=f"'x' must hold numbers, got '{cell}' in line 6"):
        select_features(frame, schema)


@pytest.mark.parametrize("cells", [[1, 2, 3.5], ["1.0", "2", "3.50"]], ids=["numbers", "text"])
def test_numeric_codes_of_categories_have_one_spelling(make_table, cells):
    frame = make_table(z=cells * (N // 3))
    schema = describe_table(frame, "y", categories=["z"])
    assert select_training_rows(frame, schema).X["z"].tolist() == ["1", "2", "3.5"] * (N // 3)
    mixed = make_table(z=[*cells, "none"] * (N // 4))
    schema = describe_table(mixed, "y", categories=["z"])
    assert find_unseen_categories(select_features(mixed, schema), schema) == {}


def test_categories_from_text_and_from_numbers_are_the_same(make_table):
    schema = describe_table(make_table(z=["A", "1", "2.5"] * (N // 3)), "y")
    numbers = make_table().assign(z=1.0)
    assert select_features(numbers, schema)["z"].unique().tolist() == ["1"]
    assert find_unseen_categories(select_features(numbers, schema), schema) == {}
    new = select_features(make_table(z=["A", "teal", None] * (N // 3)), schema)
    assert find_unseen_categories(new, schema) == {"z": ["teal"]}


def test_logical_values_are_the_same_in_any_case(make_table):
    schema = describe_table(make_table(z=["True", "False", "True"] * 20), "y")
    frame = make_table(z=["TRUE", "false", None] * 20)
    features = select_features(frame, schema)
    assert features["z"].tolist()[:2] == ["True", "False"]
    assert features["z"].isna().sum() == 20
    assert find_unseen_categories(features, schema) == {}


def test_marks_are_missing_unless_they_are_categories(make_table):
    schema = describe_table(make_table(z=["a", "b", "."] * 20, s=["+", "-", "+"] * 20), "y")
    features = select_features(make_table(z=["a", "-", "."] * 20, s=["-"] * 60), schema)
    assert features["z"].isna().sum() == 40
    assert features["s"].tolist() == ["-"] * 60


def test_missing_columns_are_named_with_the_columns_to_rename(make_table):
    frame = make_table(weight=[50 + k % 40 for k in range(N)], z=["red", "blue"] * (N // 2))
    schema = describe_table(frame, "y", ignore=["x"])
    renamed = frame.rename(columns={"weight": "Weight ", "z": "color"})
    with pytest.raises(ValueError, match=r"It lacks 'weight', 'z'\. Rename 'Weight ' to 'weight'"):
        select_features(renamed, schema)
    # A column that the model uses is not suggested for another one.
    with pytest.raises(ValueError, match=r"It lacks 'z'\. Add it, with empty cells"):
        select_features(frame.drop(columns="z"), schema)
