"""Linear models."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
)
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import LinearSVC

from calibrant.persistence.declarations._language import (
    FEATURES,
    LINEAR,
    NOTE,
    PARAMETER,
    PER_FEATURE,
    declare,
)
from calibrant.persistence.refusals import RefusedPartError
from calibrant.persistence.specifications import FLAG, Array, Number, OneOf, Part


def rebuild_classes(model: Any) -> None:
    """Set the classes, which earlier versions of scikit-learn take from the binarizer."""
    if not hasattr(type(model), "classes_"):
        model.classes_ = model._label_binarizer.classes_


def rebuild_range(model: Any) -> None:
    """Set the range of isotonic regression, beyond which predictions are clipped, anew."""
    model.X_min_, model.X_max_ = model.X_thresholds_[[0, -1]]


def check_scores(model: Any, part: str) -> None:
    """Check that there is one score per class, or one for two classes."""
    n_classes = len(model._label_binarizer.classes_)
    if n_classes < 2:
        raise RefusedPartError(part, "must have at least two classes")
    n_scores = 1 if n_classes <= 2 else n_classes
    if not n_scores == len(np.atleast_2d(model.coef_)) == np.size(model.intercept_):
        raise RefusedPartError(part, "has coefficients that do not match the classes")


NOTES = {"n_iter_": NOTE}
SINGLE_OUTPUT = {**FEATURES, "coef_": PER_FEATURE, "intercept_": Number()}
# Some versions of scikit-learn ask the binarizer for the classes.
RIDGE = {
    "_label_binarizer": Part((LabelBinarizer,), shares=("n_classes",)),
    **FEATURES,
    "coef_": OneOf((Array(("*", "n_features")), PER_FEATURE)),
    "intercept_": OneOf((Array(("*",)), Number())),
}
# Training of stochastic gradient descent can go on from these; predictions do not use them.
GRADIENT_DESCENT = dict.fromkeys(
    (
        "C",
        "_average_coef",
        "_average_intercept",
        "_expanded_class_weight",
        "_standard_coef",
        "_standard_intercept",
        "average",
        "epsilon",
        "learning_rate",
        "loss",
        "n_iter_",
        "power_t",
        "t_",
    ),
    NOTE,
)

DECLARATIONS = (
    declare(LogisticRegression, LINEAR, optional=NOTES, former=("multi_class",)),
    declare(
        LogisticRegressionCV,
        LINEAR,
        optional=dict.fromkeys(
            ("C_", "Cs_", "coefs_paths_", "l1_ratio_", "l1_ratios_", "n_iter_", "scores_"), NOTE
        ),
        former=("multi_class", "use_legacy_attributes"),
    ),
    declare(
        LinearSVC,
        {**LINEAR, "intercept_": OneOf((LINEAR["intercept_"], Number()))},
        optional=NOTES,
    ),
    *(
        declare(kind, LINEAR, optional=GRADIENT_DESCENT, not_stored=["_loss_function_"])
        for kind in (Perceptron, SGDClassifier)
    ),
    declare(
        RidgeClassifier,
        RIDGE,
        optional={**NOTES, "solver_": PARAMETER},
        not_stored=["classes_"],
        check=check_scores,
        rebuild=rebuild_classes,
    ),
    declare(
        RidgeClassifierCV,
        RIDGE,
        optional={
            **dict.fromkeys(
                ("alpha_", "alpha_per_target", "best_score_", "cv_results_", "gcv_mode"), NOTE
            ),
        },
        not_stored=["classes_"],
        check=check_scores,
        rebuild=rebuild_classes,
    ),
    declare(LinearRegression, SINGLE_OUTPUT, optional={"rank_": NOTE, "singular_": NOTE}),
    declare(Ridge, SINGLE_OUTPUT, optional={**NOTES, "solver_": PARAMETER}),
    declare(
        RidgeCV,
        SINGLE_OUTPUT,
        optional={"alpha_": NOTE, "best_score_": NOTE, "cv_results_": NOTE},
    ),
    declare(
        IsotonicRegression,
        {
            "X_max_": Number(),
            "X_min_": Number(),
            "X_thresholds_": Array(("n_thresholds",), increasing=True),
            "increasing_": FLAG,
            "y_thresholds_": Array(("n_thresholds",)),
        },
        not_stored=["f_"],  # made by __setstate__
        rebuild=rebuild_range,
    ),
)
