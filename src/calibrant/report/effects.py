"""Differences between two sets of probabilities, and whether they count as better or worse."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from calibrant._core.records import Interval, Record
from calibrant.comparison import Comparison, effect
from calibrant.report.verdicts import ALPHA

# Smaller changes in a score are negligible: the probability of the true class changes by at most
# half a percent.
SMALL_CHANGE = 0.005


@dataclass(frozen=True)
class Change(Interval):
    """A difference with its confidence interval and the p-value of a test against 0.

    Attributes
    ----------
    estimate, low, high, level : float
        As in `Interval`. NaN means not computed.
    p_value : float
        The two-sided p-value. NaN means not tested.
    """

    p_value: float = np.nan


@dataclass(frozen=True)
class Measure(Record):
    """A measure of uncalibrated and calibrated probabilities.

    Attributes
    ----------
    name : str
        Name of the measure.
    uncalibrated, calibrated : Interval
        Its values. If the ends are NaN, there is no interval.
    change : Change
        The calibrated minus the uncalibrated value.
    is_percentage : bool
        Whether to display it as a percentage.
    """

    name: str
    uncalibrated: Interval
    calibrated: Interval
    change: Change
    is_percentage: bool = False


class Effect(StrEnum):
    """Effect on log loss and Brier score.

    Attributes
    ----------
    IMPROVED, NEUTRAL, IMPAIRED : str
        In the report: better, the `Doubt` about the effect, worse.
    """

    IMPROVED = "improved"
    NEUTRAL = "neutral"
    IMPAIRED = "impaired"


class Doubt(StrEnum):
    """Why an effect is neutral.

    Attributes
    ----------
    NEGLIGIBLE, CHANCE, DISAGREEMENT : str
        The changes are too small to matter, they may be due to chance, or one score improves
        while the other deteriorates.
    """

    NEGLIGIBLE = "negligible"
    CHANCE = "chance"
    DISAGREEMENT = "disagreement"


class ScoreChanges(Record, ABC):
    """Base class of records that compare two sets of probabilities by two scores."""

    DERIVED: ClassVar[tuple[str, ...]] = ("effect", "doubt")

    @abstractmethod
    def _changes(self) -> tuple[Change, Change]:
        """Return the changes in log loss and Brier score."""

    def is_significant(self, alpha: float = ALPHA) -> bool:
        """Return whether at least one score changes significantly."""
        return any(each.is_significant(alpha) for each in self._comparisons())

    @property
    def is_negligible(self) -> bool:
        """Whether both changes are too small to matter.

        They may still be significant: even if calibration does nothing else, the probability
        floor moves probabilities of 0.
        """
        return max(abs(change.estimate) for change in self._changes()) < SMALL_CHANGE

    @property
    def effect(self) -> Effect:
        """The effect according to `calibrant.comparison.effect`; neutral if negligible."""
        if self.is_negligible:
            return Effect.NEUTRAL
        return Effect(effect(self._comparisons(), ALPHA))

    @property
    def doubt(self) -> Doubt | None:
        """Why the effect is neutral; ``None`` if it is not."""
        if self.effect is not Effect.NEUTRAL:
            return None
        if self.is_negligible:
            return Doubt.NEGLIGIBLE
        return Doubt.DISAGREEMENT if self.is_significant() else Doubt.CHANCE

    def _comparisons(self) -> list[Comparison]:
        return [Comparison(change.estimate, np.nan, change.p_value) for change in self._changes()]


@dataclass(frozen=True)
class Gain(ScoreChanges):
    """The changes made by calibration.

    Attributes
    ----------
    log_loss, brier_score : Measure
        The two scores. Their changes are tested by a corrected paired t-test.
    """

    log_loss: Measure
    brier_score: Measure

    def _changes(self) -> tuple[Change, Change]:
        return self.log_loss.change, self.brier_score.change


@dataclass(frozen=True)
class Skill(ScoreChanges):
    """Predictions of a model, compared with guessing.

    Attributes
    ----------
    commonest_class : int
        Column index of the class with the most rows.
    accuracy : float
        Fraction of rows whose most probable class is the true one.
    guess_accuracy : float
        Fraction of rows of the most common class.
    accuracy_change : Change
        The difference between the two.
    log_loss, brier_score : Change
        Scores of the model minus those of the class frequencies among the training rows of
        each split.
    """

    commonest_class: int
    accuracy: float
    guess_accuracy: float
    accuracy_change: Change
    log_loss: Change
    brier_score: Change

    def _changes(self) -> tuple[Change, Change]:
        return self.log_loss, self.brier_score

    @property
    def is_more_often_right(self) -> bool:
        """Whether the most probable class is right more often than the most common one."""
        return self.accuracy_change.estimate > 0 and self.accuracy_change.p_value < ALPHA
