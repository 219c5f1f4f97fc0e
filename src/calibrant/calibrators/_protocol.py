"""Fitting and applying binary and multi-class calibrators.

A binary calibrator has ``fit(score, target, sample_weight)`` and ``predict(score)`` for
one-dimensional scores. A multi-class calibrator is a classifier whose features are the class
scores, with ``fit(scores, y, sample_weight)`` and ``predict_proba(scores)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators._base import BinaryCalibrator, MulticlassCalibrator
from calibrant.calibrators.baselines import ConstantCalibrator, NoCalibration


def is_multiclass(calibrator: Any) -> bool:
    """Return whether a calibrator maps rows of class scores rather than single scores."""
    return hasattr(calibrator, "predict_proba")


def fit_points(
    calibrator: Any, score: FloatArray, target: NDArray[Any], sample_weight: FloatArray
) -> Any:
    """Fit a clone of a calibrator to checked points; calibrant's need no second check."""
    return fit_in_place(clone(calibrator), score, target, sample_weight)


def fit_in_place(
    calibrator: Any, score: FloatArray, target: NDArray[Any], sample_weight: FloatArray
) -> Any:
    """Fit a calibrator to checked points, as `fit_points` does, but without cloning it."""
    if isinstance(calibrator, BinaryCalibrator):
        calibrator._fit(score, target.astype(np.float64), sample_weight)
        return calibrator
    if isinstance(calibrator, MulticlassCalibrator):
        return calibrator._fit_columns(score, target, sample_weight)
    return calibrator.fit(score, target, sample_weight=sample_weight)


def predict_points(calibrator: Any, score: FloatArray) -> FloatArray:
    """Return the probabilities of checked scores; calibrant's need no second check."""
    if isinstance(calibrator, BinaryCalibrator):
        return calibrator._proba(score)
    if isinstance(calibrator, MulticlassCalibrator):
        return calibrator._floored_proba(score)
    if not is_multiclass(calibrator):
        return np.asarray(calibrator.predict(score), dtype=np.float64).reshape(len(score))
    # A class that was never held out is unknown to the calibrator.
    proba = np.zeros_like(score)
    proba[:, calibrator.classes_] = calibrator.predict_proba(score)
    return proba


def fit_calibrator(
    calibrator: Any,
    score: FloatArray,
    target: NDArray[Any],
    sample_weight: FloatArray,
    groups: NDArray[Any] | None = None,
    **ensemble_scores: FloatArray,
) -> Any | None:
    """Fit a clone of a calibrator.

    Parameters
    ----------
    calibrator : binary or multi-class calibrator
        The calibrator to clone.
    score, target, sample_weight : ndarray
        The points to fit.
    groups : ndarray of shape (n_points,), default=None
        The group of each point. Ignored if the calibrator's ``fit`` has no such parameter.
    **ensemble_scores : dict
        Scores of an ensemble, passed to the calibrator's ``fit``.

    Returns
    -------
    calibrator or None
        The fitted clone; None if all targets belong to one side or one class.
    """
    if len(target) == 0 or target.min() == target.max() == np.round(target.max()):
        return None
    if isinstance(calibrator, BinaryCalibrator):
        return fit_points(calibrator, score, target, sample_weight)
    optional = {"groups": groups} if has_fit_parameter(calibrator, "groups") else {}
    return clone(calibrator).fit(
        score, target, sample_weight=sample_weight, **optional, **ensemble_scores
    )


def fit_substitute(
    calibrator: Any, target: IndexArray, sample_weight: FloatArray, n_classes: int
) -> Any:
    """Return a substitute for a calibrator that cannot be fitted.

    Rows of class scores stay uncalibrated. For a binary problem, the substitute predicts the
    frequency of the positive side, regardless of the score.
    """
    if is_multiclass(calibrator):
        uniform = np.full((len(target), n_classes), 1.0 / n_classes)
        return NoCalibration().fit(uniform, target, sample_weight)
    substitute = ConstantCalibrator()
    substitute._fit(np.zeros(len(target)), target.astype(np.float64), sample_weight)
    return substitute


def apply_calibrator(
    calibrator: Any, score: FloatArray, *votes: FloatArray, n_classes: int
) -> FloatArray:
    """Return calibrated probabilities: of the positive side, or one column per class.

    ``votes`` are the scores of an ensemble, if the calibrator takes them.
    """
    if is_multiclass(calibrator):
        # A class that was never held out is unknown to the calibrator.
        proba = np.zeros((len(score), n_classes))
        proba[:, calibrator.classes_] = calibrator.predict_proba(score, *votes)
    else:
        proba = predict_points(calibrator, score)
    if np.isnan(proba).any():
        raise ValueError(
            f"Calibrated probabilities must be numbers. {type(calibrator).__name__} returned NaN "
            f"for {np.isnan(proba).sum()} scores. Use a calibrator that can map every score, such "
            "as IsotonicRegression with out_of_bounds='clip'."
        )
    return np.clip(proba, 0.0, 1.0)
