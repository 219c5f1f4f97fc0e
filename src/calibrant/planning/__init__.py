"""How many rows it takes to fit, to calibrate, and to show calibration."""

from calibrant.planning.calibration import CalibrationPlan, plan_calibration
from calibrant.planning.development import DevelopmentPlan, plan_development
from calibrant.planning.learning import ExpectedLoss, LearningCurve, learning_curve
from calibrant.planning.plan import Plan, plan_from_pilot, plan_from_shares
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
    "DevelopmentPlan",
    "ExpectedLoss",
    "LearningCurve",
    "Plan",
    "Requirement",
    "ValidationPlan",
    "learning_curve",
    "plan_calibration",
    "plan_development",
    "plan_from_pilot",
    "plan_from_shares",
    "plan_validation",
    "simulate_probabilities",
]
