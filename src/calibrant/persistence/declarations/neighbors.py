"""Nearest neighbors, whose search trees are built anew from the stored rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.impute import KNNImputer, MissingIndicator
from sklearn.neighbors import (
    VALID_METRICS,
    BallTree,
    KDTree,
    KNeighborsClassifier,
    NearestCentroid,
    RadiusNeighborsClassifier,
)

from calibrant.persistence.declarations._language import (
    CLASSIFIER,
    FEATURES,
    NOTE,
    PROBABILITIES,
    choice,
    declare,
    maybe,
)
from calibrant.persistence.declarations.values import SparseOrDense
from calibrant.persistence.refusals import RefusedPartError
from calibrant.persistence.specifications import Array, DictOf, Integer, Number, OneOf, Part, Text

SEARCH_TREES = {"kd_tree": KDTree, "ball_tree": BallTree}


def check_neighbors(model: Any, part: str) -> None:
    """Check the labels, which compiled code uses as indices, and the metric."""
    if model._y.max() >= len(model.classes_):
        raise RefusedPartError(f"{part}._y", "has labels beyond the classes")
    rows = model._fit_X
    if sparse.issparse(rows) and model._fit_method != "brute":
        raise RefusedPartError(f"{part}._fit_method", "must be 'brute' for sparse rows")
    if model.effective_metric_ not in VALID_METRICS[model._fit_method]:
        raise RefusedPartError(f"{part}.effective_metric_", "must be a metric of its method")
    if isinstance(model, RadiusNeighborsClassifier) and not hasattr(model, "outlier_label_"):
        raise RefusedPartError(f"{part}.outlier_label_", "is missing")
    n_neighbors = getattr(model, "n_neighbors", None)
    if isinstance(model, KNeighborsClassifier) and not isinstance(n_neighbors, Integral):
        raise RefusedPartError(f"{part}.n_neighbors", "must be a whole number")
    if (n_neighbors or 1) > rows.shape[0]:
        raise RefusedPartError(f"{part}.n_neighbors", "must be at most the number of rows")
    for name, value in model.effective_metric_params_.items():
        if isinstance(value, np.ndarray) and value.shape not in (
            (rows.shape[1],),
            (rows.shape[1],) * 2,
        ):
            raise RefusedPartError(
                f"{part}.effective_metric_params_", f"has {name} of another size"
            )
    outlier = getattr(model, "outlier_label_", None)
    if outlier is not None and outlier not in model.classes_.tolist():
        raise RefusedPartError(
            f"{part}.outlier_label_", "must be one of the classes in a model file"
        )


def rebuild_search_tree(model: Any) -> None:
    """Build the search tree from the rows, as ``fit`` does."""
    kind = SEARCH_TREES.get(model._fit_method)
    model._tree = kind and kind(
        model._fit_X,
        model.leaf_size,
        metric=model.effective_metric_,
        **model.effective_metric_params_,
    )


METRIC_PARAMETERS = DictOf(
    OneOf((Number(), Array(("n_features",)), Array(("n_features", "n_features"))))
)


def _neighbors(kind: type, optional: Any) -> Any:
    return declare(
        kind,
        {
            **CLASSIFIER,
            "_fit_X": SparseOrDense(("n_rows", "n_features"), itemsizes=(4, 8)),
            "_fit_method": choice("brute", *SEARCH_TREES),
            "_y": Array(("n_rows",), "i", low=0),
            "effective_metric_": Text(),
            "effective_metric_params_": METRIC_PARAMETERS,
            "n_samples_fit_": Integer(1, size="n_rows"),
            "outputs_2d_": choice(False),
        },
        optional=optional,
        parameters={
            "metric": Text(),
            "metric_params": maybe(METRIC_PARAMETERS),
            "weights": maybe(choice("uniform", "distance")),
        },
        not_stored=["_tree"],
        check=check_neighbors,
        rebuild=rebuild_search_tree,
    )


DECLARATIONS = (
    _neighbors(KNeighborsClassifier, {"radius": NOTE}),
    _neighbors(RadiusNeighborsClassifier, {"n_neighbors": NOTE, "outlier_label_": NOTE}),
    declare(
        NearestCentroid,
        {
            **CLASSIFIER,
            "centroids_": Array(("n_classes", "n_features")),
            "class_prior_": PROBABILITIES,
            "within_class_std_dev_": Array(("n_features",), low=0),
        },
        optional={"deviations_": Array(("n_classes", "n_features")), "true_classes_": NOTE},
        parameters={"metric": Text()},
    ),
    declare(
        KNNImputer,
        {
            **FEATURES,
            "_fit_X": Array(("n_rows", "n_features"), finite=False),
            "_mask_fit_X": Array(("n_rows", "n_features"), "b"),
            "_valid_mask": Array(("n_features",), "b"),
            "indicator_": maybe(Part((MissingIndicator,))),
        },
        parameters={
            "metric": choice("nan_euclidean"),
            "weights": choice("uniform", "distance"),
        },
    ),
)
