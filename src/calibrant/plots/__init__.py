"""Pictures of probabilities, in the manner of scikit-learn's displays.

What is drawn are records of `calibrant.metrics` and `calibrant.comparison`: the numbers exist
without a picture. matplotlib is imported when something is drawn.
"""

from calibrant.plots.calibration_map import CalibrationMapDisplay
from calibrant.plots.comparison import ComparisonDisplay
from calibrant.plots.reliability import ReliabilityDisplay

__all__ = ["CalibrationMapDisplay", "ComparisonDisplay", "ReliabilityDisplay"]
