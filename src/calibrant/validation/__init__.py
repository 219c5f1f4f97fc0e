"""Validation of fitted models on new labeled rows.

Data flow: probabilities of new rows, and a record from training -> analysis (records of numbers)
-> text -> page.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from calibrant.validation.analysis import validate_probabilities
from calibrant.validation.records import (
    Cause,
    Difference,
    FrequencyTest,
    ScoreChange,
    Validation,
    ValidationResult,
)

if TYPE_CHECKING:
    from calibrant.validation.page import write_validation
else:
    # The page requires jinja2; the numbers do not.
    def __getattr__(name):
        if name == "write_validation":
            return getattr(import_module("calibrant.validation.page"), name)
        raise AttributeError(f"module 'calibrant.validation' has no attribute {name!r}")


__all__ = [
    "Cause",
    "Difference",
    "FrequencyTest",
    "ScoreChange",
    "Validation",
    "ValidationResult",
    "validate_probabilities",
    "write_validation",
]
