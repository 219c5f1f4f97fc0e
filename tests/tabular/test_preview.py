import numpy as np
import pandas as pd
import pytest

from calibrant.tabular import Kind, describe_table
from calibrant.tabular.preview import preview_column


@pytest.fixture
def table():
    n_rows = 60
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": np.arange(n_rows).astype(str),
            "dose": [f"{dose:.3f}" for dose in rng.normal(size=n_rows)],
            "visits": rng.integers(0, 4, n_rows).astype(str),
            "kind": ["a", "b", None] * 20,
            "mostly": ["x"] * 30 + ["y"] * 29 + ["rare"],
            "same": ["z"] * n_rows,
        },
        index=pd.RangeIndex(2, n_rows + 2, name="line"),
    )


def test_columns_are_understood_as_in_a_description(table):
    expected = {column.name: column.kind for column in describe_table(table, "kind").columns}
    for name, kind in expected.items():
        assert preview_column(table, name).column.kind == kind
    assert preview_column(table, "id").column.kind is Kind.ignored
    assert preview_column(table, "kind").column.n_missing == 20


def test_targets_are_counted_or_refused_in_words(table):
    assert preview_column(table, "kind").class_count == {"a": 20, "b": 20}
    visits = preview_column(table, "visits").class_count
    assert visits == table["visits"].value_counts().to_dict()
    assert list(visits.values()) == sorted(visits.values(), reverse=True)
    for name, said in (("dose", "like a measurement"), ("same", "at least two classes")):
        found = preview_column(table, name)
        assert found.class_count == {}
        assert said in found.problem


def test_a_class_with_one_row_does_not_rule_out_a_target(table):
    # It can be merged or dropped.
    assert preview_column(table, "mostly").class_count == {"x": 30, "y": 29, "rare": 1}
