"""Models saved together with the columns that they take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.phrases import count
from calibrant._core.plain_values import read_class_count, read_count, read_text
from calibrant._core.records import Record
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.calibrators import UpdateCalibrator, UpdateChoice, UpdateReport
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators.updating import VALIDATION_ALPHA
from calibrant.classifier import CalibratedClassifier
from calibrant.metrics import Performance
from calibrant.persistence import load, read_info, save
from calibrant.updating import UpdatedClassifier


class WrongKindError(ValueError):
    """A file holds another kind of model than expected.

    Parameters
    ----------
    path : str or Path
        The file.
    expected, found : str
        The kinds; ``found`` is empty for a model that was saved without its columns.
    """

    def __init__(self, path: str | Path, expected: str, found: str) -> None:
        other = found or "model of another kind"
        super().__init__(f"{path} must hold a {expected}, but it holds a {other}.")
        self.found = found


@dataclass(frozen=True)
class UpdateEntry(Record):
    """An entry of the history of a saved model: one update.

    Attributes
    ----------
    n_rows : int
        Number of new rows.
    choice : str
        How far the probabilities were updated, a value of `UpdateChoice`.
    reason : str
        What was chosen, and why.
    """

    n_rows: int
    choice: str
    reason: str


class InputReader(Protocol):
    """Reads what an estimator takes from the rows of a table, and says what is new."""

    def read(self, table: pd.DataFrame) -> Any:
        """Return what the estimator takes for some of the rows."""

    def describe(self) -> list[str]:
        """Return sentences on the rows that were read."""


class SavedModel(ABC):
    """An estimator that takes tables, and its description.

    Attributes
    ----------
    KIND : str
        Name of the kind, which is part of the file format.
    ROWS_AT_ONCE : int or None
        Number of rows of a large table for which to predict at once. ``None`` means all rows.
    history : tuple of UpdateEntry
        The updates since the model was fitted, first to last.
    """

    KIND: ClassVar[str]
    ROWS_AT_ONCE: ClassVar[int | None] = None
    history: tuple[UpdateEntry, ...]

    @property
    @abstractmethod
    def input_columns(self) -> tuple[str, ...]:
        """Names of the columns that a table must have."""

    @property
    @abstractmethod
    def output_columns(self) -> tuple[str, ...]:
        """Classes, in the order of the columns of `predict_proba`."""

    @property
    @abstractmethod
    def target(self) -> str:
        """Name of the column with the classes when the model was fitted."""

    @property
    def groups(self) -> str | None:
        """Name of the column of groups when the model was fitted; ``None`` means ungrouped."""
        return None

    @property
    def class_names(self) -> Mapping[str, str | None]:
        """What the classes of a table are called in the model, as in `Schema`."""
        return {}

    @abstractmethod
    def select_inputs(self, table: pd.DataFrame) -> Any:
        """Select from a table what the estimator takes."""

    def predict_proba(self, table: pd.DataFrame) -> FloatArray:
        """Return class probabilities for the rows of a table.

        Parameters
        ----------
        table : DataFrame
            A table that `read_table` returned, with the columns of the model in any order.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, with one column per class in ``output_columns``.
        """
        return self.predict_inputs(self.select_inputs(table))

    @abstractmethod
    def read_inputs(self, tables: Iterable[pd.DataFrame]) -> InputReader:
        """Find out how the inputs of a table are read.

        Parameters
        ----------
        tables : iterable of DataFrame
            All rows of a table that `read_table` returned, at most ``ROWS_AT_ONCE`` at a time.

        Returns
        -------
        InputReader
            Reads the inputs of some of the rows.
        """

    def predict_inputs(self, inputs: Any) -> FloatArray:
        """Return class probabilities for what `select_inputs` or an `InputReader` returned."""
        proba = self._estimator.predict_proba(inputs)
        if not np.isfinite(proba).all():
            raise ValueError(
                "A model must predict a probability of every class for every row, but this one "
                "predicts values that are no numbers: its file is damaged. Fit and save it again."
            )
        return proba

    def predict_interval(self, inputs: Any) -> FloatArray:
        """Return the 95% intervals of the probabilities of `predict_inputs`.

        Parameters
        ----------
        inputs : object
            What `select_inputs` or an `InputReader` returned.

        Returns
        -------
        ndarray of shape (n_rows, n_classes, 2)
            The lower and upper ends, as in `CalibratedClassifier.predict_interval`.
        """
        return self._calibrated_classifier("Intervals").predict_interval(inputs)

    def predict_set(self, inputs: Any) -> BoolArray:
        """Return the classes that cannot be excluded, with a coverage of 90%.

        Parameters
        ----------
        inputs : object
            What `select_inputs` or an `InputReader` returned.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Whether each class is in the set, as in `CalibratedClassifier.predict_set`.
        """
        return self._calibrated_classifier("Prediction sets").predict_set(inputs)

    def _calibrated_classifier(self, what: str) -> CalibratedClassifier:
        """Return the classifier that was fitted, unless it was updated."""
        if not isinstance(self._estimator, CalibratedClassifier):
            raise ValueError(
                f"{what} require a classifier that has not been updated, got one with "
                f"{count(len(self.history), 'update')}. Use the file before the update, or fit "
                "a model to the new rows."
            )
        return self._estimator

    @property
    def performance(self) -> Performance | None:
        """Performance on held-out rows when the model was fitted or last updated, if recorded."""
        if isinstance(self._estimator, UpdatedClassifier):
            return self._estimator.update_report_.performance
        return self._fit_performance()

    @property
    def class_count(self) -> tuple[float, ...]:
        """Number of rows of each class when the model was fitted or last updated."""
        if isinstance(self._estimator, UpdatedClassifier):
            return self._estimator.update_report_.before.class_count
        return self._fit_class_count()

    def update(
        self, table: pd.DataFrame, y: IndexArray, groups: NDArray[np.str_] | None = None
    ) -> tuple[Self, UpdateReport]:
        """Update the probabilities on new rows, as far as these require it.

        Parameters
        ----------
        table : DataFrame
            New rows, with the columns of the model.
        y : ndarray of shape (n_rows,)
            The class of each row, as an index into ``output_columns``.
        groups : ndarray of shape (n_rows,), default=None
            The group of each row. ``None`` means ungrouped.

        Returns
        -------
        SavedModel
            The updated model, with one more entry in its history.
        UpdateReport
            What was chosen, and why.
        """
        labels = np.asarray(self._estimator.classes_)[y]
        calibrator = UpdateCalibrator(alpha=VALIDATION_ALPHA)
        updated = UpdatedClassifier(self._estimator, calibrator=calibrator)
        updated.fit(self.select_inputs(table), labels, groups=groups)
        report = updated.calibrator_.report_.with_labels(self.output_columns)
        entry = UpdateEntry(report.n_rows, report.choice.value, report.reason)
        is_changed = report.choice != UpdateChoice.NONE
        return self._with_update(updated if is_changed else self._estimator, entry), report

    def find_notices(self, table: pd.DataFrame) -> list[str]:
        """Return sentences on how a table is read, and on what the model was not trained on.

        Parameters
        ----------
        table : DataFrame
            A table that `read_table` returned, with the columns of the model.

        Returns
        -------
        list of str
            The sentences.
        """
        reader = self.read_inputs([table])
        reader.read(table)
        return reader.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the estimator as plain values: settings, columns, the report."""
        return {"kind": self.KIND, **self._description()}

    def save(self, path: str | Path) -> None:
        """Save to a file that contains no code.

        Parameters
        ----------
        path : str or Path
            The file to write.
        """
        save(self._estimator, path, training=self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load what `save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        SavedModel
            The model, an instance of this class.

        Raises
        ------
        WrongKindError
            If the file holds another kind of model.
        ValueError
            If the estimator and its description do not match.
        """
        description = read_info(path).training
        kind = description.get("kind")
        if kind != cls.KIND:
            raise WrongKindError(path, cls.KIND, kind if isinstance(kind, str) else "")
        mismatch = ValueError(
            f"{path} must hold a {cls.KIND} that matches its description. One of them was changed. "
            "Fit and save it again."
        )
        estimator = load(path)
        try:
            model = cls._from_parts(estimator, description)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise mismatch from None
        if not (model._is_consistent() and model._has_consistent_record()):
            raise mismatch
        return model

    def _has_consistent_record(self) -> bool:
        """Whether the performance, if there is one, has numbers for each class."""
        try:
            found = self.performance
            n_classes = len(self.output_columns)
            if found is not None:
                copy = Performance.from_dict(found.to_dict())
                if not len(copy.class_count) == len(copy.by_class) == n_classes:
                    return False
            return len(read_class_count(self.class_count)) == n_classes
        except (AttributeError, KeyError, TypeError, ValueError):
            return False

    @property
    @abstractmethod
    def _estimator(self) -> Any:
        """The fitted estimator."""

    @abstractmethod
    def _with_update(self, estimator: Any, entry: UpdateEntry) -> Self:
        """Return a copy of the model with another estimator and one more entry."""

    @abstractmethod
    def _fit_performance(self) -> Performance | None:
        """Return the performance on held-out rows when the model was fitted, if recorded."""

    @abstractmethod
    def _fit_class_count(self) -> tuple[float, ...]:
        """Return the number of rows of each class when the model was fitted."""

    @abstractmethod
    def _description(self) -> dict[str, Any]:
        """Return everything but the estimator as values that JSON can hold."""

    @classmethod
    @abstractmethod
    def _from_parts(cls, estimator: Any, description: Mapping[str, Any]) -> Self:
        """Return the model with an estimator and a description."""

    @abstractmethod
    def _is_consistent(self) -> bool:
        """Whether the estimator is of the right type and has the described classes and columns."""


def base_estimator(estimator: Any, n_classes: int) -> Any:
    """Return the estimator below all updates, or None if an update is not one of calibrant's.

    Parameters
    ----------
    estimator : estimator
        The estimator of a saved model.
    n_classes : int
        The number of classes that each update must have.

    Returns
    -------
    estimator or None
        The estimator as it was fitted.
    """
    while isinstance(estimator, UpdatedClassifier):
        update = getattr(estimator, "calibrator_", None)
        report = getattr(estimator, "update_report_", None)
        if not isinstance(update, UpdateCalibrator) or not isinstance(report, UpdateReport):
            return None
        if not _is_usable(update, n_classes):
            return None
        estimator = estimator.estimator
    return estimator


def _is_usable(update: UpdateCalibrator, n_classes: int) -> bool:
    """Whether an update has the parameters that it was fitted with."""
    intercept, slope = (getattr(update, name, None) for name in ("intercept_", "slope_"))
    full = getattr(update, "calibrator_", None)
    return (
        getattr(update, "n_features_in_", None) == n_classes
        and isinstance(intercept, np.ndarray)
        and np.issubdtype(intercept.dtype, np.floating)
        and intercept.shape == (n_classes,)
        and bool(np.isfinite(intercept).all())
        and isinstance(slope, float)
        and isfinite(slope)
        and (full is None or isinstance(full, MulticlassCalibrator))
    )


def read_history(description: Mapping[str, Any]) -> tuple[UpdateEntry, ...]:
    """Return the history in the description of a file; files of version 0.1.0 have none."""
    return tuple(
        UpdateEntry(
            read_count(entry["n_rows"]), read_text(entry["choice"]), read_text(entry["reason"])
        )
        for entry in description.get("history", ())
    )
