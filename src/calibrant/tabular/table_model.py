"""Calibrated classifiers of tables, fitted and used by the names of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import pandas as pd

from calibrant.calibrators import CalibrationReport
from calibrant.classifier import MAX_ROWS, CalibratedClassifier
from calibrant.metrics import Performance
from calibrant.persistence.model_file import fitted_labels
from calibrant.tabular.feature_reader import FeatureReader
from calibrant.tabular.models import make_model
from calibrant.tabular.rows import select_features, select_training_rows
from calibrant.tabular.saved_model import SavedModel, UpdateEntry, base_estimator, read_history
from calibrant.tabular.schema import Schema
from calibrant.updating import UpdatedClassifier


@dataclass(frozen=True)
class TableModel(SavedModel):
    """A fitted classifier, and the description of the table that it was fitted to.

    Attributes
    ----------
    classifier : CalibratedClassifier or UpdatedClassifier
        The fitted classifier, with any updates.
    schema : Schema
        Description of the table.
    settings : dict
        Parameters of `fit_table`: the names of the model and of the method, and the seed.
    history : tuple of UpdateEntry
        The updates since the model was fitted, first to last.
    """

    KIND = "model of a table"
    ROWS_AT_ONCE = MAX_ROWS

    classifier: CalibratedClassifier | UpdatedClassifier
    schema: Schema
    settings: dict[str, Any]
    history: tuple[UpdateEntry, ...] = ()

    @property
    def input_columns(self) -> tuple[str, ...]:
        """Names of the columns that a table must have."""
        return tuple(column.name for column in self.schema.features)

    @property
    def output_columns(self) -> tuple[str, ...]:
        """Classes, in the order of the columns of `predict_proba`."""
        return self.schema.classes

    @property
    def target(self) -> str:
        """Name of the column with the classes when the model was fitted."""
        return self.schema.target

    @property
    def groups(self) -> str | None:
        """Name of the column of groups when the model was fitted; ``None`` means ungrouped."""
        return self.schema.groups

    @property
    def class_names(self) -> Mapping[str, str | None]:
        """What the classes of a table are called in the model, as in `Schema`."""
        return self.schema.class_names

    @property
    def report(self) -> str | None:
        """Summary of the last update or of the calibration, or None without calibration."""
        if isinstance(self.classifier, UpdatedClassifier):
            return str(self.classifier.update_report_)
        report = self._calibration_report
        return None if report is None else str(report)

    @property
    def _calibration_report(self) -> CalibrationReport | None:
        return getattr(self.classifier, "calibration_report_", None)

    def select_inputs(self, table: pd.DataFrame) -> pd.DataFrame:
        """Select the features by name."""
        return select_features(table, self.schema)

    def read_inputs(self, tables: Iterable[pd.DataFrame]) -> FeatureReader:
        """Find out how the features of a table are read that is given in several parts."""
        return FeatureReader(tables, self.schema)

    @property
    def _estimator(self) -> CalibratedClassifier | UpdatedClassifier:
        return self.classifier

    def _with_update(self, estimator: Any, entry: UpdateEntry) -> Self:
        return replace(self, classifier=estimator, history=(*self.history, entry))

    def _fit_performance(self) -> Performance | None:
        report = self._calibration_report
        return None if report is None else report.performance

    def _fit_class_count(self) -> tuple[float, ...]:
        return tuple(map(float, self.schema.class_count))

    def _description(self) -> dict[str, Any]:
        report = self._calibration_report
        return {
            "schema": self.schema.to_dict(),
            "settings": self.settings,
            "report": self.report,
            "calibration_report": None if report is None else report.to_dict(),
            "history": [entry.to_dict() for entry in self.history],
        }

    @classmethod
    def _from_parts(cls, estimator: Any, description: Mapping[str, Any]) -> Self:
        schema = Schema.from_dict(description["schema"])
        return cls(estimator, schema, dict(description["settings"]), read_history(description))

    def _is_consistent(self) -> bool:
        base = base_estimator(self.classifier, len(self.schema.classes))
        return (
            isinstance(base, CalibratedClassifier)
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
