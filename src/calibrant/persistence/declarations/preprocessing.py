"""Scalers, encoders, imputers and other transformers of features."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    LabelBinarizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

from calibrant.persistence.declarations._language import (
    CLASSES,
    FEATURES,
    NOTE,
    PER_FEATURE,
    choice,
    declare,
    maybe,
)
from calibrant.persistence.refusals import RefusedPartError
from calibrant.persistence.specifications import (
    ALLOWED_VALUES,
    FLAG,
    Array,
    Constant,
    DictOf,
    Integer,
    Labels,
    ListOf,
    Number,
    OneOf,
    Part,
    Plain,
)

MOST_POLYNOMIALS = 10**6
# Functions of numbers that FunctionTransformer may apply to every value of an array.
FUNCTIONS = ("log", "log1p", "log2", "log10", "exp", "expm1", "sqrt", "square", "abs", "sign")
# Where they are defined, by version of numpy.
FUNCTION_MODULES = ("numpy", "numpy._core._multiarray_umath", "numpy.core._multiarray_umath")
for name in FUNCTIONS:
    function = getattr(np, name)
    for module in FUNCTION_MODULES:
        ALLOWED_VALUES.add(f"{module}.{function.__name__}", function)


def check_groups(encoder: Any, part: str) -> list[int]:
    """Check the groups of infrequent categories, and return their numbers per feature."""
    n_groups = [len(categories) for categories in encoder.categories_]
    for number, categories in enumerate(encoder.categories_):
        # Numbers are found by a binary search; the missing one comes last.
        is_number = categories.dtype.kind in "biuf"
        if is_number and not np.array_equal(categories, np.unique(categories), equal_nan=True):
            raise RefusedPartError(f"{part}.categories_[{number}]", "must be in increasing order")
    mappings = getattr(encoder, "_default_to_infrequent_mappings", None) or [None] * len(n_groups)
    infrequent = getattr(encoder, "_infrequent_indices", None) or [None] * len(n_groups)
    if encoder._infrequent_enabled and not hasattr(encoder, "_infrequent_indices"):
        raise RefusedPartError(part, "has no infrequent categories")
    for number, (mapping, indices) in enumerate(zip(mappings, infrequent, strict=True)):
        n_categories = n_groups[number]
        if (mapping is None) is not (indices is None):
            raise RefusedPartError(part, "has groups that do not match its categories")
        if mapping is None:
            continue
        n_groups[number] = int(mapping.max(initial=-1)) + 1
        if (
            len(mapping) != n_categories
            or n_groups[number] > n_categories
            or set(mapping.tolist()) != set(range(n_groups[number]))
            or len(indices) == 0
            or indices.max() >= n_categories
        ):
            raise RefusedPartError(part, "has groups that do not match its categories")
    for feature, place in getattr(encoder, "_missing_indices", {}).items():
        if type(feature) is not int or not 0 <= place < len(encoder.categories_[feature]):
            raise RefusedPartError(part, "has missing categories that it does not have")
    return n_groups


def check_one_hot(encoder: Any, part: str) -> None:
    """Check the numbers that become column indices of a sparse matrix."""
    n_groups = check_groups(encoder, part)
    dropped = encoder._drop_idx_after_grouping
    for number, drop in enumerate([] if dropped is None else dropped):
        if drop is not None and not (type(drop) is int and 0 <= drop < n_groups[number]):
            raise RefusedPartError(part, "drops a category that it does not have")


def check_target_encoder(encoder: Any, part: str) -> None:
    """Check that there is a number for each category, and for each class if there are many."""
    n_groups = check_groups(encoder, part)
    n_classes = len(encoder.classes_) if encoder.target_type_ == "multiclass" else 1
    lengths = [length for length in n_groups for _ in range(n_classes)]
    if [len(encoding) for encoding in encoder.encodings_] != lengths:
        raise RefusedPartError(part, "has encodings that do not match its categories")
    if np.size(encoder.target_mean_) != n_classes:
        raise RefusedPartError(part, "has means that do not match its classes")


def check_binarizer(binarizer: Any, part: str) -> None:
    """Check the parameters, which depend on each other."""
    if binarizer.neg_label >= binarizer.pos_label:
        raise RefusedPartError(part, "must have neg_label below pos_label")


def rebuild_one_hot(encoder: Any) -> None:
    """Count the columns of each feature anew."""
    encoder._n_features_outs = encoder._compute_n_features_outs()


def rebuild_fill_type(imputer: Any) -> None:
    """Set the type of filled values, which earlier versions of scikit-learn do not have."""
    imputer._fill_dtype = vars(imputer).get("_fill_dtype", imputer.statistics_.dtype)


def check_polynomials(transformer: Any, part: str) -> None:
    """Check that the number of polynomials is that of the degree."""
    n_features, low, high = (
        transformer.n_features_in_,
        transformer._min_degree,
        transformer._max_degree,
    )
    degree = transformer.degree
    if (low, high) != (tuple(degree) if isinstance(degree, list | tuple) else (0, degree)):
        raise RefusedPartError(part, "has degrees that differ from its parameter")
    if comb(n_features + min(high, 100), min(high, 100, n_features)) > MOST_POLYNOMIALS:
        raise RefusedPartError(part, f"must have at most {MOST_POLYNOMIALS} polynomials")
    n_full, n_output = (
        transformer._num_combinations(
            n_features, lowest, high, transformer.interaction_only, transformer.include_bias
        )
        for lowest in (0, low)
    )
    if (transformer._n_out_full, transformer.n_output_features_) != (n_full, n_output):
        raise RefusedPartError(part, "has another number of polynomials than it states")


def rebuild_splines(transformer: Any) -> None:
    """Make the splines anew from their knots and coefficients, which SciPy checks."""
    transformer.bsplines_ = [_rebuild_spline(spline) for spline in transformer.bsplines_]


def _rebuild_spline(spline: Any) -> BSpline:
    knots, coefs = _knots_and_coefs(spline)
    return BSpline(knots, coefs, spline.k, extrapolate=spline.extrapolate, axis=spline.axis)


def _knots_and_coefs(spline: Any) -> tuple[Any, Any]:
    stored = vars(spline)
    # The names depend on the version of SciPy.
    return stored.get("_t", stored.get("t")), stored.get("_c", stored.get("c"))


def check_splines(transformer: Any, part: str) -> None:
    """Check that all splines have the transformer's degree and number of columns."""
    bases = transformer.n_features_out_ // transformer.n_features_in_
    n_columns = bases + (not transformer.include_bias)
    n_repeated = transformer.degree if transformer.extrapolation == "periodic" else 0
    if bases * transformer.n_features_in_ != transformer.n_features_out_:
        raise RefusedPartError(f"{part}.n_features_out_", "must be a multiple of the features")
    for number, spline in enumerate(transformer.bsplines_):
        knots, coefs = _knots_and_coefs(spline)
        if (
            spline.k != transformer.degree
            or coefs.shape != (n_columns + n_repeated, n_columns)
            or len(knots) != n_columns + n_repeated + spline.k + 1
        ):
            raise RefusedPartError(f"{part}.bsplines_[{number}]", "does not match the transformer")


