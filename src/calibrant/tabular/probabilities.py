"""Tables of predicted probabilities from any model, and calibrators for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import softmax

from calibrant._core.typing import FloatArray
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators._fitting import fit_with_report
from calibrant.calibrators._resolution import name_calibrator, resolve_calibrator
from calibrant.calibrators._validation import SUM_TOLERANCE
from calibrant.persistence.model_file import fitted_labels
from calibrant.tabular.columns import find_column, to_numbers
from calibrant.tabular.inspection import check_several_classes
from calibrant.tabular.phrases import list_names, locate
from calibrant.tabular.rows import select_labels
from calibrant.tabular.saved_model import SavedModel


@dataclass(frozen=True)
class ProbabilityCalibrator(SavedModel):
    """A fitted calibrator, and the names of the columns that it takes.

    Attributes
    ----------
    calibrator : MulticlassCalibrator
        The fitted calibrator.
    classes : tuple of str
        The classes, which are also the names of the columns.
    logits : bool
        Whether the columns hold logits rather than probabilities.
    settings : dict
        Parameters of `fit_probabilities`, and the number of rows.
    report : str or None
        Summary of the calibration and its expected gain. `None` means that the file has none.
    """

    KIND = "calibrator of probabilities"

    calibrator: MulticlassCalibrator
    classes: tuple[str, ...]
    logits: bool
    settings: dict[str, Any]
    report: str | None = None

    @property
    def input_columns(self) -> tuple[str, ...]:
        """Names of the columns that a table must have."""
        return self.classes

    @property
    def output_columns(self) -> tuple[str, ...]:
        """Classes, in the order of the columns of `predict_proba`."""
        return self.classes

    def predict_proba(self, table: pd.DataFrame) -> FloatArray:
        """Return calibrated probabilities for the rows of a table.

        Parameters
        ----------
        table : DataFrame
            A table that `read_table` returned, with one column per class.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, with one column per class in ``classes``.
        """
        scores = select_probabilities(table, self.classes, logits=self.logits)
        return self.calibrator.predict_proba(scores)

    @property
    def _estimator(self) -> MulticlassCalibrator:
        return self.calibrator

    def _description(self) -> dict[str, Any]:
        return {
            "classes": list(self.classes),
            "logits": self.logits,
            "settings": self.settings,
            "report": self.report,
        }

    @classmethod
    def _from_parts(cls, estimator: Any, description: Mapping[str, Any]) -> Self:
        report = description.get("report")
        return cls(
            estimator,
            tuple(map(str, description["classes"])),
            bool(description["logits"]),
            dict(description["settings"]),
            None if report is None else str(report),
        )

    def _is_consistent(self) -> bool:
        # The calibrator knows its columns by position; their names are sorted when it is fitted.
        return (
            isinstance(self.calibrator, MulticlassCalibrator)
            and fitted_labels(self.calibrator, "classes_") == tuple(range(len(self.classes)))
            and self.classes == tuple(sorted(set(self.classes)))
        )


def fit_probabilities(
    table: pd.DataFrame, target: str, *, logits: bool = False, method: str = "auto"
) -> ProbabilityCalibrator:
    """Fit a calibrator to probabilities that a model predicted for held-out rows.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned, with a column of true classes and, for each class, a
        column of its name with its probability.
    target : str
        The column of true classes.
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
    classes = _find_classes(table, target, labels, logits=logits)
    scores = select_probabilities(table, classes, logits=logits)
    index = np.array([classes.index(label) for label in labels.tolist()])
    settings = {"method": method, "target": target, "n_rows": len(labels)}
    name = name_calibrator(method, calibrator)
    fitted, report = fit_with_report(calibrator, name, scores, index, classes=np.array(classes))
    return ProbabilityCalibrator(fitted, classes, logits, settings, str(report))


def select_probabilities(
    table: pd.DataFrame, classes: Sequence[str], *, logits: bool = False
) -> FloatArray:
    """Select the probabilities of the classes, by the names of columns.

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
        Probabilities; each row sums to 1 up to the rounding in the table.
    """
    names = {str(name) for name in table.columns}
    missing = [name for name in classes if name not in names]
    if missing:
        raise ValueError(
            "The table must have one column per class, named after the class. It lacks "
            f"{list_names(missing)}. Add {'it' if len(missing) == 1 else 'them'}; with two "
            "classes, the probability of one is 1 minus that of the other."
        )
    values = np.column_stack([to_numbers(table[name]) for name in classes])
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        cell = table[classes[column]].iloc[row]
        raise ValueError(
            f"The columns of the classes must hold {'logits' if logits else 'probabilities'}, but "
            f"{locate(table.index, row)} has {repr(cell) if isinstance(cell, str) else 'no value'} "
            f"for {classes[column]!r}. Correct or remove the row."
        )
    if logits:
        return np.asarray(softmax(values, axis=1))
    total = values.sum(axis=1)
    wrong = (values < 0).any(axis=1) | (np.abs(total - 1.0) > SUM_TOLERANCE)
    if wrong.any():
        row = int(np.argmax(wrong))
        lowest = int(values[row].argmin())
        fault = (
            f"has {values[row, lowest]:g} for {classes[lowest]!r}"
            if values[row, lowest] < 0
            else f"sums to {total[row]:.6g}"
        )
        raise ValueError(
            "Probabilities must not be negative, and those of a row must sum to 1, but "
            f"{locate(table.index, row)} {fault}. If they are logits, use the option logits; if "
            "they are percentages, divide them by 100."
        )
    return values


def _find_classes(
    table: pd.DataFrame, target: str, labels: NDArray[np.str_], *, logits: bool
) -> tuple[str, ...]:
    """Return the classes: all numeric columns if their rows sum to 1, otherwise the labels.

    The former include classes without any row.
    """
    seen = sorted(set(labels.tolist()))
    numeric = [
        str(name)
        for name in table.columns
        if name != target and np.isfinite(to_numbers(table[name])).all()
    ]
    if not logits and set(seen) < set(numeric):
        total = np.sum([to_numbers(table[name]) for name in numeric], axis=0)
        if np.all(np.abs(total - 1.0) <= SUM_TOLERANCE):
            return tuple(sorted(numeric))
    return tuple(seen)
