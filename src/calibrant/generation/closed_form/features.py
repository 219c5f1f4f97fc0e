"""The features that the last step of a pipeline sees, in each part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from calibrant._core.problems import ProblemSplit, take_rows
from calibrant._core.typing import FloatArray

# Steps that treat every row by itself, whatever they were fitted on.
STATELESS_STEPS = {Binarizer, Normalizer}
# Steps that shift and scale every feature.
SCALERS = {MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler}
# Steps that do not look at y.
BLIND_STEPS = STATELESS_STEPS | SCALERS | {OneHotEncoder, OrdinalEncoder, SimpleImputer}
# Products of the squares of larger features may overflow.
LARGEST_FEATURE = 1e70


class Table(NamedTuple):
    """Features of all rows, for the parts at some positions.

    What ``scale`` has for each of these parts, its features are still to be divided by.
    """

    X: Any
    positions: list[int]
    scale: FloatArray | None = None


def tables(
    steps: list[Any], X: Any, parts: list[ProblemSplit], *, rescales: bool
) -> Iterator[Table]:
    """Features after the steps of a pipeline, each fitted on the training rows of a part.

    Parameters
    ----------
    steps : list of transformer
        Steps that do not look at y.
    X : array-like of shape (n_samples, n_features)
        All training rows.
    parts : list of ProblemSplit
        The parts.
    rescales : bool
        Whether the form can divide features itself, and does not depend on shifts.

    Yields
    ------
    Table
        None for parts that share their features with no other, and thus gain nothing.
    """
    while steps and type(steps[0]) in STATELESS_STEPS:
        X, steps = clone(steps[0]).fit_transform(X), steps[1:]
    if not steps:
        yield Table(X, list(range(len(parts))))
        return
    shared: dict[bytes, list[int]] = {}
    for position, part in enumerate(parts):
        shared.setdefault(part.train.tobytes(), []).append(position)
    if rescales and all(map(_only_scales, steps)):
        numbers = as_numbers(X)
        if numbers is not None and not issparse(numbers):
            scale = np.empty((len(parts), numbers.shape[1]))
            for positions in shared.values():
                scale[positions] = _scale(steps, numbers[parts[positions[0]].train])
            yield Table(numbers, list(range(len(parts))), scale)
        return
    for positions in shared.values():
        if len(positions) > 1:
            yield Table(_features(steps, X, [parts[position] for position in positions]), positions)


def _only_scales(step: Any) -> bool:
    return type(step) in SCALERS and not getattr(step, "clip", False)


def _scale(steps: list[Any], X: FloatArray) -> FloatArray:
    """Fit scalers one after the other, and return what they divide features by in all."""
    scale = np.ones(X.shape[1])
    for step in steps:
        fitted = clone(step).fit(X)
        if fitted.scale_ is not None:
            # All of them divide by their scale but this one, which multiplies.
            scale *= 1.0 / fitted.scale_ if type(step) is MinMaxScaler else fitted.scale_
        if step is not steps[-1]:
            X = fitted.transform(X)
    return scale


def _features(steps: list[Any], X: Any, parts: list[ProblemSplit]) -> Any:
    """Features of all rows, with the steps fitted on the rows that all parts train on."""
    train = parts[0].train
    rows = np.unique(np.concatenate([train, *(part.test for part in parts)]))
    line = np.zeros(len(parts[0].problem.target), dtype=np.intp)
    line[rows] = np.arange(len(rows))
    features = take_rows(X, rows)
    for step in steps:
        features = clone(step).fit(take_rows(features, line[train])).transform(features)
    # IndexArray that no part looks at get the features of the first that one does.
    return take_rows(features, line)


def as_numbers(X: Any) -> Any | None:
    """Features in double precision; None if an estimator sees anything but plain numbers."""
    table = csr_array(X) if issparse(X) else np.asarray(X)
    if table.ndim != 2 or (table.dtype.kind not in "biu" and table.dtype != np.float64):
        return None
    table = table.astype(np.float64)
    values = table.data if issparse(table) else table
    return table if np.abs(values).max(initial=0.0) < LARGEST_FEATURE else None
