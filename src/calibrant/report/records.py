"""Records of an analysis: the numbers of a report, independent of the page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import check_alpha
from calibrant.metrics import Decomposition, ReliabilityCurve
from calibrant.report.assessment import Assessment
from calibrant.report.effects import SMALL_CHANGE, Effect, Gain, Measure, Skill
from calibrant.report.evaluation import Evaluation
from calibrant.report.verdicts import ALPHA, Miscalibration, Verdict


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
    miscalibration, calibrated_miscalibration : Miscalibration
        How far the uncalibrated and the calibrated probabilities are off.
    skill, calibrated_skill : Skill
        The uncalibrated and the calibrated probabilities, compared with guessing.
    gain : Gain
        The changes made by calibration.
    measures : tuple of Measure
        Scores and calibration errors.
    reliability : tuple of Reliability
        Curves of the most probable class and of each class.
    decompositions : tuple of ScoreDecomposition
        Parts of log loss and Brier score.
    assessment, calibrated_assessment : Assessment
        The uncalibrated and the calibrated probabilities, by the measures of risk modeling.
    uncalibrated, calibrated : ndarray of shape (n_held_out_rows, n_classes)
        Probabilities of the held-out rows, averaged over the repeats.
    uncalibrated_confusion, calibrated_confusion : ndarray of shape (n_classes, n_classes)
        Mean probability of each class (column) for rows of each true class (row).
    uncalibrated_counts, calibrated_counts : ndarray of shape (n_classes, n_classes)
        Number of rows of each true class (row) by their most probable class (column).
    most_changed : ndarray of shape (n_most_changed,)
        Indices into the held-out rows whose probabilities change most, in decreasing order.
    intervals : ndarray of shape (n_most_changed, n_classes, 2) or None
        95% intervals of their calibrated probabilities. ``None`` means that there are none.
    """

    name: str
    miscalibration: Miscalibration
    calibrated_miscalibration: Miscalibration
    skill: Skill
    calibrated_skill: Skill
    gain: Gain
    measures: tuple[Measure, ...]
    reliability: tuple[Reliability, ...]
    decompositions: tuple[ScoreDecomposition, ...]
    assessment: Assessment
    calibrated_assessment: Assessment
    uncalibrated: FloatArray
    calibrated: FloatArray
    uncalibrated_confusion: FloatArray
    calibrated_confusion: FloatArray
    uncalibrated_counts: IndexArray
    calibrated_counts: IndexArray
    most_changed: IndexArray
    intervals: FloatArray | None = None

    def most_changed_class(self, row: int) -> int:
        """Return the column index of the class whose probability changes most in a row."""
        return int(np.abs(self.calibrated[row] - self.uncalibrated[row]).argmax())


class Standing(StrEnum):
    """How a model compares with the best one.

    Attributes
    ----------
    BEST, SAME, CLOSE, WORSE : str
        In the report: recommended, practically the same, about as good, worse.
    """

    BEST = "best"
    SAME = "practically the same"
    CLOSE = "not clearly worse"
    WORSE = "worse"


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
        and Brier score. It is adjusted for the number of comparisons with other models, but not
        for the comparison of the best model with itself, uncalibrated or calibrated, which is
        its `Gain`. 1 if the two scores disagree, and for the best itself.
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

    @property
    def standing(self) -> Standing:
        """How it compares with the best, unless it is the best itself."""
        if self.is_worse:
            return Standing.WORSE
        return Standing.SAME if self.is_significant() else Standing.CLOSE


@dataclass(frozen=True)
class Decision(Record):
    """What the report concludes about one model.

    Every sentence of the report about the model puts a part of this record into words.

    Attributes
    ----------
    model : int
        Index of the model in the evaluation.
    name : str
        Name of the model.
    calibrate : bool
        Whether its calibrated probabilities have the lower log loss. These are the ones to use.
    uncalibrated, calibrated : Miscalibration
        How far its probabilities are off, with the verdicts.
    gain : Gain
        What calibration changes, with the effect.
    skill : Skill
        The probabilities to use, compared with guessing.
    standing : Standing
        The probabilities to use, compared with those of the best model.
    p_value : float
        P-value of that comparison; 1 for the best model.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("verdict",)

    model: int
    name: str
    calibrate: bool
    uncalibrated: Miscalibration
    calibrated: Miscalibration
    gain: Gain
    skill: Skill
    standing: Standing
    p_value: float

    @property
    def label(self) -> str:
        """Name of the model and whether to calibrate it."""
        return f"{self.name}, {'calibrated' if self.calibrate else 'uncalibrated'}"

    @property
    def miscalibration(self) -> Miscalibration:
        """How far the probabilities to use are off."""
        return self.calibrated if self.calibrate else self.uncalibrated

    @property
    def verdict(self) -> Verdict:
        """The verdict on the probabilities to use."""
        return self.miscalibration.verdict


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

    DERIVED: ClassVar[tuple[str, ...]] = ("decisions",)

    evaluation: Evaluation
    models: tuple[ModelAnalysis, ...]
    ranking: tuple[RankedModel, ...]

    @property
    def best(self) -> RankedModel:
        """The model with the lowest log loss."""
        return self.ranking[0]

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What the report concludes about each model, the best one first."""
        found: dict[int, Decision] = {}
        for ranked in self.ranking:  # by increasing log loss
            if ranked.model not in found:
                found[ranked.model] = self._decide(ranked, is_best=not found)
        return tuple(found.values())

    @property
    def recommendation(self) -> Decision:
        """What the report concludes about the best model."""
        return self.decisions[0]

    @property
    def beats_guessing(self) -> bool:
        """Whether the best model is clearly better than guessing."""
        return self.recommendation.skill.effect is Effect.IMPROVED

    def _decide(self, ranked: RankedModel, *, is_best: bool) -> Decision:
        model = self.models[ranked.model]
        return Decision(
            model=ranked.model,
            name=ranked.name,
            calibrate=ranked.calibrated,
            uncalibrated=model.miscalibration,
            calibrated=model.calibrated_miscalibration,
            gain=model.gain,
            skill=model.calibrated_skill if ranked.calibrated else model.skill,
            standing=Standing.BEST if is_best else ranked.standing,
            p_value=ranked.p_value,
        )

    def _shown(self) -> list[tuple[str, Any]]:
        decisions = self.decisions
        return [
            ("classes", self.evaluation.classes),
            ("n_rows", len(self.evaluation.y)),
            ("uncalibrated", {each.name: each.uncalibrated.verdict for each in decisions}),
            ("calibrated", {each.name: each.calibrated.verdict for each in decisions}),
            ("effect of calibration", {each.name: each.gain.effect for each in decisions}),
            ("best", self.best.label),
        ]
