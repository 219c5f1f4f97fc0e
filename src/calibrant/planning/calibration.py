"""Rows needed to calibrate probabilities, by simulation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_array, check_consistent_length, check_random_state

from calibrant._core.records import Record
from calibrant._core.rowwise import normalize_rows
from calibrant._core.typing import FloatArray
from calibrant._core.workers import Progress
from calibrant.calibrators import AutoCalibrator
from calibrant.planning.populations import draw_classes
from calibrant.planning.simulation import find_rows, name_rows, round_up, simulate_sizes

# Numbers of rows to which calibrators are fitted.
SIZES = (25, 50, 100, 200, 400, 800, 1600)
# Rows from which the error of a calibrator is computed.
MOST_COMPARED = 2000


@dataclass(frozen=True)
class CalibrationPlan(Record):
    """Rows needed to calibrate probabilities.

    Attributes
    ----------
    n_rows : float
        The number of held-out rows, rounded up to two digits.
    margin : float
        The wanted error of the calibrated probability of the most probable class.
    uncalibrated_error : float
        The error without calibration.
    sizes : tuple of int
        The numbers of rows that were simulated.
    errors : tuple of float
        At each of them, the error that is not exceeded with probability ``assurance``.
    assurance : float
        The probability that the error is at most the margin.
    """

    n_rows: float
    margin: float
    uncalibrated_error: float
    sizes: tuple[int, ...]
    errors: tuple[float, ...]
    assurance: float

    def __str__(self) -> str:
        few = f"{self.sizes[0]} held-out rows or fewer"
        needed = few if self.n_rows <= self.sizes[0] else name_rows(self.n_rows, "held-out row")
        return (
            f"To calibrate: {needed}. The probability of the most probable class is then off by at "
            f"most {100 * self.margin:g} percentage points, root mean square, with a probability "
            f"of {self.assurance:.0%}. Uncalibrated, it is off by "
            f"{100 * self.uncalibrated_error:.0f}."
        )


def plan_calibration(
    uncalibrated: ArrayLike,
    calibrated: ArrayLike,
    *,
    margin: float = 0.05,
    assurance: float = 0.8,
    calibrator: AutoCalibrator | None = None,
    n_repeats: int = 30,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> CalibrationPlan:
    """Find how many held-out rows it takes to calibrate probabilities.

    Parameters
    ----------
    uncalibrated : array-like of shape (n_samples, n_classes)
        Probabilities like those to calibrate: of the held-out rows of a pilot study, for example.
    calibrated : array-like of shape (n_samples, n_classes)
        Calibrated probabilities of the same rows, which the simulation takes for the truth.
    margin : float, default=0.05
        The wanted error: the root mean square of the difference between the calibrated and the
        true probability of the most probable class.
    assurance : float, default=0.8
        The probability that the error is at most the margin.
    calibrator : calibrator, default=None
        The multi-class calibrator. ``None`` means `AutoCalibrator`, the default.
    n_repeats : int, default=30
        The number of simulated data sets of each size.
    random_state : int, RandomState or None, default=None
        Seed of the simulation.
    n_jobs : int, default=None
        Number of processes. ``None`` means 1 and -1 means one per core.
    progress : callable, default=None
        As in `plan_validation`.

    Returns
    -------
    CalibrationPlan
        The rows needed.

    Notes
    -----
    Rows are drawn with replacement, their classes from the calibrated probabilities, and the
    calibrator is fitted to the uncalibrated ones, with 25 to 1,600 rows. The number of rows at
    which the ``assurance`` quantile of the error is the margin is interpolated, and extrapolated
    with the inverse square root of the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.calibrators import TemperatureScaling
    >>> from calibrant.planning import plan_calibration, simulate_probabilities
    >>> true = simulate_probabilities([0.7, 0.3], auc=0.8, random_state=0)
    >>> overconfident = true**2 / (true**2).sum(axis=1, keepdims=True)
    >>> plan_calibration(
    ...     overconfident, true, calibrator=TemperatureScaling(), n_repeats=10, random_state=0
    ... ).n_rows
    93
    """
    scores, true = (
        normalize_rows(check_array(each, dtype=np.float64)) for each in (uncalibrated, calibrated)
    )
    check_consistent_length(scores, true)
    if not 0 < margin < 1 or not 0 < assurance < 1:
        raise ValueError(
            f"margin and assurance must lie strictly between 0 and 1, got {margin} and "
            f"{assurance}. Use 0.05 and 0.8."
        )
    rng = check_random_state(random_state)
    chosen = AutoCalibrator() if calibrator is None else calibrator
    found = simulate_sizes(
        partial(_calibrated_error, scores, true, chosen),
        SIZES,
        n_repeats,
        rng,
        n_jobs=n_jobs,
        progress=progress,
    )
    errors = np.quantile(found, assurance, axis=1, method="higher")
    uncalibrated_error = _error(scores, scores, true)
    needed = 0.0 if np.all(errors <= margin) else find_rows(SIZES, errors, margin)
    return CalibrationPlan(
        n_rows=round_up(max(needed, float(SIZES[0]))),
        margin=margin,
        uncalibrated_error=uncalibrated_error,
        sizes=SIZES,
        errors=tuple(errors.tolist()),
        assurance=assurance,
    )


def _calibrated_error(
    scores: FloatArray, true: FloatArray, calibrator: AutoCalibrator, n_rows: int, seed: int
) -> float:
    """Fit the calibrator to simulated rows, and return its error on all rows."""
    rng = np.random.RandomState(seed)
    rows = rng.randint(len(scores), size=n_rows)
    n_classes = scores.shape[1]
    # Rows without weight declare classes that were not drawn.
    X = np.vstack([scores[rows], np.full((n_classes, n_classes), 1.0 / n_classes)])
    y = np.concatenate([draw_classes(true[rows], rng), np.arange(n_classes)])
    weight = np.concatenate([np.ones(n_rows), np.zeros(n_classes)])
    fitted = clone(calibrator).fit(X, y, sample_weight=weight)
    compared = rng.permutation(len(scores))[:MOST_COMPARED]
    return _error(fitted.predict_proba(scores[compared]), scores[compared], true[compared])


def _error(proba: FloatArray, scores: FloatArray, true: FloatArray) -> float:
    """Return the error of the probability of the class that is most probable by the scores."""
    top = scores.argmax(axis=1)[:, None]
    difference = np.take_along_axis(proba - true, top, axis=1)
    return float(np.sqrt(np.mean(difference**2)))
