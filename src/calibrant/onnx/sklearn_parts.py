"""Estimators that skl2onnx converts, with features in float64."""

from __future__ import annotations

import warnings
from typing import Any

import onnx
from onnx import ModelProto, TensorProto
from sklearn.calibration import CalibratedClassifierCV

from calibrant.onnx.graphs import ML, OPSETS, Tensor

FEATURES = "X"
# Operators of ai.onnx.ml that do not compute. All others return float32.
EXACT_OPERATORS = {"ArrayFeatureExtractor", "LabelEncoder"}
# Some errors of skl2onnx print a model.
LONGEST_REASON = 120


def convert_transformer(transformer: Any, X: Tensor) -> Tensor:
    """Return the features that a fitted transformer makes of others."""
    return _embed(_convert(transformer, {}), X, 0)


def convert_classifier(model: Any, X: Tensor) -> Tensor:
    """Return the scores of a fitted classifier, one column per class.

    Parameters
    ----------
    model : classifier
        A classifier with ``predict_proba`` or ``decision_function``. The former is preferred.
    X : Tensor
        Its features.

    Returns
    -------
    Tensor
        Probabilities or decision values; of two classes, the latter have opposite signs.
    """
    options: dict[str, Any] = {"zipmap": False}
    if not hasattr(model, "predict_proba"):
        options["raw_scores"] = True
    return _embed(_convert(model, options), X, 1)


def _convert(estimator: Any, options: dict[str, Any]) -> ModelProto:
    try:
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import DoubleTensorType
    except ImportError:
        raise ImportError(
            "Exporting estimators of scikit-learn requires skl2onnx, which is not installed. "
            "Install it with: pip install 'calibrant[onnx]'"
        ) from None

    if isinstance(estimator, CalibratedClassifierCV):
        raise ValueError(
            "The estimator must not be calibrated by scikit-learn to be exported to ONNX, got "
            "CalibratedClassifierCV. For isotonic calibration, skl2onnx takes the nearest knot "
            "instead of interpolating. Pass its estimator to CalibratedClassifier."
        )
    shape = [None, estimator.n_features_in_]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of deprecations inside skl2onnx
            model = convert_sklearn(
                estimator,
                initial_types=[(FEATURES, DoubleTensorType(shape))],
                target_opset=OPSETS,
                options={id(estimator): options} if options else None,
            )
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # skl2onnx raises errors of many types
        raise _refusal(estimator, f"{type(error).__name__}: {error}") from None
    for node in model.graph.node:
        if node.domain not in OPSETS:
            raise _refusal(estimator, f"it uses operators of {node.domain}")
        if node.domain == ML and node.op_type not in EXACT_OPERATORS:
            raise _refusal(estimator, f"the operator {node.op_type} computes in float32")
    return model


def _refusal(estimator: Any, reason: str) -> ValueError:
    first = reason.strip().splitlines()[0].rstrip(".")
    said = first if len(first) <= LONGEST_REASON else f"{first[:LONGEST_REASON]}..."
    return ValueError(
        "The estimator must be one that skl2onnx converts in float64 to be exported to ONNX. It "
        f"does not convert {type(estimator).__name__} ({said}). Use another "
        "estimator, or export the calibrator alone, model.calibrators_[0], and convert the "
        "estimator by other means."
    )


def _embed(model: ModelProto, X: Tensor, output: int) -> Tensor:
    tensor = X.graph.embed(model, {FEATURES: X})[output]
    is_double = model.graph.output[output].type.tensor_type.elem_type == TensorProto.DOUBLE
    return tensor if is_double else tensor.cast(TensorProto.DOUBLE)
