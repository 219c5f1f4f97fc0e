"""Differences between observed and predicted shares of events, with score intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtri

from calibrant._core.records import Interval
from calibrant._core.typing import BoolArray, FloatArray, IndexArray

# A shift of the log odds beyond this leaves no doubt about any event.
LARGEST_SHIFT = 60.0
# The error of the shifts that end an interval.
TOLERANCE = 1e-7
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class EventRows:
    """Outcomes and probabilities of several events per row, one per column.

    Attributes
    ----------
    outcome, predicted, recalibrated : ndarray of shape (n_rows, n_events)
        The outcomes, their probabilities, and the same after recalibration on all rows.
    weight : ndarray of shape (n_rows,)
        Numbers of rows.
    groups : ndarray of shape (n_rows,) or None
        The index of the group of each row. ``None`` means independent rows.
    """

    outcome: FloatArray
    predicted: FloatArray
    recalibrated: FloatArray
    weight: FloatArray
    groups: IndexArray | None

    def inflation(self) -> FloatArray:
        """Return the factor by which groups raise the variance of the sums of each event."""
        n_events = self.outcome.shape[1]
        if self.groups is None:
            return np.ones(n_events)
        sums = np.zeros((self.groups.max() + 1, n_events))
        np.add.at(sums, self.groups, self.weight[:, None] * (self.outcome - self.recalibrated))
        expected = self.weight @ (self.recalibrated * (1.0 - self.recalibrated))
        return np.maximum((sums**2).sum(axis=0) / expected, 1.0)

    def means(self, rows: BoolArray) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the observed and the predicted share of each event in some rows."""
        observed, predicted = (
            tuple(np.average(each[rows], axis=0, weights=self.weight[rows]).tolist())
            for each in (self.outcome, self.predicted)
        )
        return observed, predicted

    def differences(self, rows: BoolArray, level: float) -> tuple[Interval, ...]:
        """Return observed minus predicted share of each event in some rows."""
        return tuple(
            _difference(
                self.outcome[rows, at],
                self.predicted[rows, at],
                self.recalibrated[rows, at],
                self.weight[rows],
                float(inflation),
                level,
            )
            for at, inflation in enumerate(self.inflation())
        )


def _difference(
    outcome: FloatArray,
    predicted: FloatArray,
    recalibrated: FloatArray,
    weight: FloatArray,
    inflation: float,
    level: float,
) -> Interval:
    """Return observed minus predicted share of one event, with its score interval."""
    n_rows = weight.sum()
    mean = float(weight @ predicted / n_rows)
    log_odds = logit(np.clip(recalibrated, EPS, 1.0 - EPS))
    within = weight @ (recalibrated * (1.0 - recalibrated))
    # Differences that vary between rows add to the variance of their mean.
    change = recalibrated - predicted
    between = weight @ (change - weight @ change / n_rows) ** 2
    inflation *= 1.0 + between / max(within, EPS)
    width = float(ndtri(0.5 + level / 2)) * np.sqrt(inflation)

    def excess(shift: float, sign: float) -> float:
        above, below = expit(log_odds + shift), expit(-log_odds - shift)
        # Written so that residuals near 0 are not lost to rounding.
        residual = weight @ np.where(outcome > 0, below, -above)
        return float(residual - sign * width * np.sqrt(weight @ (above * below)))

    def end(sign: float) -> float:
        shift = brentq(excess, -LARGEST_SHIFT, LARGEST_SHIFT, args=(sign,), xtol=TOLERANCE)
        return float(weight @ expit(log_odds + shift) / n_rows)

    share = float(weight @ outcome / n_rows)
    low = 0.0 if share == 0 else end(1.0)
    high = 1.0 if share == 1 else end(-1.0)
    return Interval(share - mean, min(low, share) - mean, max(high, share) - mean, level)
