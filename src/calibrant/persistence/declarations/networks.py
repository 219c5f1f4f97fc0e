"""Neural networks and Gaussian processes."""

from __future__ import annotations

from itertools import pairwise
from pkgutil import resolve_name
from typing import Any

import numpy as np
from scipy.linalg import cholesky
from sklearn.gaussian_process import GaussianProcessClassifier, kernels
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import LabelBinarizer

from calibrant.persistence.declarations._language import (
    CLASSIFIER,
    NOTE,
    choice,
    declare,
    maybe,
)
from calibrant.persistence.specifications import (
    Array,
    Integer,
    Labels,
    ListOf,
    Number,
    OneOf,
    Part,
    RefusedPartError,
)

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
    **dict.fromkeys(("k1", "k2"), Part(fitted=False)),
}


def rebuild_decomposition(model: Any) -> None:
    """Decompose the matrix of the kernel anew, as ``fit`` does."""
    weight = model.W_sr_
    weighted = weight[:, np.newaxis] * model.kernel_(model.X_train_)
    model.L_ = cholesky(np.eye(len(weight)) + weighted * weight, lower=True)


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
            "base_estimator_": Part(shares=("n_features",)),
            "n_classes_": Integer(2, size="n_classes"),
        },
        optional={"log_marginal_likelihood_value_": Number()},
        parameters={"optimizer": maybe(choice("fmin_l_bfgs_b"))},
    ),
    declare(
        BINARY_GAUSSIAN_PROCESS,
        {
            "X_train_": Array(("n_rows", "n_features")),
            "W_sr_": Array(("n_rows",), low=0),
            "classes_": Labels(fewest=2),
            "f_cached": Array(("n_rows",)),
            "kernel_": Part(KERNELS, fitted=False),
            "log_marginal_likelihood_value_": Number(),
            "pi_": Array(("n_rows",), low=0, high=1),
            "y_train_": Array(("n_rows",), "i", low=0, high=1),
        },
        optional={"log_marginal_likelihood_value_": Number()},
        parameters={"optimizer": maybe(choice("fmin_l_bfgs_b"))},
        not_stored=["L_", "rng"],
        rebuild=rebuild_decomposition,
    ),
    *(declare(kind, parameters=KERNEL_PARAMETERS) for kind in KERNELS),
)
