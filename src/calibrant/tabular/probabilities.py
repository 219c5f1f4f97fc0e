"""Tables of predicted probabilities from any model, and calibrators for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from calibrant._core.plain_values import read_text
from calibrant._core.typing import FloatArray
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators._fitting import fit_with_report
from calibrant.calibrators._resolution import name_calibrator, resolve_calibrator
from calibrant.metrics import Performance
from calibrant.persistence.model_file import fitted_labels
from calibrant.tabular.class_columns import find_probability_columns
from calibrant.tabular.columns import find_column
from calibrant.tabular.inspection import check_several_classes
from calibrant.tabular.probability_columns import GivenProbabilities, ProbabilityColumns
from calibrant.tabular.rows import select_labels
from calibrant.tabular.saved_model import SavedModel, UpdateEntry, base_estimator, read_history
from calibrant.updating import UpdatedClassifier


@dataclass(frozen=True)
class _ProbabilityReader:
    """Probabilities of a table, of which sentences say how they were read."""

    given: GivenProbabilities

    def read(self, table: pd.DataFrame) -> FloatArray:  # noqa: ARG002
        return self.given.values

    def describe(self) -> list[str]:
        return self.given.notices


@dataclass(frozen=True)
class ProbabilityCalibrator(SavedModel):
    """A fitted calibrator, and the names of the columns that it takes.

    Attributes
    ----------
    calibrator : MulticlassCalibrator or UpdatedClassifier
        The fitted calibrator, with any updates.
    given : ProbabilityColumns
        The columns that hold their probabilities, and in what form.
    settings : dict
        Parameters of `fit_probabilities`, and the number of rows.
    report : str or None
        Summary of the calibration and its expected gain. `None` means that the file has none.
    calibration_report : dict or None
        The numbers of the report. ``None`` means that the file has none.
    history : tuple of UpdateEntry
        The updates since the calibrator was fitted, first to last.
    """

    KIND = "calibrator of probabilities"

    calibrator: MulticlassCalibrator | UpdatedClassifier
    given: ProbabilityColumns
    settings: dict[str, Any]
    report: str | None = None
    calibration_report: dict[str, Any] | None = None
    history: tuple[UpdateEntry, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes."""
        return self.given.classes

    @property
    def logits(self) -> bool:
        """Whether the columns hold logits rather than probabilities."""
        return self.given.logits

    @property
    def input_columns(self) -> tuple[str, ...]:
        """Names of the columns that a table must have."""
        return self.given.names

    @property
    def output_columns(self) -> tuple[str, ...]:
        """Classes, in the order of the columns of `predict_proba`."""
        return self.classes

    @property
    def target(self) -> str:
        """Name of the column with the classes when the calibrator was fitted."""
        return read_text(self.settings["target"])

    def select_inputs(self, table: pd.DataFrame) -> FloatArray:
        """Select the probabilities from the columns of the calibrator."""
        return self.given.read(table).values

    def read_inputs(self, tables: Iterable[pd.DataFrame]) -> _ProbabilityReader:
        """Find out how the probabilities of a table are read, which is given as a whole."""
        [table] = tables
        return _ProbabilityReader(self.given.read(table))

    @property
    def _estimator(self) -> MulticlassCalibrator | UpdatedClassifier:
        return self.calibrator

    def _with_update(self, estimator: Any, entry: UpdateEntry) -> Self:
        return replace(
            self, calibrator=estimator, report=entry.reason, history=(*self.history, entry)
        )

    def _fit_performance(self) -> Performance | None:
        found = (self.calibration_report or {}).get("performance")
        return None if found is None else Performance.from_dict(found)

    def _fit_class_count(self) -> tuple[float, ...]:
        return tuple(self.calibrator.class_count_.tolist())

    def _description(self) -> dict[str, Any]:
        return {
            **self.given.to_dict(),
            "settings": self.settings,
            "report": self.report,
            "calibration_report": self.calibration_report,
            "history": [entry.to_dict() for entry in self.history],
        }

    @classmethod
    def _from_parts(cls, estimator: Any, description: Mapping[str, Any]) -> Self:
        report, numbers = description.get("report"), description.get("calibration_report")
        classes = tuple(map(str, description["classes"]))
        # In version 0.1.0, the columns were always named after the classes.
        columns = description.get("columns", classes)
        given = ProbabilityColumns(
            classes,
            tuple(None if name is None else str(name) for name in columns),
            bool(description["logits"]),
            bool(description.get("percentages", False)),
        )
        return cls(
            estimator,
            given,
            dict(description["settings"]),
            None if report is None else str(report),
            None if numbers is None else dict(numbers),
            read_history(description),
        )

    def _is_consistent(self) -> bool:
        # The calibrator knows its columns by position; their names are sorted when it is fitted.
        return (
            isinstance(base_estimator(self.calibrator, len(self.classes)), MulticlassCalibrator)
            and fitted_labels(self.calibrator, "classes_") == tuple(range(len(self.classes)))
            and isinstance(self.settings.get("target"), str)
            and self.classes == tuple(sorted(set(self.classes)))
            and len(self.given.columns) == len(self.classes)
            and len(set(self.given.names)) == len(self.classes) - self.given.is_single
            and (len(self.classes) == 2 or not self.given.is_single)
        )


def fit_probabilities(
    table: pd.DataFrame,
    target: str,
    *,
    columns: Mapping[str, str] | None = None,
    positive: str | None = None,
    logits: bool = False,
    method: str = "auto",
) -> ProbabilityCalibrator:
    """Fit a calibrator to probabilities that a model predicted for held-out rows.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned, with a column of true classes and columns of
        probabilities. Percentages are recognized, and rounded rows are normalized.
    target : str
        The column of true classes.
    columns : mapping of str to str, default=None
        Class by column, for columns that are not named after their class.
    positive : str, default=None
        With two classes, the class of a single column of probabilities.
    logits : bool, default=False
        Whether the columns hold logits rather than probabilities.
    method : str, default="auto"
        Calibration method, as in `CalibratedClassifier`.

    Returns
    -------
    ProbabilityCalibrator
        The fitted calibrator.
    """
    calibrator = resolve_calibrator(method, binary=False)
    target = find_column(table, target, "target")
    labels = select_labels(table, target)
    check_several_classes(labels, target)
    given = find_probability_columns(
        table, target, labels, columns=columns, positive=positive, logits=logits
    )
    scores = given.read(table).values
    index = np.array([given.classes.index(label) for label in labels.tolist()])
    settings = {"method": method, "target": target, "n_rows": len(labels)}
    name = name_calibrator(method, calibrator)
    fitted, report = fit_with_report(
        calibrator, name, scores, index, classes=np.array(given.classes)
    )
    return ProbabilityCalibrator(fitted, given, settings, str(report), report.to_dict())


def select_probabilities(
    table: pd.DataFrame, classes: Sequence[str], *, logits: bool = False
) -> FloatArray:
    """Select the probabilities of the classes from columns that are named after them.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned. Other columns are left out.
    classes : sequence of str
        Names of the columns.
    logits : bool, default=False
        Whether they hold logits, to which the softmax function is applied.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Probabilities; each row sums to 1.
    """
    return ProbabilityColumns(tuple(classes), tuple(classes), logits).read(table).values
