"""The numbers of a report, as records: they exist without a page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from calibrant._core.typing import FloatArray, IndexArray
from calibrant.metrics import Decomposition, ReliabilityCurve
from calibrant.report.evaluation import Evaluation, ModelEvaluation

LEVEL = 0.05
# A calibration error of up to five points is small: few decisions hang on it.
SMALL_ERROR = 0.05
# So is a change by which what came true had been given a two-hundredth more or less.
SMALL_CHANGE = 0.005


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval, and a p-value where it was tested against 0.

    NaN stands for what was not computed.
    """

    value: float
    low: float = np.nan
    high: float = np.nan
    p_value: float = np.nan


@dataclass(frozen=True)
class Measure:
    """One measure of the probabilities, before and after calibration.

    Attributes
    ----------
    name : str
        What it is called.
    before, after, change : Estimate
        Its values, and after minus before.
    is_share : bool
        Whether it is to be shown in percent.
    """

    name: str
    before: Estimate
    after: Estimate
    change: Estimate
    is_share: bool = False


class Trust(StrEnum):
    """Whether probabilities can be trusted as they are."""

    yes = "yes"
    nearly = "nearly"
    unclear = "unclear"
    no = "no"


@dataclass(frozen=True)
class Fault:
    """How far off the probabilities of a model are.

    Attributes
    ----------
    confidence : float
        The mean probability of the most probable class.
    accuracy : float
        How often that class is the true one.
    error : Estimate
        The calibration error of the most probable class, root mean square.
    p_value : float
        Of a test that the probabilities are calibrated.
    """

    confidence: float
    accuracy: float
    error: Estimate
    p_value: float

    @property
    def trust(self) -> Trust:
        """Whether they can be trusted."""
        small = self.error.high <= SMALL_ERROR
        if self.p_value < LEVEL:
            return Trust.nearly if small else Trust.no
        return Trust.yes if small else Trust.unclear


class Effect(StrEnum):
    """What calibration did to the two scores."""

    better = "better"
    same = "same"
    worse = "worse"


@dataclass(frozen=True)
class Gain:
    """What calibration brought.

    Attributes
    ----------
    log_loss, brier : Measure
        Both scores; their changes are tested by a corrected paired t-test.
    """

    log_loss: Measure
    brier: Measure

    @property
    def effect(self) -> Effect:
        """Whether a score changed by more than luck, and the other in the same direction.

        A change may be certain and yet of no account: where a model is left as it is, its
        probabilities still keep away from 0.
        """
        changes = (self.log_loss.change, self.brier.change)
        if min(change.p_value for change in changes) >= LEVEL:
            return Effect.same
        if max(abs(change.value) for change in changes) < SMALL_CHANGE:
            return Effect.same
        if all(change.value <= 0 for change in changes):
            return Effect.better
        return Effect.worse if all(change.value >= 0 for change in changes) else Effect.same


@dataclass(frozen=True, eq=False)
class Reliability:
    """What was said against what came true, of one class or of the most probable one.

    Attributes
    ----------
    of : int or None
        The class, as a column number; None is the most probable one.
    before, after : ReliabilityCurve
        The points of the curves, with intervals.
    before_count, after_count : ndarray of shape (N_BARS,)
        Numbers of rows by predicted probability, in steps of equal width.
    """

    of: int | None
    before: ReliabilityCurve
    after: ReliabilityCurve
    before_count: IndexArray
    after_count: IndexArray


@dataclass(frozen=True, eq=False)
class ModelFindings:
    """The numbers of one model.

    Attributes
    ----------
    model : ModelEvaluation
        What they are computed from.
    fault : Fault
        How far off its probabilities are as they are.
    gain : Gain
        What calibration brings.
    measures : tuple of Measure
        Scores and calibration errors with intervals.
    reliability : tuple of Reliability
        Of the most probable class, and of each class.
    parts : dict of str to tuple of Decomposition
        By score: what calibration can mend of it and what not, before and after.
    before, after : ndarray of shape (n_rows, n_classes)
        Probabilities of the held-out rows, mean of the repeats.
    before_confusion, after_confusion : ndarray of shape (n_classes, n_classes)
        The mean probability of each class (column) in rows of a true class (row).
    changed : ndarray of shape (n_changed,)
        Places among the held-out rows: those whose probabilities changed most, most first.
    """

    model: ModelEvaluation
    fault: Fault
    gain: Gain
    measures: tuple[Measure, ...]
    reliability: tuple[Reliability, ...]
    parts: dict[str, tuple[Decomposition, Decomposition]]
    before: FloatArray
    after: FloatArray
    before_confusion: FloatArray
    after_confusion: FloatArray
    changed: IndexArray

    def most_changed_class(self, place: int) -> int:
        """Return the class whose probability changed most in a row."""
        return int(np.abs(self.after[place] - self.before[place]).argmax())


@dataclass(frozen=True)
class Contender:
    """A model, as it is or calibrated, beside the best.

    Attributes
    ----------
    model : int
        The number of the model.
    calibrated : bool
        Whether it is calibrated.
    log_loss, brier : float
        Its scores.
    accuracy : float
        How often its most probable class is true.
    p_value : float
        Of the corrected paired t-tests against the best, the smaller of both scores, adjusted
        for the number of contenders; 1 where the scores disagree, and for the best itself.
    """

    model: int
    calibrated: bool
    log_loss: float
    brier: float
    accuracy: float
    p_value: float


@dataclass(frozen=True, eq=False)
class Findings:
    """All numbers of a report.

    Attributes
    ----------
    evaluation : Evaluation
        What they are computed from.
    models : tuple of ModelFindings
        One for each model.
    contenders : tuple of Contender
        Models as they are and calibrated, by rising log loss.
    """

    evaluation: Evaluation
    models: tuple[ModelFindings, ...]
    contenders: tuple[Contender, ...]

    @property
    def best(self) -> Contender:
        """The one to use."""
        return self.contenders[0]

    def name(self, contender: Contender) -> str:
        """Name a contender: the model, and whether it is calibrated."""
        state = "calibrated" if contender.calibrated else "as it is"
        return f"{self.models[contender.model].model.name}, {state}"
