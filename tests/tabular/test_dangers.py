import numpy as np
import pytest

from calibrant.tabular import describe_table
from calibrant.tabular.schema import Severity

N = 60
rng = np.random.RandomState(1)


def warnings(schema):
    return [
        (notice.topic, notice.text)
        for notice in schema.notices
        if notice.severity is Severity.warning
    ]


def two_classes(make_table, **columns):
    return make_table(y=["a", "b"] * (N // 2), **columns)


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (["a", "b"] * 29 + ["a", "a"], "'z' alone predicts the class of 59 of 60 rows."),
        ([*(i % 2 + i / 1000 for i in range(59)), 0.0], "'z' alone predicts the class of 59 of"),
        (
            [None, 3.5, None, 4.5] * 14 + [None, 3.5, None, None],
            "'z' has a value almost only in rows of class 'b'.",
        ),
        ([None, 3.5, None, 4.5] * 15, "'z' has a value only in rows of class 'b'."),
    ],
)
def test_a_column_that_nearly_gives_the_class_away_is_named(make_table, cells, text):
    [(topic, warning)] = warnings(describe_table(two_classes(make_table, z=cells), "y"))
    assert topic == "leakage"
    assert warning.startswith(text)


@pytest.mark.parametrize(
    "cells",
    [
        ["a", "b"] * 25 + ["a", "a"] * 5,  # 5 of 60 rows are wrong
        [f"{i}" for i in rng.randint(20, size=N)],  # few rows per category
        rng.normal(size=N).tolist(),
    ],
)
def test_other_columns_are_not_suspected(make_table, cells):
    assert warnings(describe_table(two_classes(make_table, z=cells), "y")) == []


def test_a_rare_class_is_not_given_away_by_chance(make_table):
    table = make_table(y=["a"] * 55 + ["b"] * 5, z=(["x"] * 30 + ["w"] * 30))
    assert warnings(describe_table(table, "y")) == []


@pytest.mark.parametrize(
    ("name", "cells", "is_named"),
    [
        ("patient", [f"p{i // 3}" for i in range(N)], True),
        ("subject_id", [i // 3 for i in range(N)], True),
        ("patientID", [i // 2 for i in range(N)], True),
        ("patient", [f"p{i}" for i in range(N)], False),  # no two rows belong together
        ("patient", [f"p{i % 4}" for i in range(N)], False),  # categories
        ("humid", [i // 3 for i in range(N)], False),
        ("id", rng.normal(size=N).round(1).tolist(), False),  # measurements
    ],
)
def test_a_column_of_repeated_identifiers_suggests_groups(make_table, name, cells, is_named):
    table = make_table(**{name: cells})
    found = warnings(describe_table(table, "y"))
    assert [topic for topic, _ in found] == (["groups"] if is_named else [])
    if is_named:
        assert f"use {name!r} for groups (--groups)" in found[0][1]
        assert warnings(describe_table(table, "y", groups=name)) == []
        assert warnings(describe_table(table, "y", ignore=[name])) == []


def test_classes_that_differ_only_in_case_or_spaces_are_a_warning(make_table):
    table = make_table(y=["Yes", "yes", "no", "No", "maybe", "perhaps"] * (N // 6))
    [(topic, text)] = warnings(describe_table(table, "y"))
    assert topic == "spelling"
    assert "'yes'" in text
    assert warnings(describe_table(table, "y", merge_case=True)) == []


@pytest.mark.parametrize(("n_repeated", "is_named"), [(1, False), (5, True)])
def test_repeated_rows_are_a_warning_if_there_are_many(make_table, n_repeated, is_named):
    table = make_table()
    for row in range(n_repeated):
        table.iloc[10 + 3 * row] = table.iloc[7].to_numpy()
    assert [topic for topic, _ in warnings(describe_table(table, "y"))] == (
        ["duplicates"] if is_named else []
    )


def test_repeats_that_few_categories_make_likely_are_no_warning(make_table):
    table = make_table(z=["u", "v"] * (N // 2)).drop(columns="x")
    schema = describe_table(table, "y")
    assert [notice.topic for notice in schema.notices] == ["duplicates"]
    assert warnings(schema) == []


def test_a_column_of_groups_is_not_also_suspected_of_giving_the_class_away(make_table):
    table = make_table()
    table["PatientID"] = np.arange(len(table)) // 5
    labels = np.where(table["PatientID"] % 2 == 0, "a", "b")
    table["y"] = labels
    assert [topic for topic, _ in warnings(describe_table(table, "y"))] == ["groups"]
    renamed = table.rename(columns={"PatientID": "ward"})
    found = warnings(describe_table(renamed, "y", categories=["ward"]))
    assert [topic for topic, _ in found] == ["leakage"]
