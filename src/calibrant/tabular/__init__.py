"""Data files -> columns, features and models, for the command line and the report."""

try:
    import pandas  # noqa: F401  (checked here, for all modules)
except ImportError:
    raise ImportError(
        "Reading data files requires pandas, which is not installed. "
        "Install it with: pip install 'calibrant[cli]'"
    ) from None

from calibrant._core.registries import MODELS
from calibrant.tabular.inspection import describe_table
from calibrant.tabular.models import make_model
from calibrant.tabular.preprocessing import make_preprocessor
from calibrant.tabular.probabilities import ProbabilityCalibrator, fit_probabilities
from calibrant.tabular.readers import read_table
from calibrant.tabular.rows import (
    TrainingRows,
    find_unseen_categories,
    select_features,
    select_labels,
    select_training_rows,
)
from calibrant.tabular.schema import Column, Kind, Notice, Schema
from calibrant.tabular.table_model import TableModel, fit_table

__all__ = [
    "MODELS",
    "Column",
    "Kind",
    "Notice",
    "ProbabilityCalibrator",
    "Schema",
    "TableModel",
    "TrainingRows",
    "describe_table",
    "find_unseen_categories",
    "fit_probabilities",
    "fit_table",
    "make_model",
    "make_preprocessor",
    "read_table",
    "select_features",
    "select_labels",
    "select_training_rows",
]
