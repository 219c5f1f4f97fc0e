"""Parquet files -> tables."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant.tabular.cells import as_cells, as_table
from calibrant.tabular.headers import check_column_count, check_distinct_names


def parse_parquet(data: bytes, source: str) -> pd.DataFrame:
    """Parse a Parquet file.

    Parameters
    ----------
    data : bytes
        Content of the file.
    source : str
        Name of the file, for error messages.

    Returns
    -------
    DataFrame
        Numeric columns as numbers, all others as text, indexed by row number.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ImportError(
            f"Reading {source} requires pyarrow, which is not installed. "
            "Run pip install 'calibrant[parquet]', or save the table as CSV."
        ) from None
    try:
        frame = parquet.read_table(io.BytesIO(data)).to_pandas(ignore_metadata=True)
    except (pa.ArrowException, ValueError, OSError):
        raise ValueError(
            f"{source} must be a Parquet file, but it cannot be read as one. "
            "Save it again, or save the table as CSV."
        ) from None
    names = [str(name).strip() for name in frame.columns]
    check_column_count(len(names), source)
    check_distinct_names(names, source)
    columns = {name: _parse_column(frame.iloc[:, place]) for place, name in enumerate(names)}
    return as_table(columns, pd.RangeIndex(1, len(frame) + 1, name="row"))


def _parse_column(column: pd.Series) -> NDArray[Any]:
    if pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column):
        missing = column.isna().to_numpy()
        texts = [str(value).strip() for value in column]
        return as_cells(
            np.nan if is_missing else text for text, is_missing in zip(texts, missing, strict=True)
        )
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
