"""Scores and targets -> a map from scores to probabilities, one file a family."""

from calibrant.calibrators.auto import AutoCalibrator, CalibrationReport
from calibrant.calibrators.binary import (
    BetaCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    SigmoidCalibrator,
)
from calibrant.calibrators.enir import ENIR
from calibrant.calibrators.multiclass import OneVsRestCalibrator, PairwiseCalibrator
from calibrant.calibrators.scaling import (
    DirichletCalibrator,
    StructuredMatrixScaling,
    TemperatureScaling,
    VectorScaling,
)
from calibrant.calibrators.venn_abers import VennAbersCalibrator

__all__ = [
    "ENIR",
    "AutoCalibrator",
    "BetaCalibrator",
    "CalibrationReport",
    "DirichletCalibrator",
    "HistogramCalibrator",
    "IsotonicCalibrator",
    "OneVsRestCalibrator",
    "PairwiseCalibrator",
    "SigmoidCalibrator",
    "StructuredMatrixScaling",
    "TemperatureScaling",
    "VectorScaling",
    "VennAbersCalibrator",
]
