"""Classifiers as graphs: calibrated and updated ones, and the estimators within them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from calibrant._core.class_scores import LARGEST_MODEL_SCORE
from calibrant._core.rowwise import repeat_frequencies
from calibrant._core.voting import VotingEnsemble
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.classifier import CalibratedClassifier
from calibrant.onnx.calibrators import calibrate, needs_votes
from calibrant.onnx.features import Features, transform
from calibrant.onnx.graphs import Tensor
from calibrant.onnx.rows import (
    apply_probability_floor,
    normalize,
    normalize_rows,
    positive_to_both,
    softmax,
)
from calibrant.onnx.sklearn_parts import convert_classifier
from calibrant.onnx.support_vectors import SUPPORT_VECTOR_MACHINES, linear_decision
from calibrant.onnx.trees import TREES
from calibrant.updating import UpdatedClassifier


def class_scores(model: Any, X: Features | Tensor) -> Tensor:
    """Return the scores of a fitted classifier, one column per class.

    Parameters
    ----------
    model : classifier
        The classifier; or a calibrator, whose features are scores.
    X : Features or Tensor
        Its features.

    Returns
    -------
    Tensor
        Probabilities, if the classifier has ``predict_proba``; otherwise decision values.
    """
    if isinstance(model, MulticlassCalibrator):
        return calibrate(model, _numbers(X))
    if type(model) in PARTS:
        return PARTS[type(model)](model, X)
    return ESTIMATORS.get(type(model), convert_classifier)(model, _numbers(X))


def _numbers(X: Features | Tensor) -> Tensor:
    return X.matrix() if isinstance(X, Features) else X


def _frozen(model: FrozenEstimator, X: Features | Tensor) -> Tensor:
    return class_scores(model.estimator, X)


def _pipeline(model: Pipeline, X: Features | Tensor) -> Tensor:
    return class_scores(model.steps[-1][1], transform(model[:-1], X))


def _search(model: Any, X: Features | Tensor) -> Tensor:
    return class_scores(model.best_estimator_, X)


def _voting(model: VotingClassifier, X: Features | Tensor) -> Tensor:
    kept = [name != "drop" for _, name in model.estimators]
    weights = np.ones(len(kept)) if model.weights is None else np.asarray(model.weights, float)
    probas = [class_scores(each, X) for each in model.estimators_]
    return reduce(add, map(mul, probas, weights[kept].tolist())) / weights[kept].sum()


def _bagging(model: BaggingClassifier, X: Features | Tensor) -> Tensor:
    """Average the members, each of which has features and perhaps classes of its own."""
    members = list(zip(model.estimators_, model.estimators_features_, strict=True))
    if not all(hasattr(member, "predict_proba") for member, _ in members):
        return convert_classifier(model, _numbers(X))
    columns = np.eye(len(model.classes_))  # the labels of members are column numbers
    probas = [
        class_scores(member, _numbers(X).take(features)) @ columns[member.classes_]
        for member, features in members
    ]
    return reduce(add, probas) / float(len(probas))


def _linear_discriminant(model: LinearDiscriminantAnalysis, X: Tensor) -> Tensor:
    # For two classes, that of skl2onnx 1.20 is wrong.
    score = linear_decision(model, X)
    return softmax(score) if len(model.classes_) > 2 else positive_to_both(score.op("Sigmoid"))


def _updated(model: UpdatedClassifier, X: Features | Tensor) -> Tensor:
    return calibrate(model.calibrator_, class_scores(model.estimator, X))


def _calibrated(model: CalibratedClassifier, X: Features | Tensor) -> Tensor:
    """Return what `CalibratedClassifier.predict_proba` returns."""
    if model.strategy_.binary:
        raise ValueError(
            "The strategy must be direct to export a classifier to ONNX, got "
            f"{model.strategy_!r}. Fit it with strategy='direct', which is the default."
        )
    frequencies = repeat_frequencies(model.class_count_, 1)
    score = _problem_score(model.estimators_[0], X)
    if model.calibrators_ is None:
        proba = normalize(score, fallback=frequencies)
        return _is_unscored(score).op("Where", frequencies, proba)
    [calibrator] = model.calibrators_
    unscored, votes = _is_unscored(score), None
    if model.ensembles_ is not None:
        voted = _problem_score(model.ensembles_[0], X)
        unscored = unscored.op("Or", _is_unscored(voted))
        votes = voted if needs_votes(calibrator) else None
    calibrated = calibrate(calibrator, score, votes).clip(0.0, 1.0)
    proba = unscored.op("Where", frequencies, normalize(calibrated, fallback=score))
    return apply_probability_floor(proba, model.class_count_)


def _problem_score(model: Any, X: Features | Tensor) -> Tensor:
    """Return the scores of a model or the mean of those of several, as probabilities."""
    if isinstance(model, VotingEnsemble):
        scores = [_problem_score(voter, X) for voter in model.estimators_]
        return reduce(add, scores) / float(len(scores))
    score = class_scores(model, X)
    if hasattr(model, "predict_proba"):
        return normalize_rows(score.clip(0.0, 1.0), len(model.classes_))
    return softmax(score.clip(-LARGEST_MODEL_SCORE, LARGEST_MODEL_SCORE))


def _is_unscored(score: Tensor) -> Tensor:
    """Whether each row has a score of NaN, as a column."""
    return score.sum(1).op("IsNaN")


ESTIMATORS: dict[type, Callable[[Any, Tensor], Tensor]] = {
    LinearDiscriminantAnalysis: _linear_discriminant,
    **SUPPORT_VECTOR_MACHINES,
    **TREES,
}
PARTS: dict[type, Callable[[Any, Features | Tensor], Tensor]] = {
    BaggingClassifier: _bagging,
    CalibratedClassifier: _calibrated,
    FrozenEstimator: _frozen,
    GridSearchCV: _search,
    Pipeline: _pipeline,
    RandomizedSearchCV: _search,
    UpdatedClassifier: _updated,
    VotingClassifier: _voting,
}
