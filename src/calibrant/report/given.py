"""Evaluation of given probabilities and of fitted models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.labels import check_labels
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import check_classes, check_groups
from calibrant.calibrators import CalibrationReport
from calibrant.calibrators._fitting import fit_with_report
from calibrant.calibrators._protocol import apply_calibrator, fit_calibrator
from calibrant.calibrators._resolution import name_calibrator, resolve_calibrator
from calibrant.classifier import CalibratedClassifier
from calibrant.report.cross_validation import EvaluationSettings, Fit, Labels, cross_validate
from calibrant.report.descriptions import describe_method
from calibrant.report.evaluation import Evaluation, FitDescription, ModelEvaluation


def evaluate_probabilities(
    proba: ArrayLike | Mapping[str, ArrayLike],
    y: ArrayLike,
    classes: Sequence[Any] | None = None,
    *,
    calibrator: Any = None,
    name: str = "your model",
    groups: ArrayLike | None = None,
    n_folds: int = 5,
    n_repeats: int = 3,
    random_state: int = 0,
) -> Evaluation:
    """Evaluate the calibration of given probabilities by repeated cross-validation.

    Parameters
    ----------
    proba : array-like of shape (n_rows, n_classes), or mapping of str to array-like
        Class probabilities of rows that the model was not fitted on. A mapping has those of
        several models, by name.
    y : array-like of shape (n_rows,)
        True labels.
    classes : sequence, default=None
        Labels of the columns of ``proba``. ``None`` means the sorted labels of ``y``.
    calibrator : str or calibrator, default=None
        Calibration method, as ``method`` of `CalibratedClassifier`. ``None`` means "auto".
    name : str, default="your model"
        Name of the model that predicted the probabilities. A mapping has its own names.
    groups, n_folds, n_repeats, random_state
        As in `evaluate_models`.

    Returns
    -------
    Evaluation
        The given probabilities and the calibrated probabilities of held-out rows.

    Examples
    --------
    >>> from calibrant.report import analyze, evaluate_probabilities
    >>> y = ["no", "no", "no", "yes"] * 25 + ["yes", "yes", "yes", "no"] * 25
    >>> overconfident = [[0.99, 0.01]] * 100 + [[0.01, 0.99]] * 100
    >>> evaluation = evaluate_probabilities(overconfident, y, calibrator="temperature")
    >>> [model] = analyze(evaluation).models
    >>> print(model.miscalibration.verdict, model.gain.effect)
    miscalibrated improved
    """
    by_name = proba if isinstance(proba, Mapping) else {name: proba}
    known = _index_labels(y, classes, groups)
    method = "auto" if calibrator is None else calibrator
    unfitted = resolve_calibrator(method, binary=False)
    title = name_calibrator(method, unfitted)
    fits = [
        _CalibratorFit(each, unfitted, title, _check_shape(each, scores, known), known)
        for each, scores in by_name.items()
    ]
    settings = EvaluationSettings(n_folds, n_repeats, random_state)
    return replace(cross_validate(fits, known, settings), is_given=True)


def evaluate_fitted_models(
    X: Any,
    y: ArrayLike,
    models: Mapping[str, Any],
    *,
    groups: ArrayLike | None = None,
    n_folds: int = 5,
    n_repeats: int = 3,
    random_state: int = 0,
) -> Evaluation:
    """Evaluate fitted models on rows that they were not fitted on.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Features of rows that the models were not fitted on.
    y : array-like of shape (n_rows,)
        Class labels of these rows.
    models : mapping of str to classifier
        Fitted classifiers with ``predict_proba`` and the same classes, by name. A
        `CalibratedClassifier` is evaluated with its own calibration; for the others,
        ``method="auto"`` is cross-validated on these rows.
    groups, n_folds, n_repeats, random_state
        As in `evaluate_models`.

    Returns
    -------
    Evaluation
        The probabilities of the models, uncalibrated and calibrated.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.report import analyze, evaluate_fitted_models
    >>> model = GaussianNB().fit(*make_waveform(300, random_state=0))
    >>> X_new, y_new = make_waveform(300, random_state=1)
    >>> analysis = analyze(evaluate_fitted_models(X_new, y_new, {"naive Bayes": model}))
    >>> print(analysis.recommendation.uncalibrated.verdict)
    miscalibrated
    """
    classes = _shared_classes(models)
    known = _index_labels(y, classes, groups)
    settings = EvaluationSettings(n_folds, n_repeats, random_state)
    unfitted = resolve_calibrator("auto", binary=False)
    title = name_calibrator("auto", unfitted)
    fits: list[Fit] = []
    for name, model in models.items():
        if isinstance(model, CalibratedClassifier):
            report = getattr(model, "calibration_report_", None)
            pair = model.predict_uncalibrated_proba(X), model.predict_proba(X)
            fits.append(_FixedPredictions(name, *pair, report))
        else:
            proba = _check_shape(name, model.predict_proba(X), known)
            fits.append(_CalibratorFit(name, unfitted, title, proba, known))
    return replace(cross_validate(fits, known, settings), is_given=True)


def _shared_classes(models: Mapping[str, Any]) -> list[Any]:
    """Return the classes of fitted models, which must be the same."""
    if not models:
        raise ValueError("models must hold at least one fitted classifier, got none. Add one.")
    for name, model in models.items():
        if not hasattr(model, "classes_") or not hasattr(model, "predict_proba"):
            raise ValueError(
                f"models must be fitted classifiers with predict_proba, got {name!r}: {model}. "
                "Fit it first, or wrap it in CalibratedClassifier."
            )
    (first, model), *others = models.items()
    for name, other in others:
        if list(other.classes_) != list(model.classes_):
            raise ValueError(
                f"models must have the same classes, got {list(model.classes_)} for {first!r} and "
                f"{list(other.classes_)} for {name!r}. Evaluate them separately."
            )
    return list(model.classes_)


def _index_labels(y: ArrayLike, classes: Sequence[Any] | None, groups: ArrayLike | None) -> Labels:
    """Return the class index of each row, given the labels of the columns."""
    labels = check_labels(y)
    check_classes(labels)
    columns = np.unique(labels) if classes is None else np.array(classes)
    if len(unknown := np.setdiff1d(labels, columns)):
        raise ValueError(
            f"y must hold only labels of the columns, got {unknown.tolist()}. "
            "Name the columns with classes=... or drop these rows."
        )
    order = np.argsort(columns)
    index = order[np.searchsorted(columns, labels, sorter=order)]
    return Labels(columns, index, None if groups is None else check_groups(groups))


def _check_shape(name: str, proba: ArrayLike, known: Labels) -> FloatArray:
    """Return probabilities as an array after checking its shape."""
    array = np.asarray(proba, dtype=np.float64)
    expected = (len(known.y), len(known.classes))
    if array.shape != expected:
        raise ValueError(
            f"proba must have one row per label and one column per class, {expected}, got the "
            f"shape {array.shape} for {name!r}. Pass what predict_proba returns for these rows, "
            "and name the columns with classes=... if y lacks a class."
        )
    return array


@dataclass(frozen=True, eq=False)
class _CalibratorFit:
    """Fits a calibrator on the probabilities of training rows and calibrates test rows."""

    name: str
    calibrator: Any
    calibrator_name: str
    proba: FloatArray
    labels: Labels

    def __call__(self, train: IndexArray, test: IndexArray, seed: int) -> ModelEvaluation:  # noqa: ARG002
        classes, y, groups = self.labels
        if len(test) == 0:  # the fit on all rows
            _, report = fit_with_report(
                self.calibrator, self.calibrator_name, self.proba, y, classes=classes, groups=groups
            )
            method = describe_method(self.calibrator_name, self.calibrator)
            return ModelEvaluation(
                self.name,
                self.proba[:0],
                self.proba[:0],
                report,
                description=FitDescription(
                    self.name, f"The probabilities of {{subjects}} were recalibrated by {method}."
                ),
            )
        # Every class keeps a training row, so there is always something to fit.
        groups = None if groups is None else groups[train]
        fitted = fit_calibrator(
            self.calibrator, self.proba[train], y[train], np.ones(len(train)), groups
        )
        calibrated = apply_calibrator(fitted, self.proba[test], n_classes=len(classes))
        return ModelEvaluation(self.name, self.proba[test], calibrated)


@dataclass(frozen=True, eq=False)
class _FixedPredictions:
    """Returns the probabilities of a fitted model, which no split changes."""

    name: str
    uncalibrated: FloatArray
    calibrated: FloatArray
    calibration_report: CalibrationReport | None

    def __call__(self, train: IndexArray, test: IndexArray, seed: int) -> ModelEvaluation:  # noqa: ARG002
        return ModelEvaluation(
            self.name,
            self.uncalibrated[test],
            self.calibrated[test],
            self.calibration_report,
            description=FitDescription(
                self.name, "The calibration of {subjects} was fitted before and left unchanged."
            ),
            is_refitted=False,
        )
