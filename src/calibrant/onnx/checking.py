"""Comparison of exported models with the originals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from calibrant.onnx.features import MATRIX, MISSING_TEXT, OUTPUTS


def largest_difference(converted: ModelProto, model: Any, X: Any) -> float:
    """Return the largest difference between the probabilities of an ONNX model and the original.

    Parameters
    ----------
    converted : onnx.ModelProto
        What `to_onnx` returned.
    model : CalibratedClassifier, UpdatedClassifier or multi-class calibrator
        The fitted model.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Rows to predict: features, or scores for a calibrator.

    Returns
    -------
    float
        The largest difference between two probabilities, computed by onnxruntime and by
        ``model.predict_proba``.

    Examples
    --------
    >>> from calibrant.calibrators import TemperatureScaling
    >>> from calibrant.onnx import largest_difference, to_onnx
    >>> score = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]] * 20
    >>> scaled = TemperatureScaling().fit(score, [0, 1, 2] * 20)
    >>> largest_difference(to_onnx(scaled), scaled, score) < 1e-12
    True
    """
    proba = run_model(converted, X)[1]
    return float(np.abs(proba - model.predict_proba(X)).max(initial=0.0))


def run_model(converted: ModelProto, X: Any) -> list[NDArray[Any]]:
    """Run a model in onnxruntime.

    Parameters
    ----------
    converted : onnx.ModelProto
        What `to_onnx` returned.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Rows to predict. A model of named columns takes a data frame.

    Returns
    -------
    list of ndarray
        The labels and the probabilities.
    """
    try:
        from onnxruntime import InferenceSession
    except ImportError:
        raise ImportError(
            "Running ONNX models requires onnxruntime, which is not installed. "
            "Install it with: pip install 'calibrant[onnx]'"
        ) from None

    session = InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.get_inputs()
    columns = getattr(X, "columns", ())
    if all(each.name in columns and each.shape[1] == 1 for each in wanted):
        inputs = {each.name: _column(X[each.name], each.type) for each in wanted}
    else:
        inputs = {MATRIX: np.ascontiguousarray(X, dtype=np.float64)}
    return session.run(OUTPUTS, inputs)


def _column(values: Any, kind: str) -> NDArray[Any]:
    """Return a column of a data frame as an input."""
    if kind == "tensor(string)":
        return values.fillna(MISSING_TEXT).to_numpy(dtype=object)[:, None]
    return values.to_numpy(dtype=np.float64)[:, None]
