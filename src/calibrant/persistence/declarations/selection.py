"""Selection of features, projections and kernel approximations."""

from __future__ import annotations

from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import (
    RFE,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
)
from sklearn.kernel_approximation import Nystroem, RBFSampler

from calibrant.persistence.declarations._language import (
    FEATURES,
    NOTE,
    PARAMETER,
    SAME_FEATURES,
    choice,
    declare,
    maybe,
)
from calibrant.persistence.specifications import (
    ALLOWED_VALUES,
    Array,
    Integer,
    Number,
    Text,
)

for function in (chi2, f_classif, f_regression, mutual_info_classif):
    ALLOWED_VALUES.add(f"{function.__module__}.{function.__name__}", function)

# Constant features have no score.
SCORES = {
    **FEATURES,
    "pvalues_": maybe(Array(("n_features",), finite=False)),
    "scores_": Array(("n_features",), finite=False),
}
COMPONENTS = {**FEATURES, "components_": Array(("n_components", "n_features"))}
VARIANCES = {
    name: Array(("n_components",), low=0)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_")
}

DECLARATIONS = (
    *(declare(kind, SCORES) for kind in (SelectFdr, SelectFpr, SelectFwe)),
    *(declare(kind, SCORES) for kind in (SelectKBest, SelectPercentile)),
    declare(VarianceThreshold, {**FEATURES, "variances_": Array(("n_features",), low=0)}),
    declare(
        SelectFromModel,
        {"estimator_": SAME_FEATURES},
        optional={"max_features_": maybe(Integer()), "threshold_": Number()},
        parameters={"importance_getter": choice("auto", "coef_", "feature_importances_")},
    ),
    declare(
        RFE,
        {
            **FEATURES,
            "estimator_": PARAMETER,
            "n_features_": Integer(),
            "ranking_": Array(("n_features",), "i", low=1),
            "support_": Array(("n_features",), "b"),
        },
        optional={"classes_": NOTE},
        parameters={"importance_getter": choice("auto", "coef_", "feature_importances_")},
    ),
    declare(
        PCA,
        {
            **COMPONENTS,
            **VARIANCES,
            "mean_": Array(("n_features",)),
            "n_components_": Integer(size="n_components"),
        },
        optional={"_fit_svd_solver": Text(), "n_samples_": NOTE, "noise_variance_": Number(0)},
    ),
    declare(TruncatedSVD, {**COMPONENTS, **VARIANCES}),
    declare(
        Nystroem,
        {
            **COMPONENTS,
            "component_indices_": Array(("n_components",), "i", low=0),
            "normalization_": Array(("n_components", "n_components")),
        },
        optional={"_n_features_out": Integer(size="n_components")},
        parameters={"kernel": Text()},
    ),
    declare(
        RBFSampler,
        {
            **FEATURES,
            "random_offset_": Array(("n_components",)),
            "random_weights_": Array(("n_features", "n_components")),
        },
        optional={"_gamma": Number(), "_n_features_out": Integer(size="n_components")},
    ),
)
