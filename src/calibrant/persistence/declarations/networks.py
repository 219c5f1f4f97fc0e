"""Neural networks and Gaussian processes."""

from __future__ import annotations

from inspect import signature
from itertools import pairwise
from pkgutil import resolve_name
from typing import Any

import numpy as np
from scipy.linalg import cholesky
from sklearn.gaussian_process import GaussianProcessClassifier, kernels
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import LabelBinarizer

from calibrant.persistence.declarations._language import (
    CLASSIFIER,
    NOTE,
    PARAMETER,
    choice,
    declare,
    maybe,
)
from calibrant.persistence.refusals import RefusedPartError
from calibrant.persistence.specifications import Array, Integer, Labels, ListOf, Number, OneOf, Part

BINARY_GAUSSIAN_PROCESS = resolve_name(
    "sklearn.gaussian_process._gpc:_BinaryGaussianProcessClassifierLaplace"
)
KERNELS = (
    kernels.ConstantKernel,
    kernels.DotProduct,
    kernels.Matern,
    kernels.Product,
    kernels.RBF,
    kernels.RationalQuadratic,
    kernels.Sum,
    kernels.WhiteKernel,
)


SCALE = Number(1e-50, 1e50)
SCALES = OneOf((SCALE, Array(("*",), low=1e-50, high=1e50)))
KERNEL_PARAMETERS = {
    **dict.fromkeys(("alpha", "constant_value", "noise_level", "nu", "sigma_0"), SCALE),
    "length_scale": SCALES,
    **dict.fromkeys(("k1", "k2"), Part(KERNELS)),
}
KERNEL = Part(KERNELS)
# A kernel needs its parameters.
KERNEL_PARAMETERS_OF = {
    kind: {name: KERNEL_PARAMETERS.get(name, PARAMETER) for name in signature(kind).parameters}
    for kind in KERNELS
}
GAUSSIAN_PROCESS_PARAMETERS = {
    "kernel": maybe(KERNEL),
    "optimizer": maybe(choice("fmin_l_bfgs_b")),
}


def rebuild_decomposition(model: Any) -> None:
    """Decompose the matrix of the kernel anew, as ``fit`` does."""
    weight = model.W_sr_
    weighted = weight[:, np.newaxis] * model.kernel_(model.X_train_)
    model.L_ = cholesky(np.eye(len(weight)) + weighted * weight, lower=True)


def check_binary_processes(model: Any, part: str) -> None:
    """Check that several classes are told apart by Gaussian processes of two classes."""
    for process in getattr(model.base_estimator_, "estimators_", []):
        if type(process) is not BINARY_GAUSSIAN_PROCESS:
            raise RefusedPartError(
                f"{part}.base_estimator_", "must consist of Gaussian processes of two classes"
            )


def check_layers(model: Any, part: str) -> None:
    """Check that each layer takes what the one before it returns."""
    widths = [model.n_features_in_, *(len(intercept) for intercept in model.intercepts_)]
    shapes = list(pairwise(widths))
    if [coef.shape for coef in model.coefs_] != shapes or widths[-1] != model.n_outputs_:
        raise RefusedPartError(part, "has layers that do not fit together")
    if model.n_layers_ != len(widths):
        raise RefusedPartError(part, "has another number of layers than it states")


DECLARATIONS = (
    declare(
        MLPClassifier,
        {
            **CLASSIFIER,
            "_label_binarizer": Part((LabelBinarizer,), shares=("n_classes",)),
            "coefs_": ListOf(Array(("*", "*"))),
            "intercepts_": ListOf(Array(("*",))),
            "n_layers_": Integer(2),
            "n_outputs_": Integer(size="n_scores"),
            "out_activation_": choice("logistic", "softmax"),
        },
        optional=dict.fromkeys(
            (
                "_best_coefs",
                "_best_intercepts",
                "_no_improvement_count",
                "best_loss_",
                "best_validation_score_",
                "loss",
                "loss_",
                "loss_curve_",
                "n_iter_",
                "t_",
                "validation_scores_",
            ),
            NOTE,
        ),
        not_stored=["_optimizer", "_random_state"],
        check=check_layers,
    ),
    declare(
        GaussianProcessClassifier,
        {
            **CLASSIFIER,
            "base_estimator_": Part(
                (BINARY_GAUSSIAN_PROCESS, OneVsOneClassifier, OneVsRestClassifier),
                shares=("n_features",),
            ),
            "n_classes_": Integer(2, size="n_classes"),
        },
        optional={"log_marginal_likelihood_value_": Number()},
        parameters=GAUSSIAN_PROCESS_PARAMETERS,
        check=check_binary_processes,
    ),
    declare(
        BINARY_GAUSSIAN_PROCESS,
        {
            "X_train_": Array(("n_rows", "n_features")),
            # The roots of p (1 - p).
            "W_sr_": Array(("n_rows",), low=0, high=0.5),
            "classes_": Labels(fewest=2),
            "f_cached": Array(("n_rows",)),
            "kernel_": KERNEL,
            "log_marginal_likelihood_value_": Number(),
            "pi_": Array(("n_rows",), low=0, high=1),
            "y_train_": Array(("n_rows",), "i", low=0, high=1),
        },
        optional={"log_marginal_likelihood_value_": Number()},
        parameters=GAUSSIAN_PROCESS_PARAMETERS,
        not_stored=["L_", "rng"],
        rebuild=rebuild_decomposition,
    ),
    *(declare(kind, needed) for kind, needed in KERNEL_PARAMETERS_OF.items()),
)
