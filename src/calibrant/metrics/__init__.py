"""How good probabilities are: proper scores, and how far off they are on average."""

from calibrant.metrics.calibration_errors import expected_calibration_error
from calibrant.metrics.published import published_log_loss, published_mse
from calibrant.metrics.reliability import ReliabilityCurve, reliability_curve
from calibrant.metrics.scores import brier_score, log_loss

__all__ = [
    "ReliabilityCurve",
    "brier_score",
    "expected_calibration_error",
    "log_loss",
    "published_log_loss",
    "published_mse",
    "reliability_curve",
]
