"""Row-wise arithmetic of calibrators, as graphs.

Each function is the graph of the function of the same name in `calibrant._core.rowwise`,
`calibrant._core.probability_floor` or `calibrant.combination`.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np

from calibrant._core.probability_floor import MODEL_PSEUDO_COUNT, probability_floor
from calibrant._core.typing import FloatArray
from calibrant.onnx.graphs import Tensor

# NumPy adds up to this many values with eight running sums, and divides longer rows in two.
BLOCK_SIZE, N_RUNNING_SUMS = 128, 8


def split_columns(values: Tensor, n_columns: int) -> list[Tensor]:
    """Return the columns, each of shape (n_rows, 1)."""
    return values.graph.ops("Split", values, n_outputs=n_columns, axis=1, num_outputs=n_columns)


def sort_columns(values: Tensor, n_columns: int) -> list[Tensor]:
    """Return the columns of the sorted rows, in ascending order."""
    k = np.array([n_columns])
    ascending, _ = values.graph.ops("TopK", values, k, n_outputs=2, axis=1, largest=0, sorted=1)
    return split_columns(ascending, n_columns)


def normalize_rows(values: Tensor, n_columns: int) -> Tensor:
    """Divide each row by its sum; rows of zeros become uniform.

    The values are added in the order in which NumPy adds them, so that the result has the same
    bits. Otherwise, a score that was tied with one seen in ``fit`` would be on one side of it.
    """
    total = _add_like_numpy(sort_columns(values, n_columns))
    is_zero = total.op("Equal", 0.0)
    return is_zero.op("Where", 1.0 / n_columns, values / total)


def softmax(logit: Tensor) -> Tensor:
    """Return the softmax of each row."""
    return logit.op("Softmax", axis=1)


def positive_to_both(proba: Tensor) -> Tensor:
    """Return the probabilities of two classes, given that of the second."""
    return proba.graph.op("Concat", 1.0 - proba, proba, axis=1)


def log_floored(score: Tensor, floor: FloatArray | float) -> Tensor:
    """Return the logarithms of scores, raised to a floor.

    The logarithm of the floor is a constant: scores at the floor are often tied, and logarithms
    of other libraries may differ in the last bit.
    """
    is_above = score.op("Greater", floor)
    return is_above.op("Where", score.op("Max", floor).op("Log"), np.log(floor))


def apply_probability_floor(
    proba: Tensor, class_count: FloatArray, pseudo_count: float = MODEL_PSEUDO_COUNT
) -> Tensor:
    """Raise class probabilities to the probability floor."""
    floor = probability_floor(class_count, pseudo_count)
    above = (proba - floor).op("Max", 0.0)
    return above * ((1.0 - floor.sum()) / above.sum(1)) + floor


def normalize(values: Tensor, fallback: Tensor | FloatArray) -> Tensor:
    """Divide each row by its sum; rows of zeros are replaced first, by rows that are not 0."""
    is_empty = _row_maxima(values).op("Equal", 0.0)
    replaced = is_empty.op("Where", fallback, values)
    scaled = replaced / _row_maxima(replaced)
    return scaled / scaled.sum(1)


def _row_maxima(values: Tensor) -> Tensor:
    return values.op("ReduceMax", np.array([1]), keepdims=1)


def _add_like_numpy(terms: list[Tensor]) -> Tensor:
    """Add terms in the order in which ``numpy.sum`` adds a contiguous row (pairwise summation)."""
    n_terms = len(terms)
    if n_terms < N_RUNNING_SUMS:
        return reduce(add, terms)
    if n_terms > BLOCK_SIZE:
        middle = n_terms // 2 - n_terms // 2 % N_RUNNING_SUMS
        return _add_like_numpy(terms[:middle]) + _add_like_numpy(terms[middle:])
    n_even = n_terms - n_terms % N_RUNNING_SUMS
    sums = [reduce(add, terms[start:n_even:N_RUNNING_SUMS]) for start in range(N_RUNNING_SUMS)]
    while len(sums) > 1:
        sums = [first + second for first, second in zip(sums[::2], sums[1::2], strict=True)]
    return reduce(add, terms[n_even:], sums[0])
