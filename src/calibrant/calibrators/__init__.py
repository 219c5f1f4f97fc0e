"""Calibrators: maps from scores to probabilities, one file per family."""

from calibrant.calibrators.auto import DEFAULT_CANDIDATES, AutoCalibrator
from calibrant.calibrators.baselines import ClassFrequencies, ConstantCalibrator, NoCalibration
from calibrant.calibrators.binary import (
    BetaCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    SigmoidCalibrator,
)
from calibrant.calibrators.enir import ENIR
from calibrant.calibrators.multiclass import OneVsRestCalibrator, PairwiseCalibrator
from calibrant.calibrators.report import CalibrationReport
from calibrant.calibrators.scaling import (
    DirichletCalibrator,
    StructuredMatrixScaling,
    TemperatureScaling,
    VectorScaling,
)
from calibrant.calibrators.updating import (
    UpdateCalibrator,
    UpdateChoice,
    UpdateReport,
    UpdateTest,
)
from calibrant.calibrators.venn_abers import VennAbersCalibrator

__all__ = [
    "DEFAULT_CANDIDATES",
    "ENIR",
    "AutoCalibrator",
    "BetaCalibrator",
    "CalibrationReport",
    "ClassFrequencies",
    "ConstantCalibrator",
    "DirichletCalibrator",
    "HistogramCalibrator",
    "IsotonicCalibrator",
    "NoCalibration",
    "OneVsRestCalibrator",
    "PairwiseCalibrator",
    "SigmoidCalibrator",
    "StructuredMatrixScaling",
    "TemperatureScaling",
    "UpdateCalibrator",
    "UpdateChoice",
    "UpdateReport",
    "UpdateTest",
    "VectorScaling",
    "VennAbersCalibrator",
]
