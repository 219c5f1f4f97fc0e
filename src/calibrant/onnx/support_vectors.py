"""Support vector machines as graphs.

The operator of ONNX for them computes in float32, which a steep calibration map magnifies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto
from sklearn.svm import SVC, LinearSVC, NuSVC

from calibrant._core.typing import FloatArray
from calibrant.onnx.graphs import Tensor
from calibrant.onnx.sklearn_parts import convert_classifier


def linear_decision(model: Any, X: Tensor) -> Tensor:
    """Return the decision values of a linear classifier; one column for two classes."""
    return X @ model.coef_.T + model.intercept_


def both_signs(decision: Tensor) -> Tensor:
    """Return the decision values of two classes, given those of the second."""
    return decision.graph.op("Concat", decision * -1.0, decision, axis=1)


def _linear(model: LinearSVC, X: Tensor) -> Tensor:
    decision = linear_decision(model, X)
    return both_signs(decision) if len(model.classes_) == 2 else decision


def _kernel_machine(model: SVC | NuSVC, X: Tensor) -> Tensor:
    if hasattr(model, "predict_proba"):  # with probabilities of its own
        return convert_classifier(model, X)
    kernel = _kernel_values(model, X)
    if len(model.classes_) == 2:
        return both_signs(kernel @ _dense(model.dual_coef_).T + model.intercept_)
    return _count_votes(kernel @ _pair_coefficients(model) + model.intercept_, len(model.classes_))


def _kernel_values(model: SVC | NuSVC, X: Tensor) -> Tensor:
    """Return the kernel of each row and each support vector."""
    if model.kernel not in KERNELS:
        raise ValueError(
            f"The kernel must be one of {', '.join(KERNELS)} to be exported to ONNX, got "
            f"{model.kernel!r}. Fit the model with one of these."
        )
    return KERNELS[model.kernel](model, X, _dense(model.support_vectors_))


def _dense(values: Any) -> FloatArray:
    """Return an attribute of a model that may have been fitted to a sparse matrix."""
    return values.toarray() if hasattr(values, "toarray") else values


def _gamma(model: SVC | NuSVC) -> float:
    # gamma="scale" depends on the training rows, and the value has no public name.
    return float(model._gamma)


def _linear_kernel(model: Any, X: Tensor, vectors: FloatArray) -> Tensor:  # noqa: ARG001
    return X @ vectors.T


def _rbf_kernel(model: Any, X: Tensor, vectors: FloatArray) -> Tensor:
    # Around the center of the support vectors, squared distances lose few digits to cancellation.
    center = vectors.mean(axis=0)
    x, v = X - center, vectors - center
    distance = (x * x).sum(1) + (v * v).sum(axis=1) - (x @ v.T) * 2.0
    return (distance.op("Max", 0.0) * -_gamma(model)).op("Exp")


def _polynomial_kernel(model: Any, X: Tensor, vectors: FloatArray) -> Tensor:
    return _scaled_product(model, X, vectors).op("Pow", float(model.degree))


def _sigmoid_kernel(model: Any, X: Tensor, vectors: FloatArray) -> Tensor:
    return _scaled_product(model, X, vectors).op("Tanh")


def _scaled_product(model: Any, X: Tensor, vectors: FloatArray) -> Tensor:
    # onnxruntime would fuse a product with a factor after it, and round the factor to float32.
    return X @ (_gamma(model) * vectors).T + float(model.coef0)


KERNELS: dict[str, Callable[[Any, Tensor, FloatArray], Tensor]] = {
    "linear": _linear_kernel,
    "poly": _polynomial_kernel,
    "rbf": _rbf_kernel,
    "sigmoid": _sigmoid_kernel,
}


def _pair_coefficients(model: SVC | NuSVC) -> FloatArray:
    """Return the coefficients of all support vectors in the machine of each pair of classes.

    ``dual_coef_`` has K - 1 rows: those of a support vector of class i are for the pairs of i with
    the other classes, in order.
    """
    n_classes = len(model.classes_)
    class_of_vector = np.repeat(np.arange(n_classes), model.n_support_)
    dual = _dense(model.dual_coef_)
    coefficients = np.zeros((len(class_of_vector), n_classes * (n_classes - 1) // 2))
    for pair, (i, j) in enumerate(zip(*np.triu_indices(n_classes, 1), strict=True)):
        first, second = class_of_vector == i, class_of_vector == j
        coefficients[first, pair] = dual[j - 1, first]
        coefficients[second, pair] = dual[i, second]
    return coefficients


def _count_votes(decision: Tensor, n_classes: int) -> Tensor:
    """Return the decision values of the classes from those of the pairs, as scikit-learn does.

    A class gets a vote for each pair that it wins, plus up to a third of a vote for its confidence.
    """
    first, second = (np.eye(n_classes)[index] for index in np.triu_indices(n_classes, 1))
    second_wins = decision.op("Less", 0.0).cast(TensorProto.DOUBLE)
    votes = second_wins @ second + (1.0 - second_wins) @ first
    confidence = decision @ (first - second)
    return votes + confidence / ((confidence.op("Abs") + 1.0) * 3.0)


SUPPORT_VECTOR_MACHINES: dict[type, Callable[[Any, Tensor], Tensor]] = {
    LinearSVC: _linear,
    NuSVC: _kernel_machine,
    SVC: _kernel_machine,
}
