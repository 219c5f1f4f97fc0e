"""Random inputs: sizes, ties, extremes, types, memory layouts, labels and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

MOST_CLASSES = 50
# Few classes are the usual case, and cheap.
CLASS_COUNTS = (2, 2, 3, 3, 4, 5, 7, 12, MOST_CLASSES)


def draw_n_classes(rng: Generator, most: int = MOST_CLASSES) -> int:
    """Draw a number of classes."""
    return min(most, int(rng.choice(CLASS_COUNTS)))


def draw_class_index(rng: Generator, n_rows: int, n_classes: int) -> NDArray[np.intp]:
    """Draw classes of which each has at least one row, some of them just one."""
    share = rng.dirichlet(np.full(n_classes, rng.choice([0.3, 1.0, 10.0])))
    rest = rng.choice(n_classes, size=n_rows - n_classes, p=share)
    return rng.permutation(np.concatenate([np.arange(n_classes), rest]))


def draw_proba(rng: Generator, n_rows: int, n_classes: int) -> NDArray[np.float64]:
    """Draw rows of probabilities: diffuse or confident, distinct or tied, or 0 and 1."""
    proba = rng.dirichlet(np.full(n_classes, rng.choice([0.02, 0.3, 1.0, 20.0])), size=n_rows)
    kind = rng.integers(6)
    if kind == 0:
        proba = proba.round(1)
    elif kind == 1:
        proba = np.eye(n_classes)[proba.argmax(axis=1)]
    elif kind == 2:
        proba = proba[rng.integers(max(1, n_rows // 4), size=n_rows)]
    elif kind == 3:
        proba = np.tile(proba[0], (n_rows, 1))
    elif kind == 4:
        proba = proba ** rng.choice([3.0, 30.0])
    total = proba.sum(axis=1, keepdims=True)
    return np.where(total > 0, proba / np.where(total > 0, total, 1.0), 1.0 / n_classes)


def draw_scores(rng: Generator, n_rows: int) -> NDArray[np.float64]:
    """Draw scores of a binary problem: probabilities or decision values of any scale."""
    kind = rng.integers(7)
    if kind == 0:
        return rng.uniform(size=n_rows)
    if kind == 1:
        return rng.uniform(size=n_rows).round(1)
    if kind == 2:
        return rng.integers(2, size=n_rows).astype(float)
    if kind == 3:
        return rng.beta(0.05, 0.05, size=n_rows)
    if kind == 4:  # equal up to rounding
        base = rng.choice([0.3, 1.0, -7.0, 1e-150])
        return base + np.spacing(base) * rng.integers(3, size=n_rows)
    scores = rng.normal(size=n_rows) * 10.0 ** rng.choice([-200.0, -9.0, 0.0, 9.0, 200.0])
    return scores if kind == 5 else scores[rng.integers(max(1, n_rows // 3), size=n_rows)]


def draw_weight(rng: Generator, n_rows: int) -> NDArray[np.float64] | None:
    """Draw weights: none, whole numbers, with zeros, or any positive numbers."""
    kind = rng.integers(6)
    if kind <= 1:
        return None
    if kind == 2:
        return rng.integers(1, 4, size=n_rows).astype(float)
    if kind == 3:
        weight = rng.integers(3, size=n_rows).astype(float)
        weight[[0, -1]] = 1.0  # some metrics compare two rows
        return weight
    if kind == 4:
        return rng.exponential(size=n_rows) + 1e-3
    return 10.0 ** rng.uniform(-6, 6, size=n_rows)


def draw_labels(rng: Generator, n_classes: int) -> NDArray[Any]:
    """Draw sorted class labels of any type."""
    numbers = np.sort(rng.choice(1000, size=n_classes, replace=False))
    kinds: list[Any] = [
        np.arange(n_classes),
        numbers - 500,
        numbers.astype(np.float32),
        numbers.astype(np.uint64) + np.uint64(2**63),
        np.array([f"{number:04d} \u00e9" for number in numbers]),
        np.array([f"{number:04d}" for number in numbers], dtype=object),
    ]
    if n_classes == 2:
        kinds.append(np.array([False, True]))
    return kinds[rng.integers(len(kinds))]


def in_some_form(rng: Generator, values: NDArray[Any], *, exact: bool = True) -> Any:
    """Return the same values in another type or memory layout.

    With ``exact=False``, also in types of lower precision.
    """
    kind = rng.integers(8 if exact else 10)
    if kind == 0:
        return values.tolist()
    if kind == 1:
        return np.asfortranarray(values)
    if kind == 2:  # every second element of a larger array
        padded = np.repeat(values, 2, axis=0)
        return padded[::2]
    if kind == 3:
        return values[::-1].copy()[::-1]
    if kind == 4:
        locked = values.copy()
        locked.setflags(write=False)
        return locked
    if kind == 5:
        return pd.DataFrame(values) if values.ndim == 2 else pd.Series(values)
    if kind == 6 and values.dtype.kind == "f":
        return values.astype(">f8")
    if kind == 8:
        return values.astype(np.float32)
    if kind == 9:
        return values.astype(np.float16)
    return values


def labels_in_some_form(rng: Generator, labels: NDArray[Any]) -> Any:
    """Return the same labels in another container, including nullable columns."""
    kind = rng.integers(4)
    if kind == 0:
        return labels.tolist()
    if kind == 1:
        return pd.Series(labels, index=rng.permutation(len(labels)))
    if kind == 2:
        return pd.Series(labels).convert_dtypes(convert_floating=False)
    return labels


class Untouched:
    """Remembers inputs, to assert later that nothing changed them."""

    def __init__(self, *inputs: Any):
        self.inputs = inputs
        self.copies = [np.array(each, dtype=object) for each in inputs]

    def check(self) -> None:
        """Raise an AssertionError if an input is no longer what it was."""
        for each, copy in zip(self.inputs, self.copies, strict=True):
            np.testing.assert_array_equal(np.array(each, dtype=object), copy, "input changed")
