"""The rows that a study needs, from a guess at the performance of its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from calibrant._core.records import Record
from calibrant._core.rowwise import normalize_rows
from calibrant._core.workers import Progress
from calibrant.planning.calibration import CalibrationPlan, plan_calibration
from calibrant.planning.populations import simulate_probabilities
from calibrant.planning.validation import ValidationPlan, check_margins, plan_validation

# Without a pilot, the uncalibrated log odds are taken to be too large by this factor.
OVERCONFIDENCE = 2.0


@dataclass(frozen=True)
class Plan(Record):
    """The rows that a study needs.

    Attributes
    ----------
    calibration : CalibrationPlan
        The rows needed to calibrate probabilities.
    validation : ValidationPlan
        The rows needed to show that they are calibrated.
    """

    calibration: CalibrationPlan
    validation: ValidationPlan

    def __str__(self) -> str:
        return f"{self.calibration}\n{self.validation}"


def plan_from_shares(
    shares: ArrayLike,
    auc: float,
    *,
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
        The rows needed to calibrate and to show calibration.

    See Also
    --------
    simulate_probabilities : The assumptions on the model.

    Notes
    -----
    The uncalibrated probabilities are assumed to be too extreme: the log odds are twice those of
    the true probabilities.
    """
    wanted = check_margins(margins)
    rng = check_random_state(random_state)
    true = simulate_probabilities(shares, auc, random_state=rng)
    calibration = plan_calibration(
        normalize_rows(true**OVERCONFIDENCE),
        true,
        random_state=rng,
        n_jobs=n_jobs,
        progress=progress,
    )
    validation = plan_validation(
        true, labels=labels, margins=wanted, random_state=rng, n_jobs=n_jobs, progress=progress
    )
    return Plan(calibration, validation)
