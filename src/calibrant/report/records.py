"""Records of an analysis: the numbers of a report, independent of the page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from calibrant._core.records import Interval, Record
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import check_alpha
from calibrant.comparison import Comparison, effect
from calibrant.metrics import Decomposition, ReliabilityCurve
from calibrant.report.evaluation import Evaluation

ALPHA = 0.05
# Calibration errors up to this are small: they affect few decisions.
SMALL_ERROR = 0.05
# Smaller changes of a score are negligible: the probability of the true class changes by at most
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


class Verdict(StrEnum):
    """Whether uncalibrated probabilities can be trusted.

    Attributes
    ----------
    CALIBRATED, NEARLY_CALIBRATED, UNCLEAR, MISCALIBRATED : str
        In the report: yes, nearly, cannot tell, no.
    """

    CALIBRATED = "calibrated"
    NEARLY_CALIBRATED = "nearly calibrated"
    UNCLEAR = "unclear"
    MISCALIBRATED = "miscalibrated"


@dataclass(frozen=True)
class Miscalibration(Record):
    """How far the uncalibrated probabilities of a model are off.

    Attributes
    ----------
    confidence : float
        Mean probability of the most probable class.
    accuracy : float
        Fraction of rows whose most probable class is the true one.
    error : Interval
        Calibration error of the most probable class, root mean square.
    p_value : float
        P-value of a test that the probabilities of all classes are calibrated.
    """

    confidence: float
    accuracy: float
    error: Interval
    p_value: float

    @property
    def verdict(self) -> Verdict:
        """The verdict, based on whether a miscalibration is significant and whether it is small."""
        is_small = self.error.high <= SMALL_ERROR
        if self.p_value < ALPHA:
            return Verdict.NEARLY_CALIBRATED if is_small else Verdict.MISCALIBRATED
        return Verdict.CALIBRATED if is_small else Verdict.UNCLEAR

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the verdict as plain values."""
        return {**super().to_dict(), "verdict": self.verdict.value}


class Effect(StrEnum):
    """Effect of calibration on log loss and Brier score.

    Attributes
    ----------
    IMPROVED, NEUTRAL, IMPAIRED : str
        In the report: better, no clear change, worse.
    """

    IMPROVED = "improved"
    NEUTRAL = "neutral"
    IMPAIRED = "impaired"


