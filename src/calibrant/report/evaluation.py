"""Records of held-out predictions of models, uncalibrated and calibrated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.records import Record
from calibrant._core.subgroups import RowSubgroups
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators import CalibrationReport

# The largest number of classes with figures. The page says if there are more.
MOST_CLASSES = 10


@dataclass(frozen=True)
class FitDescription(Record):
    """How a model was fitted, for a paper. Models with the same sentence share it.

    Attributes
    ----------
    subject : str
        The model.
    sentence : str
        What was done, with ``{subjects}`` and ``{were}`` where one or more models are named.
    """

    subject: str
    sentence: str


@dataclass(frozen=True, eq=False)
class ModelEvaluation(Record):
    """Held-out predictions of one model.

    Attributes
    ----------
    name : str
        Name of the model.
    uncalibrated, calibrated : ndarray of shape (n_predictions, n_classes)
        Class probabilities of held-out rows, before and after calibration.
    calibration_report : CalibrationReport or None
        Report on the calibration fitted to all rows. ``None`` means that there is none.
    warnings : tuple of str
        Warnings issued by the fit on all rows.
    has_proba : bool
        Whether the model predicts probabilities. If not, the uncalibrated ones are the
        softmax of its decision values.
    description : FitDescription or None
        How it was fitted. ``None`` means unknown.
    is_refitted : bool
        Whether the model or its calibration was fitted again in each split.
    relative_variance : float or None
        The typical variance of true probabilities, as a fraction of p (1 - p), according to the fit
        on all rows. ``None`` means unknown.
    """

    name: str
    uncalibrated: FloatArray
    calibrated: FloatArray
    calibration_report: CalibrationReport | None = None
    warnings: tuple[str, ...] = ()
    has_proba: bool = True
    description: FitDescription | None = None
    is_refitted: bool = True
    relative_variance: float | None = None


@dataclass(frozen=True, eq=False)
class Evaluation(Record):
    """Result of a repeated cross-validation of one or more models.

    There is one prediction for each split in which a row was held out.

    Attributes
    ----------
    classes : tuple
        Class labels, in the order of the probability columns.
    y : ndarray of shape (n_rows,)
        Class of each row, as a column index.
    group : ndarray of shape (n_rows,)
        Index of the group of each row. Without groups, each row is a group.
    row, split : ndarray of shape (n_predictions,)
        Row and split of each prediction. The splits of one repeat are consecutive.
    n_folds, n_repeats : int
        Number of folds per repeat and number of repeats.
    models : tuple of ModelEvaluation
        Predictions of each model.
    random_state : int
        Seed of the splits and the fits.
    is_given : bool
        Whether the uncalibrated probabilities are those of fitted models, rather than of models
        that cross-validation fitted.
    subgroups : tuple of RowSubgroups
        Subgroups of the rows by each of several columns, for a section of the report.
    """

    classes: tuple[Any, ...]
    y: IndexArray
    group: IndexArray
    row: IndexArray
    split: IndexArray
    n_folds: int
    n_repeats: int
    models: tuple[ModelEvaluation, ...]
    random_state: int
    is_given: bool = False
    subgroups: tuple[RowSubgroups, ...] = ()

    @property
    def is_grouped(self) -> bool:
        """Whether some rows belong to the same group."""
        return len(np.unique(self.group)) < len(self.y)

    @property
    def y_true(self) -> IndexArray:
        """True class of each prediction, as a column index."""
        return self.y[self.row]

    @property
    def sample_weight(self) -> FloatArray:
        """Weight of each prediction; the weights of one row sum to 1."""
        return 1.0 / np.bincount(self.row)[self.row]

    @property
    def held_out_rows(self) -> IndexArray:
        """Rows that were held out at least once, in increasing order."""
        return np.unique(self.row)

    @property
    def class_count(self) -> IndexArray:
        """Number of rows per class."""
        return np.bincount(self.y, minlength=len(self.classes))

    @property
    def most_frequent_classes(self) -> list[int]:
        """Column indices of the classes that get figures, in increasing order."""
        order = np.argsort(-self.class_count, kind="stable")
        return np.sort(order[:MOST_CLASSES]).tolist()

    def with_subgroups(self, column: str, values: ArrayLike) -> Evaluation:
        """Return the evaluation with subgroups of the rows, for a section of the report.

        Parameters
        ----------
        column : str
            Name of what divides the rows, such as "sex".
        values : array-like of shape (n_rows,)
            Its value in each row. Rows with the same value are a subgroup.

        Returns
        -------
        Evaluation
            A copy with the subgroups of one more column.
        """
        added = RowSubgroups.from_values(column, values, len(self.y))
        return replace(self, subgroups=(*self.subgroups, added))

    def average_by_row(self, values: FloatArray) -> FloatArray:
        """Average the values of all predictions of each row.

        Parameters
        ----------
        values : ndarray of shape (n_predictions, ...)
            One entry per prediction.

        Returns
        -------
        ndarray of shape (n_held_out_rows, ...)
            One entry per row of ``held_out_rows``.
        """
        total = np.zeros((len(self.y), *values.shape[1:]))
        np.add.at(total, self.row, (self.sample_weight * values.T).T)
        return total[self.held_out_rows]
