"""A data file -> rows, classes and models, for the command line and the report."""

from calibrant._core.registries import MODELS
from calibrant.tabular.columns import Column, Kind, Schema, describe_table
from calibrant.tabular.models import make_model
from calibrant.tabular.notices import Notice
from calibrant.tabular.preprocessing import make_preprocessor
from calibrant.tabular.reading import read_table
from calibrant.tabular.rows import (
    TrainingRows,
    labels_of,
    new_rows,
    training_rows,
    unseen_categories,
)

__all__ = [
    "MODELS",
    "Column",
    "Kind",
    "Notice",
    "Schema",
    "TrainingRows",
    "describe_table",
    "labels_of",
    "make_model",
    "make_preprocessor",
    "new_rows",
    "read_table",
    "training_rows",
    "unseen_categories",
]
