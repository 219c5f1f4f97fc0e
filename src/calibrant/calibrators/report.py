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

# The baseline of every report.
NO_CALIBRATION = "no calibration"
LEVEL = 0.95


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
        95% confidence interval. The interval accounts only for the sampling of rows: in
        simulations with 100 rows, it covers the gain on new rows in 70% to 85% of cases.
    n_rows : int
        The number of rows, or of groups of rows, that the estimates are based on.
    rare_classes : tuple
        The classes with fewer than four rows. They are too rare to be calibrated by
        themselves, but the probability floor keeps their probabilities above 0.
    n_ensemble : int
        The number of candidates that calibrate the scores of the ensemble; they come last. 0 if
        no models voted.
    """

    candidates: tuple[str, ...]
    weights: tuple[float, ...]
    log_losses: tuple[float, ...]
    gain: Interval
    n_rows: int
    rare_classes: tuple[Any, ...] = ()
    n_ensemble: int = 0

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


def make_report(
    candidates: Sequence[str],
    weights: Sequence[float],
    true_proba: FloatArray,
    point_weight: FloatArray,
    gain: FloatArray,
    rare_classes: Sequence[Any],
    n_ensemble: int = 0,
) -> CalibrationReport:
    """Summarize how well the candidates predict held-out points.

    Parameters
    ----------
    candidates : sequence of str
        Their names.
    weights : sequence of float
        Their weights in the final probabilities.
    true_proba : ndarray of shape (n_points, n_candidates)
        Held-out probability of the true class by each candidate.
    point_weight : ndarray of shape (n_points,)
        The weights of the points.
    gain : ndarray of shape (n_groups,)
        Gains of independent rows or groups.
    rare_classes : sequence
        Classes with too few rows to be calibrated individually.
    n_ensemble : int, default=0
        The number of candidates, at the end, that calibrate the scores of the ensemble.

    Returns
    -------
    CalibrationReport
        The report.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        log_losses = -(point_weight @ np.log(true_proba)) / point_weight.sum()
    if len(gain) < 2:
        interval = Interval(float(gain.mean()) if len(gain) else 0.0, -np.inf, np.inf, LEVEL)
    else:
        half = student.ppf((1 + LEVEL) / 2, len(gain) - 1) * gain.std(ddof=1) / len(gain) ** 0.5
        mean = float(gain.mean())
        interval = Interval(mean, float(mean - half), float(mean + half), LEVEL)
    return CalibrationReport(
        tuple(candidates),
        tuple(weights),
        tuple(log_losses.tolist()),
        interval,
        len(gain),
        tuple(rare_classes),
        n_ensemble,
    )
