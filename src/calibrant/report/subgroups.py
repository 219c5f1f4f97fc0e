"""Calibration by the subgroups of columns: records and computation for the pages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from calibrant._core.records import Record
from calibrant._core.subgroups import RowSubgroups
from calibrant._core.typing import FloatArray
from calibrant.metrics import SubgroupCalibration, subgroup_calibration
from calibrant.metrics.subgroups import TOP_LABEL
from calibrant.report.statistics import HeldOutStatistics


@dataclass(frozen=True)
class ColumnCalibration(Record):
    """Calibration by the subgroups of one column.

    Attributes
    ----------
    column : str
        Name of the column.
    calibration : SubgroupCalibration
        The numbers.
    shown : tuple of int
        Positions of the events that a page shows: of two classes the second, of many the ten most
        frequent, and the most probable class.
    """

    column: str
    calibration: SubgroupCalibration
    shown: tuple[int, ...]


def measure_subgroups(
    statistics: HeldOutStatistics, proba: FloatArray, subgroups: RowSubgroups
) -> ColumnCalibration:
    """Measure the calibration of held-out probabilities by subgroup.

    Parameters
    ----------
    statistics : HeldOutStatistics
        The true classes. The first repeat is used, in which each row is predicted once.
    proba : ndarray of shape (n_predictions, n_classes)
        The probabilities.
    subgroups : RowSubgroups
        The subgroup of each row of the evaluation.

    Returns
    -------
    ColumnCalibration
        The numbers.
    """
    evaluation, first = statistics.evaluation, statistics.first_repeat
    rows = evaluation.row[first]
    found = subgroup_calibration(
        statistics.y_true[first],
        proba[first],
        subgroups.index[rows],
        groups=evaluation.group[rows] if evaluation.is_grouped else None,
        random_state=evaluation.random_state,
        labels=statistics.labels,
    )
    named = replace(
        found,
        events=(*evaluation.classes, TOP_LABEL),
        subgroups=tuple(replace(each, name=subgroups.names[each.name]) for each in found.subgroups),
    )
    n_classes = len(statistics.labels)
    classes = [1] if n_classes == 2 else evaluation.most_frequent_classes
    return ColumnCalibration(subgroups.column, named, (*classes, n_classes))
