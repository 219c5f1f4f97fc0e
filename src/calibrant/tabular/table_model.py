"""A calibrated model of a table: fitted, saved and used by the names of columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from calibrant._core.typing import FloatArray
from calibrant.classifier import CalibratedClassifier
from calibrant.persistence import load, read_info, save
from calibrant.persistence.schema import fitted_labels
from calibrant.tabular.columns import Schema
from calibrant.tabular.models import make_model
from calibrant.tabular.rows import new_rows, training_rows

KIND = "model of a table"


@dataclass(frozen=True)
class TableModel:
    """A calibrated classifier, and what it knows of the table that it was fitted on.

    Attributes
    ----------
    classifier : CalibratedClassifier
        The fitted classifier.
    schema : Schema
        What the table holds.
    settings : dict
        What was asked for: the names of the model and of the method, and the seed.
    """

    classifier: CalibratedClassifier
    schema: Schema
    settings: dict[str, Any]

    def predict_proba(self, table: pd.DataFrame) -> FloatArray:
        """Probabilities of the classes for the rows of a table.

        Parameters
        ----------
        table : DataFrame
            A table of `read_table`, with the columns of the model in any order.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            One column for each of ``schema.classes``.
        """
        return self.classifier.predict_proba(new_rows(table, self.schema))

    def save(self, path: str | Path) -> None:
        """Save to a file that holds no code."""
        report = getattr(self.classifier, "calibration_report_", None)
        training = {
            "kind": KIND,
            "schema": self.schema.to_dict(),
            "settings": self.settings,
            "report": None if report is None else str(report),
        }
        save(self.classifier, path, training=training)


def fit_table(
    table: pd.DataFrame,
    schema: Schema,
    *,
    model: str = "random-forest",
    method: str | None = "auto",
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> TableModel:
    """Fit a calibrated classifier to a table.

    Parameters
    ----------
    table : DataFrame
        A table of `read_table`.
    schema : Schema
        What it holds, by `describe_table`.
    model : str, default="random-forest"
        A name of `MODELS`.
    method : str or None, default="auto"
        How to calibrate, as in `CalibratedClassifier`.
    random_state : int, default=0
        The seed of everything that is drawn.
    n_jobs, verbose : int
        As in `CalibratedClassifier`.

    Returns
    -------
    TableModel
        The fitted model.
    """
    rows = training_rows(table, schema)
    classifier = CalibratedClassifier(
        make_model(model, schema, random_state),
        method=method,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    ).fit(rows.X, rows.y, groups=rows.groups)
    settings = {"model": model, "method": method, "seed": random_state}
    # How it was fitted says nothing of how it is used.
    classifier.set_params(n_jobs=None, verbose=0)
    return TableModel(classifier, schema, settings)


def load_table_model(path: str | Path) -> TableModel:
    """Load what `TableModel.save` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    TableModel
        The model.
    """
    training = read_info(path).training
    if training.get("kind") != KIND:
        raise ValueError(
            f"{path} must hold a model that calibrant fit saved. It holds another. "
            "Calibrators are used with calibrant apply, others with calibrant.load in Python."
        )
    try:
        schema = Schema.from_dict(training["schema"])
        settings = dict(training["settings"])
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            f"{path} must say what columns its model takes. It was changed. Fit the model again."
        ) from None
    classifier = load(path)
    features = tuple(column.name for column in schema.features)
    if (
        not isinstance(classifier, CalibratedClassifier)
        or fitted_labels(classifier, "classes_") != schema.classes
        or fitted_labels(classifier, "feature_names_in_") != features
    ):
        raise ValueError(
            f"{path} must hold a model of the classes and columns that it names. It was changed. "
            "Fit the model again."
        )
    return TableModel(classifier, schema, settings)
