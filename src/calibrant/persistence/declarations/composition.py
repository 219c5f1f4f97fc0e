"""Estimators that consist of others: pipelines, ensembles and searches."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import LabelBinarizer, LabelEncoder
from sklearn.utils import Bunch

from calibrant.persistence.declarations._language import (
    ANY_ESTIMATOR,
    CLASSES,
    CLASSIFIER,
    FEATURES,
    NOTE,
    PARAMETER,
    PREDICTOR,
    SAME_FEATURES,
    SCORER,
    choice,
    declare,
    maybe,
)
from calibrant.persistence.refusals import RefusedPartError
from calibrant.persistence.specifications import (
    FLAG,
    Array,
    DictOf,
    Integer,
    Labels,
    ListOf,
    Number,
    OneOf,
    Part,
    Text,
)

CALIBRATED = resolve_name("sklearn.calibration:_CalibratedClassifier")
SIGMOID = resolve_name("sklearn.calibration:_SigmoidCalibration")
CONSTANT = resolve_name("sklearn.multiclass:_ConstantPredictor")
REQUESTS = (
    resolve_name("sklearn.utils._metadata_requests:MetadataRequest"),
    resolve_name("sklearn.utils._metadata_requests:MethodMetadataRequest"),
)
SPLITTERS = tuple(
    getattr(model_selection, name)
    for name in (
        "GroupKFold",
        "GroupShuffleSplit",
        "KFold",
        "LeaveOneGroupOut",
        "LeaveOneOut",
        "ShuffleSplit",
        "StratifiedGroupKFold",
        "StratifiedKFold",
        "StratifiedShuffleSplit",
    )
)
REPEATED = {
    model_selection.RepeatedKFold: model_selection.KFold,
    model_selection.RepeatedStratifiedKFold: model_selection.StratifiedKFold,
}
# In place of a transformer.
SKIPPED = ("drop", "passthrough")
SEARCHES = (model_selection.GridSearchCV, model_selection.RandomizedSearchCV)


def check_steps(model: Any, part: str) -> None:
    """Check that a pipeline or union has named steps, and that they transform."""
    steps = model.steps if isinstance(model, Pipeline) else model.transformer_list
    _check_named(steps, 2, part)
    n_transformers = len(steps) - isinstance(model, Pipeline)
    for name, step in steps[:n_transformers]:
        is_skipped = step in SKIPPED or (step is None and isinstance(model, Pipeline))
        if not is_skipped and not hasattr(step, "transform"):
            raise RefusedPartError(f"{part}[{name!r}]", "must be a transformer")
    if not steps:
        raise RefusedPartError(part, "must have at least one step")


def fitted_steps(model: Any) -> dict[str, Any]:
    """Return the steps of a pipeline or union that are not skipped."""
    steps = model.steps if isinstance(model, Pipeline) else model.transformer_list
    return {name: step for name, step in steps if step is not None and step not in SKIPPED}


def fitted_transformers(model: Any) -> dict[str, Any]:
    """Return the transformers of a ColumnTransformer; those without columns are not fitted."""
    return {
        name: transformer
        for name, transformer, columns in model.transformers_
        if transformer not in SKIPPED and not _is_empty(columns)
    }


def _is_empty(columns: Any) -> bool:
    chosen = np.atleast_1d(columns)
    return not (chosen.any() if chosen.dtype.kind == "b" else chosen.size)


def check_columns(model: Any, part: str) -> None:
    """Check that the columns of each transformer exist."""
    _check_named(model.transformers, 3, part)
    _check_named(model.transformers_, 3, part)
    names = getattr(model, "feature_names_in_", [])
    for name, transformer, columns in model.transformers_:
        if name not in model._transformer_to_input_indices:
            raise RefusedPartError(f"{part}[{name!r}]", "must have columns")
        if transformer not in SKIPPED and not hasattr(transformer, "transform"):
            raise RefusedPartError(f"{part}[{name!r}]", "must be a transformer")
        if not (isinstance(columns, slice) or _is_empty(columns)):
            chosen = np.atleast_1d(columns)
            if not _exist(chosen, model.n_features_in_, names):
                raise RefusedPartError(f"{part}[{name!r}]", "must have columns that exist")
            # A transformer of a single column, given by its name alone, does not know the name.
            known = getattr(transformer, "feature_names_in_", None) if np.ndim(columns) else None
            if known is not None and chosen.dtype.kind in "UO" and list(known) != list(chosen):
                raise RefusedPartError(f"{part}[{name!r}]", "must have the columns of its fit")


def _exist(chosen: Any, n_features: int, names: Any) -> bool:
    """Return whether there are columns of these numbers or names, or that a mask is complete."""
    kind = chosen.dtype.kind
    if chosen.ndim != 1 or kind == "b":
        return chosen.shape == (n_features,)
    if kind in "iu":
        return bool(np.all(np.abs(chosen + 0.5) < n_features))
    return kind in "UO" and set(chosen.tolist()) <= set(names)


def _check_named(items: Any, length: int, part: str) -> None:
    for item in items:
        if type(item) not in (list, tuple) or len(item) != length or type(item[0]) is not str:
            raise RefusedPartError(part, "must consist of parts with names")


def check_binary(model: Any, part: str) -> None:
    """Check that each estimator decides between two classes."""
    for estimator in model.estimators_:
        if type(estimator) is not CONSTANT and len(getattr(estimator, "classes_", "ab")) != 2:
            raise RefusedPartError(f"{part}.estimators_", "must decide between two classes")


def check_features(model: Any, part: str) -> None:
    """Check that the features of each estimator of a bagging ensemble exist."""
    for features in model.estimators_features_:
        if not len(features) or features.max() >= model.n_features_in_:
            raise RefusedPartError(f"{part}.estimators_features_", "must be features that exist")


def check_calibrators(model: Any, part: str) -> None:
    """Check that probabilities are defined for all scores."""
    for calibrator in model.calibrators:
        if getattr(calibrator, "out_of_bounds", "clip") != "clip":
            raise RefusedPartError(f"{part}.calibrators", "must clip scores")


def rebuild_names(model: Any) -> None:
    """Make the fitted estimators available by name anew."""
    fitted = iter(model.estimators_)
    model.named_estimators_ = Bunch(
        **{name: each if each == "drop" else next(fitted) for name, each in model.estimators}
    )


def rebuild_folds(splitter: Any) -> None:
    """Set the type of the repeated splitter, since files contain no types."""
    splitter.cv = REPEATED[type(splitter)]


def check_voters(model: Any, part: str) -> None:
    """Check that there is one fitted estimator for each that is not dropped."""
    _check_named(model.estimators, 2, part)
    used = [each for _, each in model.estimators if not isinstance(each, str)]
    if len(used) != len(model.estimators_) or not used:
        raise RefusedPartError(part, "has other fitted estimators than it states")


REQUESTED = dict.fromkeys(
    (
        "_requests",
        "owner",
        *resolve_name("sklearn.utils._metadata_requests:SIMPLE_METHODS"),
    ),
    PARAMETER,
)
FITTED_LIST = ListOf(PREDICTOR, "n_estimators")
ENSEMBLE_NOTES = dict.fromkeys(
    (
        "_max_features",
        "_max_samples",
        "_n_samples",
        "_sample_weight",
        "_seeds",
        "estimator_params",
        "oob_decision_function_",
        "oob_score_",
    ),
    NOTE,
) | {"base_estimator_": PARAMETER, "estimator_": PARAMETER}

DECLARATIONS = (
    declare(Pipeline, check=check_steps, steps=fitted_steps),
    declare(
        FeatureUnion,
        parameters={"transformer_weights": maybe(DictOf(Number()))},
        check=check_steps,
        steps=fitted_steps,
    ),
    declare(
        ColumnTransformer,
        {
            **FEATURES,
            "_columns": PARAMETER,
            "_remainder": PARAMETER,
            "_transformer_to_input_indices": DictOf(ListOf(Integer())),
            "output_indices_": DictOf(PARAMETER),
            "sparse_output_": FLAG,
            "transformers_": PARAMETER,
        },
        optional=dict.fromkeys(
            (
                "_n_features",
                "_name_to_fitted_passthrough",
                "_feature_names_in",
                "_transformed_columns_dtypes",
            ),
            NOTE,
        ),
        former=("force_int_remainder_cols",),
        check=check_columns,
        steps=fitted_transformers,
    ),
    declare(make_column_selector),
    declare(FrozenEstimator, parameters={"estimator": ANY_ESTIMATOR}),
    declare(
        VotingClassifier,
        {
            **CLASSES,
            "estimators_": FITTED_LIST,
            "le_": Part((LabelEncoder,), shares=("n_classes",)),
        },
        not_stored=["named_estimators_"],
        parameters={"voting": choice("hard", "soft")},
        check=check_voters,
        rebuild=rebuild_names,
    ),
    declare(
        StackingClassifier,
        {
            **CLASSES,
            "_label_encoder": OneOf(
                (Part((LabelEncoder,), shares=("n_classes",)), ListOf(Part((LabelEncoder,))))
            ),
            "estimators_": FITTED_LIST,
            "final_estimator_": PREDICTOR,
            "stack_method_": ListOf(
                choice("predict_proba", "decision_function", "predict"), "n_estimators"
            ),
        },
        optional={"_n_feature_outs": NOTE},
        not_stored=["named_estimators_"],
        check=check_voters,
        rebuild=rebuild_names,
    ),
    declare(
        BaggingClassifier,
        {
            **CLASSIFIER,
            "estimators_": FITTED_LIST,
            "estimators_features_": ListOf(Array(("*",), "i", low=0), "n_estimators"),
            "n_classes_": Integer(size="n_classes"),
        },
        optional=ENSEMBLE_NOTES,
        check=check_features,
    ),
    declare(
        AdaBoostClassifier,
        {
            **CLASSIFIER,
            "estimator_weights_": Array(("*",)),
            "estimators_": ListOf(SAME_FEATURES, "n_estimators"),
            "n_classes_": Integer(size="n_classes"),
        },
        optional={**ENSEMBLE_NOTES, "estimator_errors_": NOTE},
        former=("algorithm",),
    ),
    declare(
        CalibratedClassifierCV,
        {**CLASSES, "calibrated_classifiers_": ListOf(Part((CALIBRATED,)), "n_models")},
    ),
    declare(
        CALIBRATED,
        {
            "calibrators": ListOf(Part((SIGMOID, IsotonicRegression))),
            "classes": Labels(),
            "estimator": SCORER,
            "method": choice("sigmoid", "isotonic"),
        },
        check=check_calibrators,
    ),
    declare(SIGMOID, {"a_": Number(), "b_": Number()}),
    declare(
        OneVsRestClassifier,
        {
            "estimators_": ListOf(SAME_FEATURES, "n_estimators"),
            "label_binarizer_": Part((LabelBinarizer,), shares=("n_classes",)),
        },
        optional={**CLASSES, "n_classes_": NOTE},
        check=check_binary,
    ),
    declare(CONSTANT, {"y_": Array((1,), "iufb")}),
    declare(
        OneVsOneClassifier,
        {
            **CLASSES,
            "estimators_": ListOf(PREDICTOR, "n_pairs"),
            "pairwise_indices_": maybe(ListOf(Array(("*",), "i", low=0), "n_pairs")),
        },
        optional={"n_classes_": NOTE},
        check=check_binary,
    ),
    declare(
        OutputCodeClassifier,
        {
            **CLASSES,
            "code_book_": Array(("n_classes", "n_estimators")),
            "estimators_": FITTED_LIST,
        },
        check=check_binary,
    ),
    # Fitted searches are stored as their best estimator; these are templates for fits.
    *(declare(kind, parameters={"scoring": maybe(Text())}) for kind in SEARCHES),
    *(declare(kind, optional={"_default_test_size": NOTE}) for kind in SPLITTERS),
    *(
        declare(kind, optional={"cvargs": NOTE}, not_stored=["cv"], rebuild=rebuild_folds)
        for kind in REPEATED
    ),
    *(declare(kind, optional=REQUESTED) for kind in REQUESTS),
)
