"""Assessment of probabilities by the measures of risk modeling: records and computation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray
from calibrant.decisions import (
    CostComparison,
    CostTable,
    DecisionCurve,
    PairThresholds,
    compare_costs,
    decision_curve,
    implied_thresholds,
)
from calibrant.metrics import (
    Discrimination,
    MultinomialCalibration,
    SmoothCalibrationCurve,
    WeakCalibration,
    estimated_calibration_index,
    measure_discrimination,
    multinomial_calibration,
    smooth_calibration_curve,
    weak_calibration,
)
from calibrant.report.evaluation import MOST_CLASSES
from calibrant.report.statistics import HeldOutStatistics
from calibrant.report.subgroups import ColumnCalibration, measure_subgroups

# One in this many points of a curve becomes plain values, starting with the given one: the
# thresholds of decision curves are then 0.05, 0.1, ..., 0.95.
THINNING, FIRST_THRESHOLD = 5, 4

Curve = TypeVar("Curve", SmoothCalibrationCurve, DecisionCurve)


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
    decision_curve : DecisionCurve
        The net benefit of acting on the probabilities.
    """

    label: Any
    weak_calibration: WeakCalibration
    curve: SmoothCalibrationCurve
    decision_curve: DecisionCurve

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values; of curves, every fifth point."""
        return {
            **super().to_dict(),
            "curve": _thin(self.curve).to_dict(),
            "decision_curve": _thin(self.decision_curve, FIRST_THRESHOLD).to_dict(),
        }


@dataclass(frozen=True, eq=False)
class CostAssessment(Record):
    """What decisions cost by the rule that leads to them.

    Attributes
    ----------
    decisions : tuple of str
        Names of the decisions.
    comparison : CostComparison
        Mean costs per row.
    thresholds : tuple of PairThresholds
        The thresholds that the costs imply for each pair of classes.
    """

    decisions: tuple[str, ...]
    comparison: CostComparison
    thresholds: tuple[PairThresholds, ...]


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
    discrimination : Discrimination
        How well the probabilities tell the classes apart; with more than ten classes, without
        their pairs.
    costs : CostAssessment or None
        What decisions cost. ``None`` means that no costs were given.
    subgroups : tuple of ColumnCalibration
        Calibration by the subgroups of each column that the user asked for.
    """

    by_class: tuple[ClassAssessment, ...]
    multinomial: MultinomialCalibration | None
    calibration_index: float
    discrimination: Discrimination
    costs: CostAssessment | None = None
    subgroups: tuple[ColumnCalibration, ...] = ()

    def _shown(self) -> list[tuple[str, Any]]:
        slopes = {str(each.label): each.weak_calibration.slope for each in self.by_class}
        return [
            ("calibration slopes", slopes),
            ("calibration_index", self.calibration_index),
            ("m_index", self.discrimination.m_index),
        ]


def assess(
    statistics: HeldOutStatistics, proba: FloatArray, costs: CostTable | None = None
) -> Assessment:
    """Assess held-out probabilities.

    Parameters
    ----------
    statistics : HeldOutStatistics
        The true classes. The first repeat is used, in which each row is predicted once.
    proba : ndarray of shape (n_predictions, n_classes)
        The probabilities.
    costs : CostTable, default=None
        Costs of decisions, with the classes of the evaluation in their order. ``None`` means
        unknown costs.

    Returns
    -------
    Assessment
        The measures, with intervals.
    """
    first, labels = statistics.first_repeat, statistics.labels
    evaluation = statistics.evaluation
    y_true, used = statistics.y_true[first], proba[first]
    columns = [1] if len(labels) == 2 else evaluation.most_frequent_classes
    has_few = len(labels) <= MOST_CLASSES
    multinomial, index = None, np.nan
    if len(labels) > 2 and has_few:
        multinomial = multinomial_calibration(y_true, used, labels=labels)
        index = estimated_calibration_index(y_true, used, labels=labels)
    discrimination = measure_discrimination(y_true, used, labels=labels)
    if not has_few:
        discrimination = replace(discrimination, by_pair=())
    comparison = None
    if costs is not None:
        comparison = _assess_costs(costs, compare_costs(y_true, used, costs.costs, labels=labels))
    found = Assessment(
        by_class=tuple(
            ClassAssessment(
                label=k,
                weak_calibration=weak_calibration(y_true, used, of=k, labels=labels),
                curve=smooth_calibration_curve(y_true, used, of=k, labels=labels),
                decision_curve=decision_curve(y_true, used, of=k, labels=labels),
            )
            for k in columns
        ),
        multinomial=multinomial,
        calibration_index=index,
        discrimination=discrimination,
        costs=comparison,
        subgroups=tuple(
            measure_subgroups(statistics, proba, each) for each in evaluation.subgroups
        ),
    )
    return _name_classes(found, evaluation.classes)


def _assess_costs(costs: CostTable, found: CostComparison) -> CostAssessment:
    # As many decisions as classes need not be the classes.
    if costs.decisions != costs.classes:
        found = replace(found, most_probable=None)
    return CostAssessment(costs.decisions, found, implied_thresholds(costs.costs))


def check_cost_classes(costs: CostTable | None, classes: tuple[Any, ...]) -> None:
    """Check that a cost table has the classes of a model, in their order."""
    if costs is not None and costs.classes != tuple(map(str, classes)):
        raise ValueError(
            f"costs must have the classes {list(map(str, classes))} in this order, got "
            f"{list(costs.classes)}. Sort the rows of the cost table."
        )


def _name_classes(found: Assessment, names: tuple[Any, ...]) -> Assessment:
    """Replace column indices, for which measures are computed, by the labels of the classes."""
    multinomial, discrimination, costs = found.multinomial, found.discrimination, found.costs
    if multinomial is not None:
        multinomial = replace(
            multinomial,
            reference=names[multinomial.reference],
            classes=tuple(names[k] for k in multinomial.classes),
        )
    if costs is not None:
        costs = replace(costs, thresholds=_name_pairs(costs.thresholds, names))
    return replace(
        found,
        by_class=tuple(replace(each, label=names[each.label]) for each in found.by_class),
        multinomial=multinomial,
        discrimination=replace(
            discrimination,
            classes=tuple(names),
            by_pair=_name_pairs(discrimination.by_pair, names),
        ),
        costs=costs,
    )


def _name_pairs(pairs: tuple[Any, ...], names: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        replace(each, first=names[each.first], second=names[each.second]) for each in pairs
    )


def _thin(curve: Curve, first: int = 0) -> Curve:
    """Return a curve with fewer points, which are enough to draw it again."""
    x = curve.predicted if isinstance(curve, SmoothCalibrationCurve) else curve.threshold
    points = {
        name: values[first::THINNING]
        for name, values in vars(curve).items()
        if np.shape(values) == x.shape
    }
    return replace(curve, **points)
