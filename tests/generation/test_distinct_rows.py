import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from calibrant.generation._distinct_rows import count_distinct_rows

tables = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20)


@pytest.mark.parametrize(
    "convert",
    [np.array, lambda rows: np.array(rows, dtype=object), pd.DataFrame, list, sparse.csr_matrix],
    ids=["array", "objects", "data frame", "list", "sparse"],
)
@given(tables)
def test_distinct_rows_are_counted_in_any_container(convert, rows):
    assert count_distinct_rows(convert(rows)) == len(set(rows))


def test_rows_of_a_list_may_differ_in_length():
    assert count_distinct_rows([["a", "b"], ["a"], ["a", "b"], [], {"a": 1}]) == 4


def test_text_and_missing_values_are_compared():
    table = pd.DataFrame({"a": ["x", "x", None, None], "b": [1.0, 1.0, np.nan, np.nan]})
    assert count_distinct_rows(table) == 2
