import io
import sys

import numpy as np
import pandas as pd
import pytest

from calibrant.tabular.parquet import parse_parquet


def to_bytes(frame):
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def test_numbers_stay_numbers_and_all_else_becomes_text():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "decimal": [0.1, np.nan, 0.3],
            "text": ["a ", None, "c"],
            "truth": [True, False, True],
            "day": pd.to_datetime(["2026-01-01", None, "2026-01-03"]),
            "kind": pd.Categorical(["x", "y", None]),
        }
    )
    table = parse_parquet(to_bytes(frame), "t.parquet")
    np.testing.assert_array_equal(table["whole"], [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(table["decimal"], frame["decimal"])
    assert table["text"].dtype == object
    assert table["text"].tolist()[::2] == ["a", "c"]
    assert table["truth"].tolist() == ["True", "False", "True"]
    assert table["day"].iloc[0].startswith("2026-01-01")
    assert table.isna().sum().tolist() == [1, 1, 1, 0, 1, 1]
    assert table.index.tolist() == [1, 2, 3]
    assert table.index.name == "row"


def test_names_that_differ_only_in_spaces_are_refused():
    frame = pd.DataFrame({"a": [1], "a ": [2]})
    with pytest.raises(ValueError, match="distinct names, but 'a' occurs"):
        parse_parquet(to_bytes(frame), "t.parquet")


def test_another_file_is_refused():
    with pytest.raises(ValueError, match=r"t\.parquet must be a Parquet file, but it cannot be"):
        parse_parquet(b"PAR1rest", "t.parquet")


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'calibrant\[parquet\]'"):
        parse_parquet(b"PAR1", "t.parquet")
