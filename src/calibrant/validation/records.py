"""Records of a validation: the numbers of its page, independent of the page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray
from calibrant.calibrators import UpdateChoice, UpdateReport
from calibrant.comparison import Comparison, effect
from calibrant.metrics import Mean, Performance, ReliabilityCurve
from calibrant.report import Assessment, Change, Effect, Miscalibration, Verdict

ALPHA = 0.05
# Smaller differences between the scores of two models are negligible, as in the report.
SMALL_DIFFERENCE = 0.005


@dataclass(frozen=True, eq=False)
class Candidate(Record):
    """Probabilities to validate, and what is known from training.

    Attributes
    ----------
    name : str
        Name of the model that predicted them.
    proba : ndarray of shape (n_rows, n_classes)
        Probabilities of the new rows.
    before : Performance or None
        Performance on held-out rows when the model was fitted. ``None`` means not recorded.
    class_count : tuple of float or None
        Number of training rows of each class. ``None`` means that of ``before``, or unknown.
    """

    name: str
    proba: FloatArray
    before: Performance | None = None
    class_count: tuple[float, ...] | None = None

    @property
    def training_count(self) -> tuple[float, ...] | None:
        """Number of training rows of each class, if known."""
        if self.class_count is None and self.before is not None:
            return self.before.class_count
        return self.class_count


class Cause(StrEnum):
    """What made the probabilities wrong.

    Attributes
    ----------
    NONE, CLASSES, MODEL, UNKNOWN : str
        Nothing did, as far as the rows show; the mix of classes changed, and correcting for it
        suffices; the model no longer fits the rows of the classes; a correction for class
        frequencies suffices, but the training frequencies are not known.
    """

    NONE = "none"
    CLASSES = "class frequencies"
    MODEL = "model"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class FrequencyTest(Record):
    """A test of whether the class frequencies are those of the training rows.

    Attributes
    ----------
    training, new : tuple of float
        Number of rows of each class.
    statistic : float
        Pearson's chi-squared statistic of homogeneity.
    p_value : float
        Its p-value, by permutation.
    unit : str
        What was counted: "row", or "group" if a group counts once for each of its classes.
    """

    training: tuple[float, ...]
    new: tuple[float, ...]
    statistic: float
    p_value: float
    unit: str = "row"

    @property
    def is_significant(self) -> bool:
        """Whether the class frequencies differ beyond chance."""
        return self.p_value < ALPHA

    @property
    def most_changed(self) -> int:
        """The class whose frequency changed most, as a column index."""
        changes = [
            abs(new - old)
            for old, new in zip(_frequencies(self.training), _frequencies(self.new), strict=True)
        ]
        return changes.index(max(changes))

    def frequency(self, k: int) -> tuple[float, float]:
        """Return the frequency of a class among the training rows and the new rows."""
        return _frequencies(self.training)[k], _frequencies(self.new)[k]


@dataclass(frozen=True)
class ScoreChange(Record):
    """A score on held-out rows at training and on the new rows.

    Attributes
    ----------
    name : str
        Name of the score.
    before, now : Mean
        Its values.
    change : Change
        The difference, with a p-value that is adjusted for the number of scores.
    is_percentage : bool
        Whether to display it as a percentage.
    """

    name: str
    before: Mean
    now: Mean
    change: Change
    is_percentage: bool = False

    @property
    def is_significant(self) -> bool:
        """Whether the score changed beyond chance."""
        return self.change.p_value < ALPHA


@dataclass(frozen=True)
class Validation(Record):
    """What new rows say about the probabilities of one model.

    Attributes
    ----------
    name : str
        Name of the model.
    classes : tuple
        The classes, in the order of the columns.
    miscalibration : Miscalibration
        How far the probabilities are off, with the verdict. Its p-value is that of two tests
        together: twice the smaller one.
    performance : Performance
        The scores on the new rows.
    kernel_p_value : float
        P-value of the test against any miscalibration.
    update : UpdateReport
        The update that a closed testing procedure chooses for these rows, at half the level of
        the verdict: its first test is the second test of calibration. The performance of full
        recalibration is not measured.
    reliability : tuple of ReliabilityCurve
        Curves of the most probable class and of each class, as far as the page shows them.
    assessment : Assessment
        The probabilities, by the measures of risk modeling.
    before : Performance or None
        The scores on held-out rows when the model was fitted. ``None`` means not recorded.
    scores : tuple of ScoreChange
        The change in each score; empty if ``before`` is not known.
    by_class : tuple of ScoreChange
        For the rows of each class, the change in the mean probability of that class; empty if
        ``before`` is not known.
    frequencies : FrequencyTest or None
        Test of the class frequencies. ``None`` means that those of training are not known.
    """

    name: str
    classes: tuple[Any, ...]
    miscalibration: Miscalibration
    performance: Performance
    kernel_p_value: float
    update: UpdateReport
    reliability: tuple[ReliabilityCurve, ...]
    assessment: Assessment
    before: Performance | None = None
    scores: tuple[ScoreChange, ...] = ()
    by_class: tuple[ScoreChange, ...] = ()
    frequencies: FrequencyTest | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the probabilities are right."""
        return self.miscalibration.verdict

    @property
    def is_significant(self) -> bool:
        """Whether the tests find a miscalibration."""
        return self.miscalibration.p_value < ALPHA

    @property
    def has_new_frequencies(self) -> bool:
        """Whether the class frequencies are known to have changed."""
        return self.frequencies is not None and self.frequencies.is_significant

    @property
    def has_changed(self) -> bool:
        """Whether anything is known to have changed since training."""
        changes = (*self.scores, *self.by_class)
        return self.has_new_frequencies or any(change.is_significant for change in changes)

    @property
    def calls_for_update(self) -> bool:
        """Whether the tests find a miscalibration that an update corrects."""
        return self.is_significant and self.update.choice != UpdateChoice.NONE

    @property
    def cause(self) -> Cause:
        """What made the probabilities wrong."""
        if not self.is_significant:
            return Cause.NONE
        if self.update.choice != UpdateChoice.INTERCEPTS:
            return Cause.MODEL
        if self.frequencies is None:
            return Cause.UNKNOWN
        return Cause.CLASSES if self.frequencies.is_significant else Cause.MODEL

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, the verdict and the cause as plain values."""
        return {**super().to_dict(), "verdict": self.verdict.value, "cause": self.cause.value}


@dataclass(frozen=True)
class Difference(Record):
    """The scores of a second model minus those of the first, on the same rows.

    Attributes
    ----------
    log_loss, brier_score : Change
        The differences. Negative values favor the second model.
    """

    log_loss: Change
    brier_score: Change

    @property
    def is_negligible(self) -> bool:
        """Whether both differences are too small to matter, beyond chance or not."""
        changes = (self.log_loss, self.brier_score)
        return max(abs(change.estimate) for change in changes) < SMALL_DIFFERENCE

    @property
    def effect(self) -> Effect:
        """Whether the second model is better, as in the report; neutral if negligible."""
        if self.is_negligible:
            return Effect.NEUTRAL
        changes = (self.log_loss, self.brier_score)
        comparisons = [Comparison(each.estimate, 0.0, each.p_value) for each in changes]
        return Effect(effect(comparisons, ALPHA))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the effect as plain values."""
        return {**super().to_dict(), "effect": self.effect.value}


@dataclass(frozen=True)
class ValidationResult(Record):
    """Validations of one or two models on the same new rows.

    Attributes
    ----------
    n_rows, n_groups : int
        Number of rows, and of independent groups of rows.
    models : tuple of Validation
        One validation per model.
    difference : Difference or None
        The second model compared with the first. ``None`` means that there is only one.
    """

    n_rows: int
    n_groups: int
    models: tuple[Validation, ...]
    difference: Difference | None = None


def _frequencies(count: tuple[float, ...]) -> list[float]:
    total = sum(count)
    return [each / total for each in count]