def check_bins(transformer: Any, part: str) -> None:
    """Check that the number of bins is that of the edges."""
    for n_bins, edges in zip(transformer.n_bins_, transformer.bin_edges_, strict=True):
        if len(edges) != n_bins + 1 or n_bins < 1:
            raise RefusedPartError(part, "has bins that do not match their edges")
    encoder = getattr(transformer, "_encoder", None)
    expected = [np.arange(n_bins) for n_bins in transformer.n_bins_]
    if encoder is not None and not all(map(np.array_equal, encoder.categories_, expected)):
        raise RefusedPartError(part, "has bins that do not match their categories")


FUNCTION = Constant(tuple(getattr(np, name) for name in FUNCTIONS))
CATEGORIES = ListOf(Labels("*", missing=True), "n_features")
INDICES = ListOf(maybe(Array(("*",), "i", low=0)), "n_features")
ENCODER_OPTIONS = {
    "_default_to_infrequent_mappings": INDICES,
    "_infrequent_indices": INDICES,
    "_missing_indices": DictOf(Integer()),
}
DROPPED = ListOf(maybe(Integer()), "n_features")
POSITIVE_PER_FEATURE = Array(("n_features",), low=1e-100)
COUNT = OneOf((Number(0), Array(("n_features",), "if", low=0)))
COEFFICIENTS = {
    "_c": Array(("*", "*")),
    "_t": Array(("*",), increasing=True),
    "c": Array(("*", "*")),
    "t": Array(("*",), increasing=True),
}

