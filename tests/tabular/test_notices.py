import numpy as np
import pytest

from calibrant.tabular import Kind, Notice, describe_table
from calibrant.tabular.reading import add_notices

N = 60
rng = np.random.RandomState(0)


def topics(schema):
    return [notice.topic for notice in schema.notices]


def texts(schema):
    return [notice.text for notice in schema.notices]


def test_an_ordinary_table_has_no_notices(make_table):
    assert describe_table(make_table(z=rng.normal(size=N).tolist()), "y").notices == ()


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (["a code", "b code", "c code"] * (N // 3), "'z' alone tells the class of every row."),
        ([1, 2, 3] * (N // 3), "'z' alone tells the class of every row."),
        (
            [number % 3 + number / 1000 for number in range(N)],
            "'z' alone tells the class of every row.",
        ),
        (["yes", "no", "no"] * (N // 3), "'z' has one value for class 'a' and another for all"),
    ],
)
def test_a_column_that_gives_the_class_away_is_named(make_table, cells, text):
    schema = describe_table(make_table(z=cells), "y")
    assert topics(schema) == ["leakage"]
    assert schema.notices[0].text.startswith(text)


def test_a_column_that_is_merely_predictive_is_not_suspected(make_table):
    cells = ["yes", "no", "no"] * (N // 3)
    cells[0] = "no"
    assert describe_table(make_table(z=cells), "y").notices == ()


@pytest.mark.parametrize(
    ("n_repeated", "text"), [(3, "3 of 60 rows repeat an"), (1, "1 of 60 rows repeats an")]
)
def test_repeated_rows_are_counted_unless_rows_are_grouped(make_table, n_repeated, text):
    frame = make_table(g=[number // 20 for number in range(N)])
    for row in range(n_repeated):
        frame.iloc[10 + 3 * row] = frame.iloc[7].to_numpy()
    schema = describe_table(frame.drop(columns="g"), "y")
    assert topics(schema) == ["duplicates"]
    assert schema.notices[0].text.startswith(text)
    assert describe_table(frame, "y", groups="g").notices == ()


def test_different_whole_numbers_that_are_used_are_named(make_table):
    numbers = rng.permutation(3 * N)[:N].tolist()
    schema = describe_table(make_table(z=numbers), "y")
    assert schema.names(Kind.number) == ["x", "z"]
    assert texts(schema) == [
        "'z' has a different whole number in every row and is used as a measurement. If it "
        "identifies rows, ignore it (--ignore)."
    ]
    assert describe_table(make_table(z=[*numbers[1:], numbers[1]]), "y").notices == ()


def test_rows_that_differ_in_a_column_without_use_do_not_repeat(make_table):
    frame = make_table(name=[f"name {number}" for number in range(N)], number=list(range(N)))
    frame.iloc[10, :2] = frame.iloc[7, :2].to_numpy()
    assert "duplicates" not in topics(describe_table(frame, "y"))
    assert "duplicates" not in topics(describe_table(frame, "y", ignore=["name"]))
    # Row numbers make no difference.
    assert "duplicates" in topics(describe_table(frame.drop(columns="name"), "y"))


def test_codes_far_from_the_other_values_are_named(make_table):
    schema = describe_table(make_table(age=[*range(18, 18 + N - 2), -999, -999]), "y")
    assert topics(schema) == ["codes"]
    assert texts(schema) == [
        "'age' has -999 (2) outside the range of its other values, 18 to 75. If this stands for a "
        "missing value, use --missing age=-999."
    ]
    schema = describe_table(make_table(age=[*range(18, 18 + N - 2), -999, -99]), "y")
    assert "these stand for missing values, use --missing age=" in texts(schema)[0]


def test_categories_that_are_mostly_numbers_are_named(make_table):
    cells = [4, 6, 8, 3] * (N // 4 - 1) + [4, 6, "rotary", "rotary"]
    schema = describe_table(make_table(z=cells), "y")
    assert topics(schema) == ["mixed"]
    assert "because 2 of its 60 values are not numbers: 'rotary' (2)" in texts(schema)[0]


def test_readings_of_cells_are_said(make_table):
    schema = describe_table(make_table(z=["$4,179.00", "$5", "-"] * (N // 3 - 1) + ["$6"] * 3), "y")
    assert texts(schema) == [
        "Read as missing values: '-' (19 cells in 'z').",
        "Read as numbers: 'z' ('$4,179.00' as 4179).",
    ]


def test_what_the_reader_says_is_passed_on(make_table):
    frame = make_table()
    add_notices(frame, [Notice("file", "It was read.")])
    assert texts(describe_table(frame, "y")) == ["It was read."]


def test_rare_classes_few_rows_and_useless_groups_are_noticed(make_table):
    frame = make_table(z=["a"] * 30 + ["b"] * 27 + ["c"] * 3, g=list(range(N)))
    schema = describe_table(frame, "z", groups="g")
    assert topics(schema) == ["classes", "groups"]
    assert "'c' (3)" in schema.notices[0].text
    assert topics(describe_table(make_table().iloc[:30], "y")) == ["rows"]


def test_rows_without_a_class_are_counted(make_table):
    schema = describe_table(make_table(z=["a", None, "b"] * (N // 3)), "z")
    assert schema.class_count == (20, 20)
    assert "20 rows without a value in 'z' are left out." in texts(schema)
    schema = describe_table(make_table(z=["a", "b"] * (N // 2 - 1) + ["a", None]), "z")
    assert "1 row without a value in 'z' is left out." in texts(schema)


def test_columns_that_are_not_used_are_named_unless_they_were_to_be_ignored(make_table):
    frame = make_table(z=[1] * N, w=[2] * N)
    schema = describe_table(frame, "y", ignore=["w"])
    assert texts(schema) == ["'z' is not used: its only value is '1'."]
