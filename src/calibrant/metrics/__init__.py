"""Proper scores, calibration, discrimination and calibration tests of class probabilities."""

from calibrant._core.records import Interval
from calibrant.metrics.calibration_errors import (
    expected_calibration_error,
    smooth_calibration_error,
    squared_calibration_error,
)
from calibrant.metrics.calibration_slopes import (
    MultinomialCalibration,
    WeakCalibration,
    multinomial_calibration,
    weak_calibration,
)
from calibrant.metrics.decomposition import Decomposition, decompose
from calibrant.metrics.discrimination import (
    Discrimination,
    PairDiscrimination,
    auc,
    m_index,
    measure_discrimination,
    polytomous_discrimination_index,
)
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
from calibrant.metrics.smooth_curves import (
    SmoothCalibrationCurve,
    estimated_calibration_index,
    integrated_calibration_index,
    smooth_calibration_curve,
)
from calibrant.metrics.subgroups import Subgroup, SubgroupCalibration, subgroup_calibration

__all__ = [
    "CalibrationTest",
    "Decomposition",
    "Discrimination",
    "Interval",
    "Mean",
    "MultinomialCalibration",
    "PairDiscrimination",
    "Performance",
    "ReliabilityCurve",
    "SmoothCalibrationCurve",
    "Subgroup",
    "SubgroupCalibration",
    "WeakCalibration",
    "auc",
    "bootstrap_difference",
    "bootstrap_interval",
    "brier_score",
    "calibration_test",
    "decompose",
    "estimated_calibration_index",
    "expected_calibration_error",
    "integrated_calibration_index",
    "kernel_calibration_error",
    "log_loss",
    "m_index",
    "measure_discrimination",
    "measure_performance",
    "multinomial_calibration",
    "polytomous_discrimination_index",
    "published_log_loss",
    "published_mse",
    "reliability_curve",
    "smooth_calibration_curve",
    "smooth_calibration_error",
    "squared_calibration_error",
    "subgroup_calibration",
    "weak_calibration",
]