@dataclass(frozen=True)
class Gain(Record):
    """The changes made by calibration.

    Attributes
    ----------
    log_loss, brier_score : Measure
        The two scores. Their changes are tested by a corrected paired t-test.
    """

    log_loss: Measure
    brier_score: Measure

    def is_significant(self, alpha: float = ALPHA) -> bool:
        """Return whether at least one score changes significantly."""
        return any(each.is_significant(alpha) for each in self._comparisons())

    @property
    def is_negligible(self) -> bool:
        """Whether both changes are too small to matter.

        They may still be significant: even if calibration does nothing else, the probability
        floor moves probabilities of 0.
        """
        changes = (self.log_loss.change, self.brier_score.change)
        return max(abs(change.estimate) for change in changes) < SMALL_CHANGE

    @property
    def effect(self) -> Effect:
        """The effect according to `calibrant.comparison.effect`; neutral if negligible."""
        if self.is_negligible:
            return Effect.NEUTRAL
        return Effect(effect(self._comparisons(), ALPHA))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the effect as plain values."""
        return {**super().to_dict(), "effect": self.effect.value}

    def _comparisons(self) -> list[Comparison]:
        changes = (self.log_loss.change, self.brier_score.change)
        return [Comparison(change.estimate, np.nan, change.p_value) for change in changes]


@dataclass(frozen=True, eq=False)
class Reliability(Record):
    """Reliability curves of one class or of the most probable class.

    Attributes
    ----------
    class_index : int or None
        Column index of the class. ``None`` means the most probable class of each row.
    uncalibrated, calibrated : ReliabilityCurve
        The curves, with intervals and a histogram of the predictions.
    """

    class_index: int | None
    uncalibrated: ReliabilityCurve
    calibrated: ReliabilityCurve


@dataclass(frozen=True)
class ScoreDecomposition(Record):
    """Calibration and refinement parts of a score, uncalibrated and calibrated.

    Attributes
    ----------
    name : str
        Name of the score.
    uncalibrated, calibrated : Decomposition
        The parts, averaged over the repeats.
    """

    name: str
    uncalibrated: Decomposition
    calibrated: Decomposition


@dataclass(frozen=True, eq=False)
class ModelAnalysis(Record):
    """Analysis of one model.

    Attributes
    ----------
    name : str
        Name of the model.
    miscalibration : Miscalibration
        How far the uncalibrated probabilities are off.
    gain : Gain
        The changes made by calibration.
    measures : tuple of Measure
        Scores and calibration errors.
    reliability : tuple of Reliability
        Curves of the most probable class and of each class.
    decompositions : tuple of ScoreDecomposition
        Parts of log loss and Brier score.
    uncalibrated, calibrated : ndarray of shape (n_held_out_rows, n_classes)
        Probabilities of the held-out rows, averaged over the repeats.
    uncalibrated_confusion, calibrated_confusion : ndarray of shape (n_classes, n_classes)
        Mean probability of each class (column) for rows of each true class (row).
    most_changed : ndarray of shape (n_most_changed,)
        Indices into the held-out rows whose probabilities change most, in decreasing order.
    """

    name: str
    miscalibration: Miscalibration
    gain: Gain
    measures: tuple[Measure, ...]
    reliability: tuple[Reliability, ...]
    decompositions: tuple[ScoreDecomposition, ...]
    uncalibrated: FloatArray
    calibrated: FloatArray
    uncalibrated_confusion: FloatArray
    calibrated_confusion: FloatArray
    most_changed: IndexArray

    def most_changed_class(self, row: int) -> int:
        """Return the column index of the class whose probability changes most in a row."""
        return int(np.abs(self.calibrated[row] - self.uncalibrated[row]).argmax())


@dataclass(frozen=True)
class RankedModel(Record):
    """A model, uncalibrated or calibrated, compared with the best one.

    Attributes
    ----------
    model : int
        Index of the model in the evaluation.
    name : str
        Name of the model.
    calibrated : bool
        Whether it is calibrated.
    log_loss, brier_score, accuracy : float
        Its scores.
    excess_loss : float
        How much larger its log loss or Brier score is than that of the best, whichever
        differs more.
    p_value : float
        P-value of a corrected paired t-test against the best: the smaller of those for log loss
        and Brier score, adjusted for the number of comparisons. 1 if the two scores disagree,
        and for the best itself.
    """

    model: int
    name: str
    calibrated: bool
    log_loss: float
    brier_score: float
    accuracy: float
    excess_loss: float = 0.0
    p_value: float = 1.0

    @property
    def label(self) -> str:
        """Name of the model and whether it is calibrated."""
        return f"{self.name}, {'calibrated' if self.calibrated else 'uncalibrated'}"

    def is_significant(self, alpha: float = ALPHA) -> bool:
        """Return whether the difference from the best is significant."""
        return self.p_value < check_alpha(alpha)

    @property
    def is_negligible(self) -> bool:
        """Whether the difference from the best is too small to matter."""
        return self.excess_loss < SMALL_CHANGE

    @property
    def is_worse(self) -> bool:
        """Whether it is significantly worse than the best, by more than a negligible amount."""
        return self.is_significant() and not self.is_negligible


@dataclass(frozen=True, eq=False)
class Analysis(Record):
    """All numbers of a report.

    Attributes
    ----------
    evaluation : Evaluation
        The held-out predictions behind the numbers.
    models : tuple of ModelAnalysis
        One analysis per model.
    ranking : tuple of RankedModel
        The models, uncalibrated and calibrated, by increasing log loss.
    """

    evaluation: Evaluation
    models: tuple[ModelAnalysis, ...]
    ranking: tuple[RankedModel, ...]

    @property
    def best(self) -> RankedModel:
        """The model with the lowest log loss."""
        return self.ranking[0]

    def _shown(self) -> list[tuple[str, Any]]:
        verdicts = {model.name: model.miscalibration.verdict for model in self.models}
        effects = {model.name: model.gain.effect for model in self.models}
        return [
            ("classes", self.evaluation.classes),
            ("n_rows", len(self.evaluation.y)),
            ("uncalibrated probabilities", verdicts),
            ("effect of calibration", effects),
            ("best", self.best.label),
        ]
