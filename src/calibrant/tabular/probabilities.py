"""Tables of probabilities from models that live elsewhere, and calibrators of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import softmax

from calibrant._core.typing import FloatArray
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators._validation import SUM_TOLERANCE
from calibrant.calibrators.auto import AutoCalibrator
from calibrant.calibrators.registry import resolve_calibrator
from calibrant.persistence import load, read_info, save
from calibrant.persistence.schema import fitted_labels
from calibrant.tabular.columns import find_column, to_numbers
from calibrant.tabular.rows import labels_of

KIND = "calibrator of probabilities"


@dataclass(frozen=True)
class ProbabilityCalibrator:
    """A calibrator, and the names of the columns that it takes.

    Attributes
    ----------
    calibrator : MulticlassCalibrator
        The fitted calibrator.
    classes : tuple of str
        The classes, which are the names of the columns.
    logits : bool
        Whether it takes logits rather than probabilities.
    settings : dict
        What was asked for.
    """

    calibrator: MulticlassCalibrator
    classes: tuple[str, ...]
    logits: bool
    settings: dict[str, Any]

    def predict_proba(self, table: pd.DataFrame) -> FloatArray:
        """Calibrated probabilities for the rows of a table.

        Parameters
        ----------
        table : DataFrame
            A table of `read_table`, with a column for each of ``classes``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            One column for each of ``classes``.
        """
        return self.calibrator.predict_proba(class_scores(table, self.classes, logits=self.logits))

    @property
    def report(self) -> str | None:
        """What automatic calibration says of itself."""
        if not isinstance(self.calibrator, AutoCalibrator):
            return None
        return str(self.calibrator.report_.with_labels(self.classes))

    def save(self, path: str | Path) -> None:
        """Save to a file that holds no code."""
        training = {
            "kind": KIND,
            "classes": list(self.classes),
            "logits": self.logits,
            "settings": self.settings,
            "report": self.report,
        }
        save(self.calibrator, path, training=training)


def fit_probabilities(
    table: pd.DataFrame, target: str, *, logits: bool = False, method: str = "auto"
) -> ProbabilityCalibrator:
    """Fit a calibrator to probabilities of rows that the model has not seen.

    Parameters
    ----------
    table : DataFrame
        A table of `read_table`: a column of classes, and for each class a column of its name
        with its probability.
    target : str
        The column of the true classes.
    logits : bool, default=False
        Whether the columns hold logits rather than probabilities.
    method : str, default="auto"
        How to calibrate, as in `CalibratedClassifier`.

    Returns
    -------
    ProbabilityCalibrator
        The fitted calibrator.
    """
    calibrator = resolve_calibrator(method, binary=False)
    target = find_column(table, target, "The target")
    labels = labels_of(table, target)
    classes = _classes(table, target, labels, logits=logits)
    scores = class_scores(table, classes, logits=logits)
    index = np.array([classes.index(label) for label in labels.tolist()])
    settings = {"method": method, "target": target, "n_rows": len(labels)}
    return ProbabilityCalibrator(calibrator.fit(scores, index), classes, logits, settings)


def load_calibrator(path: str | Path) -> ProbabilityCalibrator:
    """Load what `ProbabilityCalibrator.save` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    ProbabilityCalibrator
        The calibrator.
    """
    training = read_info(path).training
    if training.get("kind") != KIND:
        raise ValueError(
            f"{path} must hold a calibrator that calibrant calibrate saved. It holds another "
            "model. Models of calibrant fit are used with calibrant predict."
        )
    try:
        classes = tuple(map(str, training["classes"]))
        logits, settings = bool(training["logits"]), dict(training["settings"])
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            f"{path} must say what columns it takes. It was changed. Calibrate again."
        ) from None
    calibrator = load(path)
    # It numbers its columns; their names are those of `_classes`, sorted.
    if (
        not isinstance(calibrator, MulticlassCalibrator)
        or fitted_labels(calibrator, "classes_") != tuple(range(len(classes)))
        or classes != tuple(sorted(set(classes)))
    ):
        raise ValueError(
            f"{path} must hold a calibrator of the classes that it names. It was changed. "
            "Calibrate again."
        )
    return ProbabilityCalibrator(calibrator, classes, logits, settings)


def class_scores(table: pd.DataFrame, classes: Sequence[str], *, logits: bool) -> FloatArray:
    """Take the columns of the classes, by name, as rows of probabilities.

    Parameters
    ----------
    table : DataFrame
        A table of `read_table`. Other columns are left out.
    classes : sequence of str
        The names of the columns.
    logits : bool
        Whether they hold logits, of which the softmax is taken.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Rows that sum to 1, as far as they were written to do so.
    """
    names = {str(name) for name in table.columns}
    missing = [name for name in classes if name not in names]
    if missing:
        raise ValueError(
            "The table must have a column of that name for each class. It lacks "
            f"{', '.join(repr(name) for name in missing[:5])}. Add it; of two classes, one has "
            "1 minus the probability of the other."
        )
    values = np.column_stack([to_numbers(table[name]) for name in classes])
    what = "logits" if logits else "probabilities"
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        cell = table[classes[column]].iloc[row]
        raise ValueError(
            f"The columns of the classes must hold {what}. {_place(table, row)} has "
            f"{cell if isinstance(cell, str) else 'no value'!r} for {classes[column]!r}. "
            "Correct or drop the row."
        )
    if logits:
        return np.asarray(softmax(values, axis=1))
    total = values.sum(axis=1)
    wrong = (values < 0).any(axis=1) | (np.abs(total - 1.0) > SUM_TOLERANCE)
    if wrong.any():
        row = int(np.argmax(wrong))
        found = (
            f"{values[row].min():g} for {classes[int(values[row].argmin())]!r}"
            if values[row].min() < 0
            else f"a sum of {total[row]:.6g}"
        )
        raise ValueError(
            "Probabilities must not be negative, and the classes of a row must sum to 1. "
            f"{_place(table, row)} has {found}. For logits, say --logits to calibrate; divide "
            "percentages by 100."
        )
    return values


def _classes(
    table: pd.DataFrame, target: str, labels: NDArray[np.str_], *, logits: bool
) -> tuple[str, ...]:
    """Find the columns of the classes: those named by labels, or all numbers if these sum to 1.

    A class that no row belongs to has a column all the same.
    """
    seen = sorted(set(labels.tolist()))
    if len(seen) < 2:
        raise ValueError(
            f"The target must have two classes at least. {target!r} is {seen[0]!r} in all "
            f"{len(labels)} rows. Add rows of another class."
        )
    numbers = [
        str(name)
        for name in table.columns
        if name != target and np.isfinite(to_numbers(table[name])).all()
    ]
    if not logits and set(seen) < set(numbers):
        total = np.sum([to_numbers(table[name]) for name in numbers], axis=0)
        if np.all(np.abs(total - 1.0) <= SUM_TOLERANCE):
            return tuple(sorted(numbers))
    return tuple(seen)


def _place(table: pd.DataFrame, row: int) -> str:
    return f"{str(table.index.name).capitalize()} {table.index[row]}"
