"""What a calibrator is to the classifier: how one is chosen, fitted and applied.

A binary calibrator has ``fit(score, target, sample_weight)`` and ``predict(score)`` on
one-dimensional scores. A multi-class calibrator is a classifier of score rows, with
``fit(scores, y, sample_weight)`` and ``predict_proba(scores)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.utils.validation import has_fit_parameter

from calibrant._core.registries import CALIBRATORS
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators.auto import Unchanged
from calibrant.calibrators.enir import ENIR
from calibrant.calibrators.multiclass import PairwiseCalibrator


def resolve_calibrator(method: Any, binary: bool) -> Any:
    """Return an unfitted calibrator from a name or a calibrator to clone.

    Parameters
    ----------
    method : str or object
        A name or a calibrator.
    binary : bool
        Whether binary problems are calibrated, or one multi-class problem. "auto" is ENIR
        for binary problems; for a multi-class problem a binary calibrator is applied to
        pairs of classes.

    Returns
    -------
    object
        An unfitted calibrator.
    """
    if not binary and method == "enir":
        calibrator = ENIR(floored=True)  # the plain one is the paper's, for its binary problems
    elif isinstance(method, str) and method in CALIBRATORS:
        calibrator = CALIBRATORS["enir" if binary and method == "auto" else method]()
    elif (
        hasattr(method, "fit")
        and (hasattr(method, "predict") or is_multiclass(method))
        and not isinstance(method, type)
    ):
        calibrator = clone(method)
    else:
        raise ValueError(
            f"method must be one of {sorted(CALIBRATORS)}, a calibrator with fit and predict, "
            f"or None for no calibration. Got {method!r}. Pass an instance, such as ENIR()."
        )
    if binary and is_multiclass(calibrator):
        raise ValueError(
            "method must be a binary calibrator, with predict and without predict_proba, when "
            f"classes are broken into binary problems. Got {calibrator!r}. "
            "Use method='enir', or strategy='direct' for this one."
        )
    return calibrator if binary or is_multiclass(calibrator) else PairwiseCalibrator(calibrator)


def is_multiclass(calibrator: Any) -> bool:
    """Whether a calibrator maps rows of class scores rather than single scores."""
    return hasattr(calibrator, "predict_proba")


def fit_calibrator(
    calibrator: Any,
    score: FloatArray,
    target: NDArray[Any],
    sample_weight: FloatArray,
    groups: NDArray[Any] | None = None,
) -> Any | None:
    """Fit a clone of a calibrator; None where all targets are one side or one class.

    ``groups`` says which points belong together; only some calibrators want to know.
    """
    if len(target) == 0 or target.min() == target.max() == np.round(target.max()):
        return None
    if has_fit_parameter(calibrator, "groups"):
        return clone(calibrator).fit(score, target, sample_weight=sample_weight, groups=groups)
    return clone(calibrator).fit(score, target, sample_weight=sample_weight)


def calibrator_without_points(
    calibrator: Any, target: IndexArray, sample_weight: FloatArray, n_classes: int
) -> Any:
    """Return what stands in for a calibrator that had nothing to be fitted on.

    Scores of whole rows stay as they are. One side of a problem gets its share, whatever the
    score, or one half without targets.
    """
    if is_multiclass(calibrator):
        uniform = np.full((len(target), n_classes), 1.0 / n_classes)
        return Unchanged().fit(uniform, target, sample_weight)
    if len(target) == 0:
        return DummyRegressor(strategy="constant", constant=0.5).fit([[0.0]], [0.5])
    zeros = np.zeros((len(target), 1))
    return DummyRegressor().fit(zeros, target, sample_weight=sample_weight)


def apply_calibrator(calibrator: Any, score: FloatArray, n_classes: int) -> FloatArray:
    """Calibrated probabilities: of the positive side, or one column a class."""
    if not is_multiclass(calibrator):
        proba = np.asarray(calibrator.predict(score), dtype=np.float64).reshape(len(score))
    else:
        # A class that was never held out is unknown to the calibrator.
        proba = np.zeros((len(score), n_classes))
        proba[:, calibrator.classes_] = calibrator.predict_proba(score)
    if np.isnan(proba).any():
        raise ValueError(
            f"Calibrated probabilities must be numbers. {type(calibrator).__name__} returned NaN "
            f"for {np.isnan(proba).sum()} scores. Let it map every score, as IsotonicRegression "
            "does with out_of_bounds='clip'."
        )
    return np.clip(proba, 0.0, 1.0)
