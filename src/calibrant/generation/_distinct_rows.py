"""Counting rows with different features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def count_distinct_rows(X: Any) -> int:
    """Return the number of rows with different features.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or list of shape (n_samples, ...)
        The rows. The rows of a list may differ in length.

    Returns
    -------
    int
        The number of distinct rows. Items of a list, and values of columns that are not all of
        one type, are compared by their ``repr``.
    """
    if sparse.issparse(X):
        rows = X.tocsr().sorted_indices()
        parts = np.split(rows.indices, rows.indptr[1:-1]), np.split(rows.data, rows.indptr[1:-1])
        return len({(i.tobytes(), x.tobytes()) for i, x in zip(*parts, strict=True)})
    if not hasattr(X, "__array__"):
        return len(set(map(repr, X)))
    values = np.asarray(X)
    flat = np.ascontiguousarray(values).reshape(len(values), -1)
    if flat.dtype == object:
        return len({tuple(map(repr, row)) for row in flat})
    return len({row.tobytes() for row in flat})
