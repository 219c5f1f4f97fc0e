"""Proper scores, calibration errors and calibration tests for class probabilities."""

from calibrant._core.records import Interval
from calibrant.metrics.calibration_errors import (
    expected_calibration_error,
    smooth_calibration_error,
    squared_calibration_error,
)
from calibrant.metrics.decomposition import Decomposition, decompose
from calibrant.metrics.intervals import bootstrap_difference, bootstrap_interval
from calibrant.metrics.kernel import (
    CalibrationTest,
    calibration_test,
    kernel_calibration_error,
)
from calibrant.metrics.performance import Mean, Performance, measure_performance
from calibrant.metrics.published import published_log_loss, published_mse
from calibrant.metrics.reliability import ReliabilityCurve, reliability_curve
from calibrant.metrics.scores import brier_score, log_loss

__all__ = [
    "CalibrationTest",
    "Decomposition",
    "Interval",
    "Mean",
    "Performance",
    "ReliabilityCurve",
    "bootstrap_difference",
    "bootstrap_interval",
    "brier_score",
    "calibration_test",
    "decompose",
    "expected_calibration_error",
    "kernel_calibration_error",
    "log_loss",
    "measure_performance",
    "published_log_loss",
    "published_mse",
    "reliability_curve",
    "smooth_calibration_error",
    "squared_calibration_error",
]
