"""The types of calibrant itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import calibrators
from calibrant._core.coupling import COUPLINGS
from calibrant._core.problems import ModelPerProblem, SharedModel
from calibrant._core.records import Interval
from calibrant._core.voting import VotingEnsemble
from calibrant.classifier import CalibratedClassifier
from calibrant.generation import (
    CrossFit,
    FrozenModel,
    GroupedVotes,
    MonteCarloCV,
    OutOfBag,
    RepeatedFolds,
    ResampledFolds,
)
from calibrant.metrics import Mean, Performance
from calibrant.persistence.declarations._language import (
    CLASSES,
    CLASSIFIER,
    NOTE,
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
    ListOf,
    Number,
    OneOf,
    Part,
)
from calibrant.strategies import AllPairs, Direct, OneVsRest, OutputCode
from calibrant.updating import UpdatedClassifier

STRATEGIES = (AllPairs, Direct, OneVsRest, OutputCode)
GENERATORS = (
    CrossFit,
    FrozenModel,
    GroupedVotes,
    MonteCarloCV,
    OutOfBag,
    RepeatedFolds,
    ResampledFolds,
)
COUPLING = {"coupling": choice(*COUPLINGS)}
CALIBRATOR = Part(methods=("predict_proba", "predict"))
PROBA = Number(0, 1)


def check_problems(model: Any, part: str) -> None:
    """Check that models, calibrators and the code matrix describe the same problems."""
    n_problems = 1 if model.code_ is None else model.code_.shape[1]
    is_direct = isinstance(model.strategy_, Direct)
    if (model.code_ is None) is not is_direct:
        raise RefusedPartError(f"{part}.code_", "does not match the strategy")
    n_models = 1 if isinstance(model._scorer, SharedModel) else n_problems
    if len(model.estimators_) != n_models:
        raise RefusedPartError(f"{part}.estimators_", f"must have size {n_models}")
    n_classes = len(model.classes_) if is_direct or n_models < n_problems else 2
    for estimator in (*model.estimators_, *(model.ensembles_ or ())):
        if len(getattr(estimator, "classes_", range(n_classes))) != n_classes:
            raise RefusedPartError(f"{part}.estimators_", f"must have {n_classes} classes")
    if model.calibrators_ is not None and len(model.calibrators_) != n_problems:
        raise RefusedPartError(f"{part}.calibrators_", f"must have size {n_problems}")
    for calibrator in (model.calibrators_ or ()) if is_direct else ():
        columns = getattr(calibrator, "classes_", np.arange(0))  # of its probabilities
        if columns.dtype.kind != "i" or not set(columns.tolist()) <= set(range(n_classes)):
            raise RefusedPartError(f"{part}.calibrators_", "must have the classes of the model")
    if model.code_ is not None and not all(
        np.any(side == 1) and np.any(side == -1) for side in model.code_.T
    ):
        raise RefusedPartError(f"{part}.code_", "must have two sides for each problem")


def fitted_estimator(model: Any) -> dict[str, Any]:
    """Return the estimator of an updated classifier, which ``fit`` does not fit."""
    return {"estimator": model.estimator}


def check_weights(calibrator: Any, part: str) -> None:
    """Check that each weight has a calibrator for all classes with rows, and that they sum to 1."""
    pairs = (
        (calibrator.weights_, calibrator.calibrators_),
        (calibrator.ensemble_weights_, calibrator.ensemble_calibrators_),
    )
    if any(weights.keys() != fitted.keys() for weights, fitted in pairs):
        raise RefusedPartError(part, "has weights without calibrators")
    total = sum(sum(weights.values()) for weights, _ in pairs)
    if abs(total - 1) > 1e-6:
        raise RefusedPartError(part, f"must have weights that sum to 1, got {total}")
    n_known = int(calibrator._known().sum())
    for fitted in (*calibrator.calibrators_.values(), *calibrator.ensemble_calibrators_.values()):
        if len(getattr(fitted, "classes_", range(n_known))) != n_known:
            raise RefusedPartError(part, f"must have calibrators of {n_known} classes")


def check_pairs(calibrator: Any, part: str) -> None:
    """Check that the pairs are those of the classes, each once."""
    n_classes = len(calibrator.classes_)
    pairs = {tuple(sorted(pair)) for pair in calibrator.pairs_}
    expected = {(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)}
    if pairs != expected or len(calibrator.pairs_) != len(expected):
        raise RefusedPartError(f"{part}.pairs_", "must have each pair of classes once")


def check_histogram(calibrator: Any, part: str) -> None:
    """Check that there is one more bin than edges."""
    if len(calibrator.shares_) != len(calibrator.edges_) + 1:
        raise RefusedPartError(part, "has bins that do not match their edges")


def check_venn_abers(calibrator: Any, part: str) -> None:
    """Check that there is a probability for each score, and between and beyond scores."""
    if len(calibrator.lower_) != 2 * len(calibrator.scores_) + 1:
        raise RefusedPartError(part, "has probabilities that do not match its scores")


PARAMETRIC = {"_n_rows": Number(0), "_overall": PROBA}
STEPS = {
    "X_thresholds_": Array(("n_thresholds",), increasing=True),
    "y_thresholds_": Array(("n_thresholds",), low=0, high=1),
}
MULTICLASS = {
    **CLASSES,
    "class_count_": Array(("n_classes",), low=0),
    "n_features_in_": Integer(size="n_classes"),
}
SCALING = {**MULTICLASS, "floor_": Array(("n_classes",), low=0, high=1)}
AFFINE = {
    **SCALING,
    "coef_": Array(("n_classes", "n_classes"), low=-1e12, high=1e12),
    "intercept_": Array(("n_classes",), low=-1e12, high=1e12),
}
TEMPERATURE = Number(1e-12, 1e300)
VOTER = Part((VotingEnsemble,))
SORTED = Array(("*",), low=0, high=1, increasing=True)

DECLARATIONS = (
    declare(
        CalibratedClassifier,
        {
            **CLASSIFIER,
            "_scorer": Part((ModelPerProblem, SharedModel)),
            "calibrators_": maybe(ListOf(CALIBRATOR)),
            "class_count_": Array(("n_classes",), low=0),
            "code_": maybe(Array(("n_classes", "n_problems"), "i", low=-1, high=1)),
            "ensembles_": maybe(ListOf(VOTER)),
            "estimators_": ListOf(OneOf((VOTER, SCORER))),
            "strategy_": Part(STRATEGIES),
        },
        optional={
            "_relative_variance": maybe(Number(0, 1e6)),
            "_true_proba": maybe(ListOf(SORTED, "n_classes")),
            "calibration_report_": maybe(Part((calibrators.CalibrationReport,))),
        },
        check=check_problems,
    ),
    declare(
        UpdatedClassifier,
        {
            **CLASSES,
            "calibrator_": Part((calibrators.UpdateCalibrator,)),
            "update_report_": Part((calibrators.UpdateReport,)),
        },
        steps=fitted_estimator,
    ),
    declare(
        VotingEnsemble,
        {**CLASSES, "estimators_": ListOf(SCORER, "n_estimators")},
        optional={"variance_factor_": Array(("n_estimators",), low=0)},
    ),
    declare(ModelPerProblem),
    declare(SharedModel),
    declare(AllPairs, parameters=COUPLING),
    *(declare(kind) for kind in (Direct, OneVsRest, OutputCode, *GENERATORS)),
    declare(
        calibrators.AutoCalibrator,
        {
            **MULTICLASS,
            "calibrators_": DictOf(CALIBRATOR),
            "ensemble_calibrators_": DictOf(CALIBRATOR),
            "ensemble_weights_": DictOf(PROBA),
            "report_": Part((calibrators.CalibrationReport,)),
            "weights_": DictOf(PROBA),
        },
        check=check_weights,
    ),
    declare(
        calibrators.UpdateCalibrator,
        {
            **MULTICLASS,
            "calibrator_": maybe(CALIBRATOR),
            "intercept_": Array(("n_classes",), low=-1e12, high=1e12),
            "report_": Part((calibrators.UpdateReport,)),
            "slope_": Number(-1e12, 1e12),
        },
    ),
    declare(calibrators.NoCalibration, MULTICLASS),
    declare(calibrators.ClassFrequencies, MULTICLASS),
    declare(calibrators.ConstantCalibrator, {"frequency_": PROBA}),
    declare(
        calibrators.SigmoidCalibrator,
        {**PARAMETRIC, "intercept_": Number(), "on_log_odds_": FLAG, "slope_": Number()},
    ),
    declare(
        calibrators.BetaCalibrator,
        {**PARAMETRIC, "coef_": Array((2,)), "intercept_": Number()},
    ),
    declare(calibrators.IsotonicCalibrator, STEPS),
    declare(
        calibrators.HistogramCalibrator,
        {
            "edges_": Array(("*",), increasing=True),
            "shares_": Array(("*",), low=0, high=1),
        },
        check=check_histogram,
    ),
    declare(
        calibrators.ENIR,
        {**STEPS, "lambdas_": NOTE, "n_groups_": NOTE, "weights_": NOTE},
    ),
    declare(
        calibrators.VennAbersCalibrator,
        {
            "lower_": Array(("n_steps",), low=0, high=1),
            "scores_": Array(("*",), increasing=True),
            "upper_": Array(("n_steps",), low=0, high=1),
        },
        check=check_venn_abers,
    ),
    declare(calibrators.TemperatureScaling, {**SCALING, "temperature_": TEMPERATURE}),
    *(
        declare(kind, {**AFFINE, "temperature_": TEMPERATURE})
        for kind in (calibrators.StructuredMatrixScaling, calibrators.VectorScaling)
    ),
    declare(calibrators.DirichletCalibrator, AFFINE),
    declare(
        calibrators.OneVsRestCalibrator,
        {**MULTICLASS, "calibrators_": ListOf(CALIBRATOR, "n_classes")},
    ),
    declare(
        calibrators.PairwiseCalibrator,
        {
            **MULTICLASS,
            "calibrators_": ListOf(CALIBRATOR, "n_pairs"),
            "pairs_": ListOf(ListOf(Integer(), 2), "n_pairs"),
        },
        parameters=COUPLING,
        check=check_pairs,
    ),
    # Files of the first version have a gain and its interval apart.
    declare(calibrators.CalibrationReport, former=("expected_gain", "interval")),
    *(
        declare(kind)
        for kind in (
            calibrators.UpdateReport,
            calibrators.UpdateTest,
            Interval,
            Mean,
            Performance,
        )
    ),
)
