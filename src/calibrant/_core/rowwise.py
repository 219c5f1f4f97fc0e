"""Sums, maxima, shares and softmax of the rows of an array with few columns.

numpy reduces along a short last axis row by row, which takes up to ten times as long as going
through the columns.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from calibrant._core.typing import FloatArray


def row_sums(values: FloatArray) -> FloatArray:
    """Return the sum of each row, as a column."""
    return np.einsum("ij->i", values)[:, None]


def normalize_rows(values: FloatArray) -> FloatArray:
    """Divide each row by its sum; rows of zeros become uniform.

    The result has the same bits in whatever order the columns come: values that are tied under
    one numbering of the classes are tied under every other.
    """
    total = np.ascontiguousarray(np.sort(values, axis=1)).sum(axis=1, keepdims=True)
    uniform = np.full_like(values, 1.0 / values.shape[1])
    return np.divide(values, total, out=uniform, where=total != 0)


def row_maxima(values: FloatArray) -> FloatArray:
    """Return the largest value of each row, as a column; NaN where there is one."""
    return reduce(np.maximum, values.T)[:, None]


def softmax(logit: FloatArray) -> FloatArray:
    """Return exp(logit), each row divided by its sum."""
    proba = np.exp(logit - row_maxima(logit))
    proba /= row_sums(proba)
    return proba


def log_softmax(logit: FloatArray) -> FloatArray:
    """Return the logarithm of softmax(logit), without taking that of small numbers."""
    shifted = logit - row_maxima(logit)
    shifted -= np.log(row_sums(np.exp(shifted)))
    return shifted
