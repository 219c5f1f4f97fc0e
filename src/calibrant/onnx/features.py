"""Features as inputs of a graph, and the preprocessing of named columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from calibrant.onnx.graphs import ML, Graph, Tensor
from calibrant.onnx.sklearn_parts import convert_transformer

# The name of an input that holds all features.
MATRIX = "X"
OUTPUTS = ("label", "probabilities")
# Stands for a missing category, since texts cannot be NaN.
MISSING_TEXT = ""


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a model: one input of numbers or, if columns differ, one per column.

    Inputs are added to the graph when they are used.

    Attributes
    ----------
    graph : Graph
        The graph.
    n_features : int
        The number of features.
    """

    graph: Graph
    n_features: int

    def matrix(self) -> Tensor:
        """Return all features, as numbers."""
        return self.graph.input(MATRIX, TensorProto.DOUBLE, self.n_features)

    def columns(self, names: list[str], *, text: bool) -> Tensor:
        """Return columns by name, as numbers or texts."""
        if taken := set(names) & set(OUTPUTS):
            raise ValueError(
                f"Columns must not be named {' or '.join(OUTPUTS)} to be exported to ONNX, which "
                f"are the outputs, got {min(taken)!r}. Rename the column and fit the model again."
            )
        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        columns = [self.graph.input(name, kind, 1) for name in names]
        return self.graph.op("Concat", *columns, axis=1)


def transform(pipeline: Pipeline, X: Features | Tensor) -> Features | Tensor:
    """Apply the fitted transformers of a pipeline.

    Parameters
    ----------
    pipeline : Pipeline
        Transformers that skl2onnx converts. The first may be a ColumnTransformer of a data frame.
    X : Features or Tensor
        The features, or what an earlier transformer returned.

    Returns
    -------
    Features or Tensor
        The transformed features.
    """
    for _, step in pipeline.steps:
        if isinstance(step, Pipeline):
            X = transform(step, X)
        elif isinstance(X, Tensor):
            X = _transform(step, X)
        elif isinstance(step, ColumnTransformer) and hasattr(step, "feature_names_in_"):
            X = _transform_columns(step, X)
        elif not _is_passthrough(step):
            X = _transform(step, X.matrix())
    return X


def _is_passthrough(transformer: Any) -> bool:
    return transformer is None or isinstance(transformer, str)


def _transform(transformer: Any, X: Tensor) -> Tensor:
    if isinstance(transformer, Pipeline):
        return reduce(lambda features, step: _transform(step[1], features), transformer.steps, X)
    if _is_passthrough(transformer):
        return X
    return TRANSFORMERS.get(type(transformer), convert_transformer)(transformer, X)


def _transform_columns(transformer: ColumnTransformer, X: Features) -> Tensor:
    """Apply a transformer that was fitted to a data frame."""
    weights = transformer.transformer_weights or {}
    parts = []
    for key, part, columns in transformer.transformers_:
        names = _column_names(columns, transformer)
        if names and not (isinstance(part, str) and part == "drop"):
            features = _transform(part, X.columns(names, text=_takes_text(part)))
            parts.append(features * float(weights[key]) if key in weights else features)
    return X.graph.op("Concat", *parts, axis=1)


def _column_names(columns: Any, transformer: ColumnTransformer) -> list[str]:
    """Return the names of columns that are given by name, position or mask."""
    if isinstance(columns, str):
        raise ValueError(
            "The columns of a ColumnTransformer must be lists to be exported to ONNX, got "
            f"{columns!r}, whose values are passed as texts to analyze. Encode them as categories, "
            "or export the calibrator alone."
        )
    if not isinstance(columns, slice) and all(isinstance(name, str) for name in columns):
        return list(columns)
    return transformer.feature_names_in_[columns].tolist()


def _takes_text(transformer: Any) -> bool:
    """Whether a transformer of columns takes texts: those that it has seen are categories."""
    if isinstance(transformer, Pipeline):
        return any(_takes_text(step) for _, step in transformer.steps)
    categories = getattr(transformer, "categories_", [])
    return any(each.dtype.kind in "OU" for each in categories)


def _impute(imputer: SimpleImputer, X: Tensor) -> Tensor:
    """Replace missing numbers or texts; optionally mark missing numbers."""
    if not (isinstance(imputer.missing_values, float) and np.isnan(imputer.missing_values)):
        raise ValueError(
            "SimpleImputer must have missing_values=nan to be exported to ONNX, got "
            f"{imputer.missing_values!r}. Replace these values by nan and fit the model again."
        )
    statistics = imputer.statistics_
    if statistics.dtype.kind in "OU":
        return X.op("Equal", np.array(MISSING_TEXT, dtype=object)).op("Where", statistics, X)
    is_missing = X.op("IsNaN")
    imputed = is_missing.op("Where", statistics, X)
    known = np.flatnonzero(~np.isnan(statistics))
    if len(known) < len(statistics):  # columns that were empty in fit are left out
        imputed = imputed.take(known)
    if imputer.indicator_ is None:
        return imputed
    marks = is_missing.take(imputer.indicator_.features_).cast(TensorProto.DOUBLE)
    return X.graph.op("Concat", imputed, marks, axis=1)


def _encode(encoder: OneHotEncoder, X: Tensor) -> Tensor:
    """Encode categories; infrequent ones share a feature, perhaps with unknown ones."""
    if encoder.drop is not None:
        raise ValueError(
            "OneHotEncoder must have drop=None to be exported to ONNX, got "
            f"drop={encoder.drop!r}. Omit it and fit the model again."
        )
    infrequent = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    parts = []
    for k, (categories, rare) in enumerate(zip(encoder.categories_, infrequent, strict=True)):
        is_rare = np.isin(categories, [] if rare is None else rare)
        n_frequent = int(np.sum(~is_rare))
        feature = np.where(is_rare, n_frequent, np.cumsum(~is_rare) - 1)
        has_rest = bool(is_rare.any())
        takes_unknown = has_rest and encoder.handle_unknown in ("infrequent_if_exist", "warn")
        unknown = n_frequent if takes_unknown else -1
        look_up = _look_up_texts if _takes_text(encoder) else _look_up_numbers
        code = look_up(X.take([k]), categories, feature, unknown)
        features = np.arange(n_frequent + has_rest)
        parts.append(code.op("Equal", features).cast(TensorProto.DOUBLE))
    return X.graph.op("Concat", *parts, axis=1)


def _look_up_texts(
    texts: Tensor, categories: NDArray[Any], feature: NDArray[Any], unknown: int
) -> Tensor:
    """Return the number of the feature of each text."""
    # NaN is not equal to itself.
    keys = [MISSING_TEXT if each is None or each != each else str(each) for each in categories]
    return texts.op(
        "LabelEncoder",
        domain=ML,
        keys_strings=keys,
        values_int64s=feature.tolist(),
        default_int64=unknown,
    )


def _look_up_numbers(
    numbers: Tensor, categories: NDArray[Any], feature: NDArray[Any], unknown: int
) -> Tensor:
    """Return the number of the feature of each number."""
    values = categories.astype(np.float64)
    if np.isnan(values).any():
        raise ValueError(
            "Numeric categories must not be missing to be exported to ONNX, got NaN among those "
            "of OneHotEncoder. Impute them first."
        )
    matches = numbers.op("Equal", values).cast(TensorProto.INT64)
    return (matches * (feature - unknown)).sum(1) + np.array(unknown)


TRANSFORMERS: dict[type, Callable[[Any, Tensor], Tensor]] = {
    SimpleImputer: _impute,
    OneHotEncoder: _encode,
}
