"""Calibrated classifiers of tables, fitted and used by the names of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from calibrant._core.typing import FloatArray
from calibrant.classifier import CalibratedClassifier
from calibrant.persistence.model_file import fitted_labels
from calibrant.tabular.models import make_model
from calibrant.tabular.phrases import list_names
from calibrant.tabular.rows import find_unseen_categories, select_features, select_training_rows
from calibrant.tabular.saved_model import SavedModel
from calibrant.tabular.schema import Schema


@dataclass(frozen=True)
class TableModel(SavedModel):
    """A fitted classifier, and the description of the table that it was fitted to.

    Attributes
    ----------
    classifier : CalibratedClassifier
        The fitted classifier.
    schema : Schema
        Description of the table.
    settings : dict
        Parameters of `fit_table`: the names of the model and of the method, and the seed.
    """

    KIND = "model of a table"

    classifier: CalibratedClassifier
    schema: Schema
    settings: dict[str, Any]

    @property
    def input_columns(self) -> tuple[str, ...]:
        """Names of the columns that a table must have."""
        return tuple(column.name for column in self.schema.features)

    @property
    def output_columns(self) -> tuple[str, ...]:
        """Classes, in the order of the columns of `predict_proba`."""
        return self.schema.classes

    @property
    def report(self) -> str | None:
        """Summary of the calibration, or None without calibration."""
        report = getattr(self.classifier, "calibration_report_", None)
        return None if report is None else str(report)

    def predict_proba(self, table: pd.DataFrame) -> FloatArray:
        """Return class probabilities for the rows of a table.

        Parameters
        ----------
        table : DataFrame
            A table that `read_table` returned, with the columns of the model in any order.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, with one column per class in ``schema.classes``.
        """
        return self.classifier.predict_proba(select_features(table, self.schema))

    def find_notices(self, table: pd.DataFrame) -> list[str]:
        """Return a sentence for each column with categories that the model was not trained on.

        Parameters
        ----------
        table : DataFrame
            A table that `read_table` returned, with the columns of the model.

        Returns
        -------
        list of str
            The sentences.
        """
        unseen = find_unseen_categories(select_features(table, self.schema), self.schema)
        return [
            f"{name!r} has categories that the model was not trained on, which are treated as "
            f"rare categories: {list_names(categories)}."
            for name, categories in unseen.items()
        ]

    @property
    def _estimator(self) -> CalibratedClassifier:
        return self.classifier

    def _description(self) -> dict[str, Any]:
        return {
            "schema": self.schema.to_dict(),
            "settings": self.settings,
            "report": self.report,
        }

    @classmethod
    def _from_parts(cls, estimator: Any, description: Mapping[str, Any]) -> Self:
        schema = Schema.from_dict(description["schema"])
        return cls(estimator, schema, dict(description["settings"]))

    def _is_consistent(self) -> bool:
        return (
            isinstance(self.classifier, CalibratedClassifier)
            and fitted_labels(self.classifier, "classes_") == self.schema.classes
            and fitted_labels(self.classifier, "feature_names_in_") == self.input_columns
        )


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
        A table that `read_table` returned.
    schema : Schema
        Its description, from `describe_table`.
    model : str, default="random-forest"
        Name of the classifier, from `MODELS`.
    method : str or None, default="auto"
        Calibration method, as in `CalibratedClassifier`. ``None`` means no calibration.
    random_state : int, default=0
        Seed of all random numbers.
    n_jobs : int, default=None
        Number of parallel jobs, as in `CalibratedClassifier`.
    verbose : int, default=0
        Whether to show progress, as in `CalibratedClassifier`.

    Returns
    -------
    TableModel
        The fitted model.
    """
    rows = select_training_rows(table, schema)
    classifier = CalibratedClassifier(
        make_model(model, schema, random_state),
        method=method,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    ).fit(rows.X, rows.y, groups=rows.groups)
    # These concern the machine that fitted it, not the one that will use it.
    classifier.set_params(n_jobs=None, verbose=0)
    settings = {"model": model, "method": method, "seed": random_state}
    return TableModel(classifier, schema, settings)
