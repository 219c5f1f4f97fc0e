"""Features as inputs of a graph, and the preprocessing of named columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
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


def transform(transformer: Any, X: Features | Tensor) -> Features | Tensor:
    """Apply a fitted transformer.

    Parameters
    ----------
    transformer : transformer
        Any that skl2onnx converts; or a ColumnTransformer of columns by name.
    X : Features or Tensor
        The features, or what an earlier transformer returned.

    Returns
    -------
    Features or Tensor
        The transformed features.
    """
    if transformer is None or isinstance(transformer, str):  # "passthrough"
        return X
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            X = transform(step, X)
        return X
    if isinstance(X, Features):
        if isinstance(transformer, ColumnTransformer) and _takes_names(transformer):
            return _transform_columns(transformer, X)
        X = X.matrix()
    convert = TRANSFORMERS.get(type(transformer), convert_transformer)
    return convert(transformer, X)


def _takes_names(transformer: ColumnTransformer) -> bool:
    return all(
        isinstance(name, str) for _, _, columns in transformer.transformers_ for name in columns
    )


def _transform_columns(transformer: ColumnTransformer, X: Features) -> Tensor:
    parts = [
        transform(part, X.columns(list(names), text=_takes_text(part)))
        for _, part, names in transformer.transformers_
        if len(names) and not (isinstance(part, str) and part == "drop")
    ]
    return X.graph.op("Concat", *parts, axis=1)


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
    """Encode texts; those that are infrequent or unknown share a feature, if there is one."""
    if encoder.drop is not None or not _takes_text(encoder):
        return convert_transformer(encoder, X)
    infrequent = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    parts = []
    for k, (categories, rare) in enumerate(zip(encoder.categories_, infrequent, strict=True)):
        rest = set() if rare is None else set(rare)
        frequent = [str(each) for each in categories if each not in rest]
        code = X.take([k]).op(
            "LabelEncoder",
            domain=ML,
            keys_strings=frequent,
            values_int64s=list(range(len(frequent))),
            default_int64=len(frequent) if rest else -1,
        )
        features = np.arange(len(frequent) + bool(rest))
        parts.append(code.op("Equal", features).cast(TensorProto.DOUBLE))
    return X.graph.op("Concat", *parts, axis=1)


TRANSFORMERS: dict[type, Callable[[Any, Tensor], Tensor]] = {
    SimpleImputer: _impute,
    OneHotEncoder: _encode,
}
