"""Naive Bayes, discriminant analysis and baselines."""

from __future__ import annotations

from typing import Any

from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)

from calibrant.persistence.declarations._language import (
    CLASSIFIER,
    LINEAR,
    NOTE,
    PER_FEATURE,
    PROBABILITIES,
    choice,
    declare,
)
from calibrant.persistence.refusals import RefusedPartError
from calibrant.persistence.specifications import (
    FLAG,
    LARGEST,
    Array,
    Integer,
    ListOf,
    Number,
    OneOf,
)


def check_ranks(model: Any, part: str) -> None:
    """Check that each class has as many axes as lengths of axes."""
    for rotation, scaling in zip(model.rotations_, model.scalings_, strict=True):
        if rotation.shape[1] != len(scaling):
            raise RefusedPartError(part, "has rotations that do not match their scalings")


def check_categories(model: Any, part: str) -> None:
    """Check that each counted category of a feature has a probability."""
    for counts, log_proba in zip(model.category_count_, model.feature_log_prob_, strict=True):
        if counts.shape != log_proba.shape:
            raise RefusedPartError(part, "has probabilities that do not match its categories")


# Numbers that are divided by.
SMALLEST = 1e-100
PER_CLASS_AND_FEATURE = Array(("n_classes", "n_features"))
COUNTS = {
    "class_count_": Array(("n_classes",), low=0),
    "class_log_prior_": Array(("n_classes",), high=0),
}
DISCRETE = {
    **CLASSIFIER,
    **COUNTS,
    "feature_count_": PER_CLASS_AND_FEATURE,
    "feature_log_prob_": PER_CLASS_AND_FEATURE,
}
DISCRIMINANT = {"priors_": PROBABILITIES, "means_": PER_CLASS_AND_FEATURE}

DECLARATIONS = (
    declare(
        GaussianNB,
        {
            **CLASSIFIER,
            "class_count_": Array(("n_classes",), low=0),
            "class_prior_": PROBABILITIES,
            "epsilon_": Number(0),
            "theta_": PER_CLASS_AND_FEATURE,
            "var_": Array(("n_classes", "n_features"), low=SMALLEST),
        },
    ),
    # The logarithm of 1 minus the probabilities must be finite.
    declare(
        BernoulliNB,
        {**DISCRETE, "feature_log_prob_": Array(("n_classes", "n_features"), high=-1e-15)},
    ),
    declare(MultinomialNB, DISCRETE),
    declare(ComplementNB, {**DISCRETE, "feature_all_": PER_FEATURE}),
    declare(
        CategoricalNB,
        {
            **CLASSIFIER,
            **COUNTS,
            "category_count_": ListOf(Array(("n_classes", "*"), low=0), "n_features"),
            "feature_log_prob_": ListOf(Array(("n_classes", "*"), high=0), "n_features"),
            "n_categories_": Array(("n_features",), "i", low=1),
        },
        check=check_categories,
    ),
    declare(
        LinearDiscriminantAnalysis,
        {**LINEAR, **DISCRIMINANT},
        optional={
            "_max_components": Integer(),
            "_n_features_out": Integer(),
            "covariance_": Array(("n_features", "n_features")),
            "explained_variance_ratio_": NOTE,
            "scalings_": Array(("n_features", "*")),
            "xbar_": PER_FEATURE,
        },
    ),
    declare(
        QuadraticDiscriminantAnalysis,
        {
            **CLASSIFIER,
            **DISCRIMINANT,
            "rotations_": ListOf(Array(("n_features", "*")), "n_classes"),
            "scalings_": ListOf(Array(("*",), low=SMALLEST), "n_classes"),
        },
        optional={"covariance_": ListOf(Array(("n_features", "n_features")), "n_classes")},
        former=("shrinkage", "solver", "covariance_estimator"),
        check=check_ranks,
    ),
    declare(
        DummyClassifier,
        {
            **CLASSIFIER,
            "_strategy": choice("most_frequent", "prior", "stratified", "uniform", "constant"),
            "class_prior_": PROBABILITIES,
            "n_classes_": Integer(size="n_classes"),
            "n_outputs_": Integer(1, 1),
            "sparse_output_": FLAG,
        },
    ),
    declare(
        DummyRegressor,
        {
            "n_outputs_": Integer(1, 1),
            "constant_": OneOf((Array((1, 1)), Array((1, 1), "i", low=-LARGEST))),
        },
    ),
)
