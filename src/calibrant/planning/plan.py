"""The rows that a study needs, from a pilot or from a guess at the performance of its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from calibrant._core.records import Record
from calibrant._core.rowwise import normalize_rows
from calibrant._core.typing import FloatArray
from calibrant._core.workers import Progress
from calibrant.classifier import CalibratedClassifier
from calibrant.planning.calibration import CalibrationPlan, plan_calibration
from calibrant.planning.development import DevelopmentPlan, plan_development
from calibrant.planning.learning import LearningCurve, extrapolate, fit_subsamples
from calibrant.planning.populations import simulate_probabilities
from calibrant.planning.validation import ValidationPlan, check_margins, plan_validation
from calibrant.report.cross_validation import EvaluationSettings

# Without a pilot, the uncalibrated log odds are taken to be too large by this factor.
OVERCONFIDENCE = 2.0
# Repeats of the cross-validation of a pilot.
N_REPEATS = 2


@dataclass(frozen=True)
class Plan(Record):
    """The rows that a study needs.

    Attributes
    ----------
    fitting : LearningCurve, DevelopmentPlan or None
        The rows needed to fit a model: the learning curve of a pilot; the rows for logistic
        regression, if the number of features is known; otherwise ``None``.
    calibration : CalibrationPlan
        The rows needed to calibrate its probabilities.
    validation : ValidationPlan
        The rows needed to show that they are calibrated.
    """

    fitting: LearningCurve | DevelopmentPlan | None
    calibration: CalibrationPlan
    validation: ValidationPlan

    def __str__(self) -> str:
        parts = (self.fitting, self.calibration, self.validation)
        return "\n".join(str(each) for each in parts if each is not None)


def plan_from_pilot(
    model: CalibratedClassifier,
    X: Any,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    margins: Mapping[str, float] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Find how many rows a study needs, from the rows of a pilot.

    Parameters
    ----------
    model : CalibratedClassifier
        The unfitted model.
    X : array-like of shape (n_rows, n_features)
        Features of the pilot, as an array or a data frame.
    y : array-like of shape (n_rows,)
        Class labels.
    groups : array-like of shape (n_rows,), default=None
        Group of each row. ``None`` means ungrouped.
    margins : mapping of str to float, default=None
        The wanted precision, as in `plan_validation`.
    random_state : int, default=0
        Seed of the splits, the fits and the simulations.
    n_jobs : int, default=None
        Number of processes. ``None`` means 1 and -1 means one per core.
    progress : callable, default=None
        As in `plan_validation`. It is called three times.

    Returns
    -------
    Plan
        The rows needed to fit, to calibrate and to show calibration.

    See Also
    --------
    learning_curve, plan_calibration, plan_validation : The three parts.

    Notes
    -----
    The simulations take the calibrated probabilities of the held-out rows for the truth. They
    assume independent rows: with groups, a study needs more.
    """
    wanted = check_margins(margins)
    settings = EvaluationSettings(n_repeats=N_REPEATS, random_state=random_state, n_jobs=n_jobs)
    pilot = fit_subsamples(model, X, y, settings, groups=groups, progress=progress)
    calibration, validation = _simulate(
        pilot.uncalibrated,
        pilot.calibrated,
        pilot.classes,
        wanted,
        check_random_state(random_state),
        n_jobs,
        progress,
    )
    return Plan(extrapolate(pilot), calibration, validation)


def plan_from_shares(
    shares: ArrayLike,
    auc: float,
    *,
    n_features: int | None = None,
    labels: ArrayLike | None = None,
    margins: Mapping[str, float] | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Find how many rows a study needs, given class shares and a guess at the AUC.

    Parameters
    ----------
    shares : array-like of shape (n_classes,)
        The expected share of each class.
    auc : float
        The expected AUC; for three classes or more, the mean AUC of all pairs.
    n_features : int, default=None
        The number of features. ``None`` means unknown.
    labels : array-like of shape (n_classes,), default=None
        The names of the classes. ``None`` means 0, 1 and so on.
    margins : mapping of str to float, default=None
        The wanted precision, as in `plan_validation`.
    random_state : int, RandomState or None, default=None
        Seed of the simulations.
    n_jobs : int, default=None
        Number of processes. ``None`` means 1 and -1 means one per core.
    progress : callable, default=None
        As in `plan_validation`. It is called twice.

    Returns
    -------
    Plan
        The rows needed to fit, if the number of features is known, to calibrate and to show
        calibration.

    See Also
    --------
    simulate_probabilities : The assumptions on the model.
    plan_development, plan_calibration, plan_validation : The three parts.

    Notes
    -----
    The uncalibrated probabilities are assumed to be too extreme: the log odds are twice those of
    the true probabilities.
    """
    wanted = check_margins(margins)
    rng = check_random_state(random_state)
    true = simulate_probabilities(shares, auc, random_state=rng)
    fitting = None if n_features is None else plan_development(true, n_features)
    uncalibrated = normalize_rows(true**OVERCONFIDENCE)
    return Plan(fitting, *_simulate(uncalibrated, true, labels, wanted, rng, n_jobs, progress))


def _simulate(
    uncalibrated: FloatArray,
    calibrated: FloatArray,
    labels: ArrayLike | None,
    margins: Mapping[str, float],
    rng: np.random.RandomState,
    n_jobs: int | None,
    progress: Progress | None,
) -> tuple[CalibrationPlan, ValidationPlan]:
    """Return the rows needed to calibrate, and to show calibration."""
    calibration = plan_calibration(
        uncalibrated, calibrated, random_state=rng, n_jobs=n_jobs, progress=progress
    )
    validation = plan_validation(
        calibrated,
        labels=labels,
        margins=margins,
        random_state=rng,
        n_jobs=n_jobs,
        progress=progress,
    )
    return calibration, validation
