"""Conversion of fitted models to ONNX."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import ModelProto, TensorProto
from sklearn.utils.validation import check_is_fitted

from calibrant import __version__
from calibrant.calibrators._base import BinaryCalibrator, MulticlassCalibrator
from calibrant.classifier import CalibratedClassifier
from calibrant.onnx.calibrators import calibrate, needs_votes
from calibrant.onnx.classifiers import class_scores
from calibrant.onnx.features import MATRIX, OUTPUTS, Features
from calibrant.onnx.graphs import Graph, Tensor
from calibrant.onnx.rows import softmax
from calibrant.updating import UpdatedClassifier

# The input of a calibrator that also takes the scores of an ensemble.
ENSEMBLE = "X_ensemble"


def to_onnx(model: Any, *, classes: ArrayLike | None = None, logits: bool = False) -> ModelProto:
    """Convert a fitted classifier or calibrator to ONNX.

    The graph computes in float64. It has the outputs of scikit-learn's classifiers: ``label`` and
    ``probabilities``.

    Parameters
    ----------
    model : CalibratedClassifier, UpdatedClassifier or multi-class calibrator
        The fitted model. A `CalibratedClassifier` must have the direct strategy and an estimator
        of which all parts can be converted.
    classes : array-like of shape (n_classes,), default=None
        The labels of the classes, in the order of the columns. ``None`` means
        ``model.classes_``. Integers and texts are allowed.
    logits : bool, default=False
        Whether a calibrator takes logits, to which the softmax function is applied, rather than
        probabilities.

    Returns
    -------
    onnx.ModelProto
        The model. It takes the features as ``X``, of shape (n_rows, n_features); or, if the
        estimator selects columns of a data frame by name, one input of shape (n_rows, 1) per
        column, in which an empty text is a missing category. A calibrator takes scores as ``X``,
        of shape (n_rows, n_classes).

    Raises
    ------
    ValueError
        If a part of the model cannot be converted.

    See Also
    --------
    calibrant.onnx.largest_difference : Compares the result with the model.

    Examples
    --------
    >>> from calibrant import CalibratedClassifier, to_onnx
    >>> from calibrant.datasets import make_waveform
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_waveform(100, random_state=0)
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> [output.name for output in to_onnx(model).graph.output]
    ['label', 'probabilities']
    """
    _check_model(model, logits)
    graph = Graph()
    proba = _proba(model, Features(graph, model.n_features_in_), logits)
    labels = _check_classes(model.classes_ if classes is None else classes, len(model.classes_))
    label = graph.op("Gather", labels, proba.op("ArgMax", axis=1, keepdims=0), axis=0)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    kind = onnx.helper.np_dtype_to_tensor_dtype(labels.dtype)
    converted = graph.to_model(
        {
            OUTPUTS[0]: (label, kind, [None]),
            OUTPUTS[1]: (proba, TensorProto.DOUBLE, [None, len(labels)]),
        },
        order=[MATRIX, ENSEMBLE, *names],
        properties={
            "calibrant": __version__,
            "model": type(model).__name__,
            "classes": json.dumps(labels.tolist()),
            **({"features": json.dumps(names)} if names else {}),
        },
    )
    converted.producer_name, converted.producer_version = "calibrant", __version__
    onnx.checker.check_model(converted, full_check=True)
    return converted


def takes_scores(model: Any) -> bool:
    """Return whether the features of a model are scores: those of a calibrator, also updated."""
    while isinstance(model, UpdatedClassifier):
        model = model.estimator
    return isinstance(model, MulticlassCalibrator)


def _proba(model: Any, X: Features, logits: bool) -> Tensor:
    if needs_votes(model):
        votes = X.graph.input(ENSEMBLE, TensorProto.DOUBLE, X.n_features)
        scores = [X.matrix(), votes]
        return calibrate(model, *(softmax(score) if logits else score for score in scores))
    return class_scores(model, softmax(X.matrix()) if logits else X)


def _check_model(model: Any, logits: bool) -> None:
    if isinstance(model, BinaryCalibrator):
        raise ValueError(
            "A calibrator must be one of all classes to be exported to ONNX, got the binary "
            f"calibrator {type(model).__name__}. Fit OneVsRestCalibrator("
            f"{type(model).__name__}()) to the columns (1 - score, score)."
        )
    if not isinstance(model, CalibratedClassifier | UpdatedClassifier | MulticlassCalibrator):
        raise ValueError(
            "model must be a CalibratedClassifier, an UpdatedClassifier or a calibrator, got "
            f"{type(model).__name__}. Convert other models with skl2onnx.to_onnx."
        )
    check_is_fitted(model)
    if not hasattr(model, "n_features_in_"):
        raise ValueError(
            "A model must take tables to be exported to ONNX, got one of other objects, such as "
            "texts. Export its calibrator alone, model.calibrators_[0]."
        )
    if logits and not takes_scores(model):
        raise ValueError(
            f"logits=True requires a calibrator, whose features are scores, got "
            f"{type(model).__name__}. Omit it: the exported classifier takes features."
        )


def _check_classes(classes: ArrayLike | Sequence[Any], n_classes: int) -> NDArray[Any]:
    """Return class labels as int64 or texts."""
    labels = np.asarray(classes)
    if labels.shape != (n_classes,):
        raise ValueError(
            f"classes must have one label for each of the {n_classes} classes, got shape "
            f"{labels.shape}. Omit them to use those of the model."
        )
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    if labels.dtype.kind == "U" or all(isinstance(label, str) for label in labels):
        return labels.astype(object)
    raise ValueError(
        f"Class labels must be integers or texts in ONNX, got {labels.dtype}. Pass classes, such "
        "as [str(label) for label in model.classes_]."
    )
