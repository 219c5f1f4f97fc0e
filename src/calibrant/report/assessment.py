"""Assessment of probabilities by the measures of risk modeling: records and computation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray
from calibrant.metrics import (
    MultinomialCalibration,
    SmoothCalibrationCurve,
    WeakCalibration,
    estimated_calibration_index,
    multinomial_calibration,
    smooth_calibration_curve,
    weak_calibration,
)
from calibrant.report.evaluation import MOST_CLASSES
from calibrant.report.statistics import HeldOutStatistics

# One in this many points of a curve becomes plain values.
THINNING = 5


@dataclass(frozen=True, eq=False)
class ClassAssessment(Record):
    """Assessment of the probabilities of one class.

    Attributes
    ----------
    label : label
        The class.
    weak_calibration : WeakCalibration
        Calibration intercepts, slope and observed/expected ratio.
    curve : SmoothCalibrationCurve
        The calibration curve, with its distances from the diagonal.
    """

    label: Any
    weak_calibration: WeakCalibration
    curve: SmoothCalibrationCurve

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values; of curves, every fifth point."""
        return {**super().to_dict(), "curve": _thin(self.curve).to_dict()}


@dataclass(frozen=True, eq=False)
class Assessment(Record):
    """Assessment of the probabilities of a model, each row predicted once.

    Attributes
    ----------
    by_class : tuple of ClassAssessment
        The classes: of two, the second one; of many, the ten most frequent.
    multinomial : MultinomialCalibration or None
        Intercepts and slopes of all classes jointly. ``None`` for two classes, for which those
        of the second class say the same, and for more than ten.
    calibration_index : float
        The estimated calibration index (ECI). NaN if ``multinomial`` is ``None``.
    """

    by_class: tuple[ClassAssessment, ...]
    multinomial: MultinomialCalibration | None
    calibration_index: float

    def _shown(self) -> list[tuple[str, Any]]:
        slopes = {str(each.label): each.weak_calibration.slope for each in self.by_class}
        return [("calibration slopes", slopes), ("calibration_index", self.calibration_index)]


def _thin(curve: SmoothCalibrationCurve) -> SmoothCalibrationCurve:
    """Return a curve with fewer points, which are enough to draw it again."""
    return replace(
        curve,
        predicted=curve.predicted[::THINNING],
        observed=curve.observed[::THINNING],
        low=curve.low[::THINNING],
        high=curve.high[::THINNING],
    )


def assess(statistics: HeldOutStatistics, proba: FloatArray) -> Assessment:
    """Assess held-out probabilities.

    Parameters
    ----------
    statistics : HeldOutStatistics
        The true classes. The first repeat is used, in which each row is predicted once.
    proba : ndarray of shape (n_predictions, n_classes)
        The probabilities.

    Returns
    -------
    Assessment
        The measures, with intervals.
    """
    first, labels = statistics.first_repeat, statistics.labels
    evaluation = statistics.evaluation
    y_true, used = statistics.y_true[first], proba[first]
    columns = [1] if len(labels) == 2 else evaluation.most_frequent_classes
    multinomial, index = None, np.nan
    if 2 < len(labels) <= MOST_CLASSES:
        found = multinomial_calibration(y_true, used, labels=labels)
        names = evaluation.classes
        others = tuple(names[k] for k in found.classes)
        multinomial = replace(found, reference=names[found.reference], classes=others)
        index = estimated_calibration_index(y_true, used, labels=labels)
    return Assessment(
        by_class=tuple(
            ClassAssessment(
                label=evaluation.classes[k],
                weak_calibration=weak_calibration(y_true, used, of=k, labels=labels),
                curve=smooth_calibration_curve(y_true, used, of=k, labels=labels),
            )
            for k in columns
        ),
        multinomial=multinomial,
        calibration_index=index,
    )
