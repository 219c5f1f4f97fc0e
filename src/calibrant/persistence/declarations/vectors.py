"""Support vector machines, whose compiled code does not check support vectors and counts."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from calibrant.persistence.declarations._language import (
    CLASSES,
    FEATURES,
    NOTE,
    PARAMETER,
    choice,
    declare,
)
from calibrant.persistence.declarations.values import Dense32, Double, SparseOrDense
from calibrant.persistence.refusals import RefusedPartError
from calibrant.persistence.specifications import FLAG, Integer, ListOf, Number

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def rebuild_probability(model: Any) -> None:
    """Set what later versions of scikit-learn derive from a parameter."""
    model._effective_probability = model.probability is True


def check_support_vectors(model: Any, part: str) -> None:
    """Check the counts and coefficients that belong to the support vectors."""
    is_classifier = isinstance(model, SVC | NuSVC)
    n_classes = len(model.classes_) if is_classifier else 2
    n_pairs = n_classes * (n_classes - 1) // 2
    n_vectors = len(model.support_)
    is_sparse = sparse.issparse(model.support_vectors_)
    is_precomputed = model.kernel == "precomputed"  # has row numbers instead of vectors
    count = model._n_support
    dual_coefs = (model._dual_coef_, model.dual_coef_)
    intercepts = (model._intercept_, model.intercept_)
    if (
        count.shape != (n_classes,)
        or np.any(count < 0)
        or (is_classifier and count.sum() != n_vectors)
        or (not is_classifier and not is_sparse and count[0] != n_vectors)
        or np.any((model.support_ < 0) | (model.support_ >= model.shape_fit_[0]))
        or (is_precomputed and (is_sparse or model.shape_fit_[0] != model.n_features_in_))
        or model.support_vectors_.shape
        != ((0, 0) if is_precomputed else (n_vectors, model.n_features_in_))
        or any(coef.shape != (n_classes - 1, n_vectors) for coef in dual_coefs)
        or any(sparse.issparse(coef) is not is_sparse for coef in dual_coefs)
        or any(np.shape(intercept) != (n_pairs,) for intercept in intercepts)
        or any(np.shape(prob) not in ((0,), (n_pairs,)) for prob in (model._probA, model._probB))
        or model._probA.shape != model._probB.shape
        or model._sparse is not is_sparse
    ):
        raise RefusedPartError(
            part, "has support vectors that do not match their counts or coefficients"
        )
    if is_sparse and any(coef.nnz != (n_classes - 1) * n_vectors for coef in dual_coefs):
        raise RefusedPartError(part, "has support vectors without one coefficient per class")
    if is_sparse:
        _check_sparse_arguments(model, part)


def _check_sparse_arguments(model: Any, part: str) -> None:
    """Check what predictions of sparse rows pass on, although they do not use it."""
    weight = getattr(model, "class_weight_", np.empty(0))  # as scikit-learn does
    if not (isinstance(weight, np.ndarray) and weight.dtype == np.float64 and weight.ndim == 1):
        raise RefusedPartError(f"{part}.class_weight_", "must be an array of double precision")
    for name in ("nu", "epsilon"):
        if not isinstance(getattr(model, name), Real):
            raise RefusedPartError(f"{part}.{name}", "must be a number")


# Every machine has the parameters of all of them.
PARAMETERS = {
    **dict.fromkeys(
        ("C", "class_weight", "epsilon", "nu", "probability", "random_state"), PARAMETER
    ),
    "coef0": Number(),
    "degree": Number(0, 100),
    "kernel": choice(*KERNELS),
}

FITTED = {
    **FEATURES,
    **PARAMETERS,
    "_dual_coef_": SparseOrDense(),
    "_gamma": Number(0),
    "_intercept_": Double(("n_pairs",)),
    "_n_support": Dense32(("*",)),
    "_num_iter": NOTE,
    "_probA": Double(("*",)),
    "_probB": Double(("*",)),
    "_sparse": FLAG,
    "dual_coef_": SparseOrDense(),
    "fit_status_": choice(0, 1),
    "intercept_": Double(("n_pairs",)),
    "shape_fit_": ListOf(Integer(0)),
    "support_": Dense32(("*",)),
    "support_vectors_": SparseOrDense(),
}
OPTIONAL = {"class_weight_": NOTE, "n_iter_": NOTE}
DECLARATIONS = (
    *(
        declare(
            kind,
            {**FITTED, **CLASSES},
            optional=OPTIONAL,
            parameters=PARAMETERS,
            not_stored=["_effective_probability"],
            check=check_support_vectors,
            rebuild=rebuild_probability,
        )
        for kind in (SVC, NuSVC)
    ),
    *(
        declare(
            kind,
            FITTED,
            optional={**OPTIONAL, "offset_": NOTE},
            parameters=PARAMETERS,
            not_stored=["_effective_probability"],
            check=check_support_vectors,
            rebuild=rebuild_probability,
        )
        for kind in (SVR, NuSVR, OneClassSVM)
    ),
)
