"""The report of a calibration: what was chosen, and its expected gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from calibrant._core.records import Interval, Record
from calibrant._core.typing import FloatArray
from calibrant.calibrators._averaging import NEGLIGIBLE_WEIGHT
from calibrant.metrics import Performance

# The baseline of every report.
NO_CALIBRATION = "no calibration"
LEVEL = 0.95
# The ratio of test to training rows in five folds.
TEST_RATIO = 0.25
# The relative standard error of a gain because the final models differ from those that scored the
# held-out rows. Chosen by simulation; see results/coverage.
MODEL_ERROR = 0.15


@dataclass(frozen=True)
class CalibrationReport(Record):
    """The chosen calibration and its expected gain.

    Attributes
    ----------
    candidates : tuple of str
        The names of the candidates; the first is no calibration.
    weights : tuple of float
        The weights of the candidates in the final probabilities, which sum to 1.
    log_losses : tuple of float
        The held-out log loss of each candidate; NaN if no rows can be held out. For a strategy
        with binary problems, it is the binary log loss averaged over the problems.
    gain : Interval
        The expected decrease in log loss on new rows, estimated on held-out rows, with its
        95% confidence interval.
    n_rows : int
        The number of rows, or of groups of rows, that the estimates are based on.
    rare_classes : tuple
        The classes with fewer than four rows. They are too rare to be calibrated by
        themselves, but the probability floor keeps their probabilities above 0.
    n_ensemble : int
        The number of candidates that calibrate the scores of the ensemble; they come last. 0 if
        no models voted.
    ensemble_gain : float
        The decrease in held-out log loss when these candidates were added; negative if it rose.
    performance : Performance or None
        The performance of the calibrated probabilities on held-out rows. None if no rows can be
        held out, for a strategy with binary problems, and for models saved by version 0.1.0.
    """

    candidates: tuple[str, ...]
    weights: tuple[float, ...]
    log_losses: tuple[float, ...]
    gain: Interval
    n_rows: int
    rare_classes: tuple[Any, ...] = ()
    n_ensemble: int = 0
    ensemble_gain: float = 0.0
    performance: Performance | None = None

    @property
    def ensemble_weight(self) -> float:
        """The total weight of the candidates that calibrate the scores of the ensemble."""
        return sum(self.weights[len(self.weights) - self.n_ensemble :])

    @property
    def expected_gain(self) -> float:
        """The estimated gain."""
        return self.gain.estimate

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the confidence interval for the gain."""
        return self.gain.low, self.gain.high

    def with_labels(self, classes: Sequence[Any] | NDArray[Any]) -> CalibrationReport:
        """Return the report with class labels in place of column indices.

        Parameters
        ----------
        classes : sequence
            The label of each column.

        Returns
        -------
        CalibrationReport
            The same report, with the labels of its rare classes.
        """
        rare = np.asarray(classes)[list(self.rare_classes)].tolist()
        return replace(self, rare_classes=tuple(rare))

    def __str__(self) -> str:
        if self.weights[0] <= 1.0 - NEGLIGIBLE_WEIGHT:
            text = f"{self._describe_weights()} {self._describe_gain()}"
        elif self.n_rows == 0:
            text = (
                "The probabilities are left uncalibrated, because rows of at least two classes "
                "must be held out, and this was not possible."
            )
        else:
            text = (
                "The probabilities are left uncalibrated, because calibration did not lower the "
                f"log loss on {self._rows('held-out ')} beyond chance."
            )
        if self.n_ensemble:
            text += f" {self._describe_ensemble()}"
        if self.rare_classes:
            names = ", ".join(str(name) for name in self.rare_classes)
            text += f" Too rare to be calibrated individually: {names}."
        return text

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{weight:.0%}</td><td>{loss:.4g}</td></tr>"
            for name, weight, loss in zip(
                self.candidates, self.weights, self.log_losses, strict=True
            )
        )
        return (
            f"<p>{escape(str(self))}</p><table><tr><th>candidate</th><th>weight</th>"
            f"<th>held-out log loss</th></tr>{rows}</table>"
        )

    def _rows(self, kind: str = "") -> str:
        # Rows of one group are one observation.
        return f"1 {kind}observation" if self.n_rows == 1 else f"{self.n_rows} {kind}observations"

    def _describe_weights(self) -> str:
        chosen = sorted(zip(self.weights, self.candidates, strict=True), reverse=True)
        kept = [(weight, name) for weight, name in chosen if weight >= NEGLIGIBLE_WEIGHT]
        if len(kept) == 1:
            return f"The probabilities are calibrated by {kept[0][1]}."
        parts = [f"{name} ({weight:.0%})" for weight, name in kept]
        return f"The probabilities are a weighted average of {', '.join(parts)}."

    def _describe_ensemble(self) -> str:
        if self.ensemble_weight == 0:
            return "The ensemble of refitted models has no weight and is not used."
        change = "lowers" if self.ensemble_gain >= 0 else "raises"
        return (
            f"The ensemble of refitted models has a weight of {self.ensemble_weight:.0%}; it "
            f"{change} the held-out log loss by {abs(self.ensemble_gain):.3f}."
        )

    def _describe_gain(self) -> str:
        if self.n_rows == 0:
            return "The gain could not be estimated, because too few rows could be held out."
        gain, low, high = (
            f"{round(value, 3) + 0.0:.3f}"  # adding 0 turns -0 into 0
            for value in (self.gain.estimate, self.gain.low, self.gain.high)
        )
        interval = f"{self.gain.level:.0%} interval {low} to {high}, from {self._rows()}"
        if self.expected_gain > 0:
            return f"The log loss is expected to fall by {gain} ({interval})."
        return f"The log loss may not fall: the expected gain is {gain} ({interval})."


