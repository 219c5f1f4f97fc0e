"""Plots of probabilities and comparisons, in the style of scikit-learn's displays.

Displays draw records of `calibrant.metrics`, `calibrant.decisions` and `calibrant.comparison`, so
every number is available without a plot. matplotlib is imported when the first figure is created.
"""

from calibrant.plots.calibration_curve import CalibrationCurveDisplay
from calibrant.plots.calibration_map import CalibrationMapDisplay
from calibrant.plots.comparison import ComparisonDisplay
from calibrant.plots.decision_curve import DecisionCurveDisplay
from calibrant.plots.instability import InstabilityDisplay
from calibrant.plots.reliability import ReliabilityDisplay
from calibrant.plots.subgroups import SubgroupCalibrationDisplay

__all__ = [
    "CalibrationCurveDisplay",
    "CalibrationMapDisplay",
    "ComparisonDisplay",
    "DecisionCurveDisplay",
    "InstabilityDisplay",
    "ReliabilityDisplay",
    "SubgroupCalibrationDisplay",
]
