"""Features produced by the preprocessing steps of a pipeline, for many splits."""

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

# Steps that learn nothing from the rows that they are fitted on.
STATELESS_STEPS = {Binarizer, Normalizer}
# Steps that shift and scale each feature.
SCALERS = {MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler}
# Steps that ignore the target, so that problems with the same training rows can share them.
UNSUPERVISED_STEPS = STATELESS_STEPS | SCALERS | {OneHotEncoder, OrdinalEncoder, SimpleImputer}
# Products of squares of larger features could overflow.
MAX_FEATURE = 1e70


class FeatureTable(NamedTuple):
    """Features of all rows for some of the splits.

    Attributes
    ----------
    X : array-like of shape (n_samples, n_features)
        The features.
    positions : list of int
        The positions of the splits that share these features.
    scale : ndarray of shape (n_positions, n_features) or None
        The divisors of the features in each of these splits; None means that features are not
        scaled.
    """

    X: Any
    positions: list[int]
    scale: FloatArray | None = None


def feature_tables(
    steps: list[Any], X: Any, splits: list[ProblemSplit], *, can_scale: bool
) -> Iterator[FeatureTable]:
    """Fit preprocessing steps on the training rows of each split and transform all rows.

    Parameters
    ----------
    steps : list of transformer
        Steps of `UNSUPERVISED_STEPS`.
    X : array-like of shape (n_samples, n_features)
        All training rows.
    splits : list of ProblemSplit
        The splits.
    can_scale : bool
        Whether the closed form can scale features itself and does not depend on their means.

    Yields
    ------
    FeatureTable
        Tables shared by several splits. A split that shares its features with no other is left
        out, since computing them takes as long as a refit.
    """
    while steps and type(steps[0]) in STATELESS_STEPS:
        X, steps = clone(steps[0]).fit_transform(X), steps[1:]
    if not steps:
        yield FeatureTable(X, list(range(len(splits))))
        return
    same_rows: dict[bytes, list[int]] = {}
    for position, split in enumerate(splits):
        same_rows.setdefault(split.train.tobytes(), []).append(position)
    if can_scale and all(map(_only_scales, steps)):
        numbers = as_numbers(X)
        if numbers is not None and not issparse(numbers):
            scale = np.empty((len(splits), numbers.shape[1]))
            for positions in same_rows.values():
                scale[positions] = _fit_scale(steps, numbers[splits[positions[0]].train])
            yield FeatureTable(numbers, list(range(len(splits))), scale)
        return
    for positions in same_rows.values():
        if len(positions) > 1:
            shared = [splits[position] for position in positions]
            yield FeatureTable(_transform(steps, X, shared), positions)


def as_numbers(X: Any) -> Any | None:
    """Convert features to double precision if the estimator would compute in it, too.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The features.

    Returns
    -------
    ndarray, csr_array or None
        None for other types, such as single precision or strings, and for huge values.
    """
    table = csr_array(X) if issparse(X) else np.asarray(X)
    if table.ndim != 2 or (table.dtype.kind not in "biu" and table.dtype != np.float64):
        return None
    table = table.astype(np.float64)
    values = table.data if issparse(table) else table
    return table if np.abs(values).max(initial=0.0) < MAX_FEATURE else None


def _only_scales(step: Any) -> bool:
    return type(step) in SCALERS and not getattr(step, "clip", False)


def _fit_scale(steps: list[Any], X: FloatArray) -> FloatArray:
    """Fit scalers one after another and return the divisor of each feature."""
    scale = np.ones(X.shape[1])
    for step in steps:
        fitted = clone(step).fit(X)
        if fitted.scale_ is not None:
            # MinMaxScaler multiplies by its scale; the others divide.
            scale *= 1.0 / fitted.scale_ if type(step) is MinMaxScaler else fitted.scale_
        if step is not steps[-1]:
            X = fitted.transform(X)
    return scale


def _transform(steps: list[Any], X: Any, splits: list[ProblemSplit]) -> Any:
    """Fit the steps on the training rows that all splits share, and transform all rows."""
    train = splits[0].train
    rows = np.unique(np.concatenate([train, *(split.test for split in splits)]))
    line = np.zeros(len(splits[0].problem.target), dtype=np.intp)
    line[rows] = np.arange(len(rows))
    features = take_rows(X, rows)
    for step in steps:
        features = clone(step).fit(take_rows(features, line[train])).transform(features)
    # Rows that no split uses may be invalid, so they get the features of the first row used.
    return take_rows(features, line)