def mean_log_losses(true_proba: FloatArray, weight: FloatArray) -> tuple[float, ...]:
    """Return the log loss of each candidate; NaN if there are no points.

    Parameters
    ----------
    true_proba : ndarray of shape (n_points, n_candidates)
        The held-out probability that each candidate gives the true class.
    weight : ndarray of shape (n_points,)
        The weights of the points.

    Returns
    -------
    tuple of float
        One loss per candidate.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return tuple((-(weight @ np.log(true_proba)) / weight.sum()).tolist())


def gain_interval(gain: FloatArray, fitted_gain: FloatArray) -> Interval:
    r"""Estimate the gain on new rows, with a confidence interval.

    Parameters
    ----------
    gain : ndarray of shape (n_groups,)
        Gains of independent rows or groups by a calibration that was chosen without them.
    fitted_gain : ndarray of shape (n_groups,)
        Their gains by the calibration that was chosen with them.

    Returns
    -------
    Interval
        The estimate and its interval.

    Notes
    -----
    The means :math:`a` and :math:`b` of the gains are pessimistic and optimistic, so the estimate
    is :math:`m = (a + b) / 2`. Its squared standard error is

    .. math:: \left(1 + \tfrac{1}{4}\right) s^2 + (a - b)^2 + (0.15 \, m)^2 .

    The first term is the sampling of rows: :math:`s` is the larger standard error of the two means,
    and 1/4 is the ratio of test to training rows in five folds, which accounts for the training
    rows that the folds share [1]_. The second term is the choice of the calibration. The third one
    is the difference between the models that scored the held-out rows and the final ones, which
    were fitted on more rows or average more votes; it was chosen by simulation.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
           52, 2003.
    """
    n_groups = len(gain)
    low, high = (float(gains.mean()) if n_groups else 0.0 for gains in (gain, fitted_gain))
    mean = (low + high) / 2.0
    if n_groups < 2:
        return Interval(mean, -np.inf, np.inf, LEVEL)
    sampling = max(float(gains.var(ddof=1)) for gains in (gain, fitted_gain)) / n_groups
    squared_error = (1.0 + TEST_RATIO) * sampling + (high - low) ** 2 + (MODEL_ERROR * mean) ** 2
    half = float(student.ppf((1 + LEVEL) / 2, n_groups - 1)) * squared_error**0.5
    return Interval(mean, mean - half, mean + half, LEVEL)
