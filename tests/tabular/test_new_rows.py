import numpy as np
import pytest

from calibrant.tabular import describe_table, select_features
from calibrant.tabular.new_rows import NewRows

N = 60


def describe_new_rows(features, schema):
    """Return the sentences on rows, which do not depend on the parts in which they are given."""
    whole, parts = NewRows(schema), NewRows(schema)
    whole.add(features)
    for start in range(0, len(features), 4):
        parts.add(features.iloc[start : start + 4])
    assert parts.describe() == whole.describe()
    return whole.describe()


@pytest.fixture
def describe(make_table):
    """Return a function that describes a table with changed cells, given by column and row."""
    table = make_table(age=[20 + k % 50 for k in range(N)], z=["red", "blue"] * (N // 2))
    schema = describe_table(table, "y", ignore=["x"])

    def describe(**changes):
        changed = table.copy()
        for name, cells in changes.items():
            for row, cell in cells.items():
                changed.iloc[row, changed.columns.get_loc(name)] = cell
        return describe_new_rows(select_features(changed, schema), schema)

    return describe


def test_rows_like_those_of_the_training_data_need_no_words(describe):
    assert describe() == []
    assert describe(age={0: "20", 1: "69", 2: np.nan}) == []


def test_values_outside_the_range_are_named_with_the_farthest(describe):
    [sentence] = describe(age={3: "69.5"})
    assert sentence == (
        "1 of 60 rows has values outside the range of the training data: "
        "'age' (trained on 20 to 69; 69.5 in line 5)."
    )
    [sentence] = describe(age={3: "75", 5: "-4", 9: "19"})
    assert sentence.startswith("3 of 60 rows have values")
    assert sentence.endswith("'age' (trained on 20 to 69; 3 rows, as far as -4 in line 7).")


def test_long_numbers_are_rounded(describe):
    [sentence] = describe(age={3: "69.123456789", 4: "1e6"})
    assert sentence.endswith("2 rows, as far as 1000000 in line 6).")
    [sentence] = describe(age={3: "69.123456789"})
    assert sentence.endswith("69.1235 in line 5).")


def test_unseen_categories_have_a_sentence_of_their_own(describe):
    category, number = describe(age={3: "75"}, z={3: "teal"})
    assert category.startswith("'z' has categories that the model was not trained on")
    assert category.endswith("'teal'.")
    assert "'age'" in number


def test_of_many_columns_those_farthest_outside_are_shown(make_table):
    columns = {f"n{k}": [k + number % 50 for number in range(N)] for k in range(8)}
    table = make_table(**columns)
    schema = describe_table(table, "y", ignore=["x"])
    for k in range(8):
        table.iloc[k, table.columns.get_loc(f"n{k}")] = str(200 + 100 * k)
    [sentence] = describe_new_rows(select_features(table, schema), schema)
    assert sentence.startswith("8 of 60 rows have")
    shown = [name for name in columns if f"'{name}'" in sentence]
    assert shown == ["n3", "n4", "n5", "n6", "n7"]
    assert sentence.index("'n7'") < sentence.index("'n3'")
    assert sentence.endswith("; and 3 more columns.")