DECLARATIONS = (
    declare(
        StandardScaler,
        {
            **FEATURES,
            "mean_": maybe(PER_FEATURE),
            "n_samples_seen_": COUNT,
            "scale_": maybe(POSITIVE_PER_FEATURE),
            "var_": maybe(Array(("n_features",), low=0)),
        },
    ),
    declare(
        MinMaxScaler,
        {
            **FEATURES,
            "data_max_": PER_FEATURE,
            "data_min_": PER_FEATURE,
            "data_range_": PER_FEATURE,
            "min_": PER_FEATURE,
            "n_samples_seen_": COUNT,
            "scale_": PER_FEATURE,
        },
    ),
    declare(
        MaxAbsScaler,
        {
            **FEATURES,
            "max_abs_": PER_FEATURE,
            "n_samples_seen_": COUNT,
            "scale_": POSITIVE_PER_FEATURE,
        },
        former=("clip",),
    ),
    declare(
        RobustScaler,
        {
            **FEATURES,
            "center_": maybe(PER_FEATURE),
            "scale_": maybe(POSITIVE_PER_FEATURE),
        },
    ),
    declare(Normalizer),
    declare(Binarizer),
    declare(
        QuantileTransformer,
        {
            **FEATURES,
            "n_quantiles_": Integer(1, size="n_quantiles"),
            "quantiles_": Array(("n_quantiles", "n_features")),
            "references_": Array(("n_quantiles",), low=0, high=1, increasing=True),
        },
    ),
    declare(
        PowerTransformer,
        {**FEATURES, "lambdas_": Array(("n_features",), low=-1e3, high=1e3)},
        optional={"_scaler": Part((StandardScaler,), shares=("n_features",))},
    ),
    declare(
        PolynomialFeatures,
        {
            **FEATURES,
            "_max_degree": Integer(),
            "_min_degree": Integer(),
            "_n_out_full": Integer(0, MOST_POLYNOMIALS),
            "n_output_features_": Integer(0, MOST_POLYNOMIALS),
        },
        check=check_polynomials,
    ),
    declare(
        BSpline,
        {"axis": choice(0), "extrapolate": choice(False, True, "periodic"), "k": Integer(0, 100)},
        optional=COEFFICIENTS,
        parameters={},
        not_stored=["_asarray"],
    ),
    declare(
        SplineTransformer,
        {
            **FEATURES,
            "bsplines_": ListOf(Part((BSpline,)), "n_features"),
            "n_features_out_": Integer(),
        },
        former=("handle_missing",),
        optional={"_nan_indicator": NOTE},
        check=check_splines,
        rebuild=rebuild_splines,
    ),
    declare(
        KBinsDiscretizer,
        {
            **FEATURES,
            "bin_edges_": ListOf(Array(("*",), finite=False, increasing=True), "n_features"),
            "n_bins_": Array(("n_features",), "i", low=1),
        },
        optional={"_encoder": Part((OneHotEncoder,), shares=("n_features",))},
        former=("quantile_method",),
        check=check_bins,
    ),
    declare(
        OneHotEncoder,
        {
            "_drop_idx_after_grouping": maybe(DROPPED),
            "_infrequent_enabled": FLAG,
            "categories_": CATEGORIES,
            "drop_idx_": maybe(DROPPED),
        },
        optional=ENCODER_OPTIONS,
        parameters={"feature_name_combiner": choice("concat")},
        not_stored=["_n_features_outs"],
        check=check_one_hot,
        rebuild=rebuild_one_hot,
    ),
    declare(
        OrdinalEncoder,
        {
            "_infrequent_enabled": FLAG,
            "_missing_indices": DictOf(Integer()),
            "categories_": CATEGORIES,
        },
        optional=ENCODER_OPTIONS,
        check=check_groups,
    ),
    declare(
        TargetEncoder,
        {
            **FEATURES,
            "_infrequent_enabled": FLAG,
            "categories_": CATEGORIES,
            "encodings_": ListOf(Array(("*",))),
            "target_mean_": OneOf((Number(), Array(("*",)))),
            "target_type_": choice("binary", "multiclass", "continuous"),
        },
        optional={**ENCODER_OPTIONS, **CLASSES, "_label_encoder": Part((LabelEncoder,))},
        check=check_target_encoder,
    ),
    declare(LabelEncoder, CLASSES),
    declare(
        LabelBinarizer,
        {
            **CLASSES,
            "sparse_input_": FLAG,
            "y_type_": choice("binary", "multiclass", "multilabel-indicator"),
        },
        check=check_binarizer,
    ),
    declare(
        FunctionTransformer,
        parameters={
            "func": maybe(FUNCTION),
            "inverse_func": maybe(FUNCTION),
            "feature_names_out": maybe(choice("one-to-one")),
        },
    ),
    declare(
        SimpleImputer,
        {
            **FEATURES,
            "indicator_": maybe(Part((MissingIndicator,), shares=("n_features",))),
            "statistics_": OneOf(
                (Array(("n_features",), finite=False), ListOf(Plain(), "n_features"))
            ),
        },
        optional={"_fill_dtype": NOTE, "_fit_dtype": NOTE},
        parameters={"strategy": choice("mean", "median", "most_frequent", "constant")},
        rebuild=rebuild_fill_type,
    ),
    declare(
        MissingIndicator,
        {
            "_n_features": Integer(size="n_features"),
            "_precomputed": FLAG,
            "features_": Array(("*",), "i", low=0),
        },
    ),
)
for scalar in (
    *(
        [
            "float16",
            "float32",
            "float64",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "bool_",
            "str_",
        ]
    ),
    *("number", "object_", "integer", "floating"),
):
    ALLOWED_VALUES.add(f"numpy.{getattr(np, scalar).__name__}", getattr(np, scalar))
for builtin in (object, int, float, str, bool):
    ALLOWED_VALUES.add(f"builtins.{builtin.__name__}", builtin)
