"""How many rows it takes to fit, to calibrate, and to show calibration."""

from calibrant.planning.calibration import CalibrationPlan, plan_calibration
from calibrant.planning.plan import Plan, plan_from_shares
from calibrant.planning.populations import simulate_probabilities
from calibrant.planning.validation import (
    DEFAULT_MARGINS,
    Requirement,
    ValidationPlan,
    plan_validation,
)

__all__ = [
    "DEFAULT_MARGINS",
    "CalibrationPlan",
    "Plan",
    "Requirement",
    "ValidationPlan",
    "plan_calibration",
    "plan_from_shares",
    "plan_validation",
    "simulate_probabilities",
]
