"""Baselines for calibrators, and substitutes where nothing can be fitted."""

from __future__ import annotations

import numpy as np

from calibrant._core.probability_floor import floor_frequencies, overall_frequency
from calibrant._core.rowwise import repeat_frequencies
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators._base import BinaryCalibrator, MulticlassCalibrator


class NoCalibration(MulticlassCalibrator):
    """The scores themselves, raised to the probability floor."""

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        pass

    def _proba(self, score: FloatArray) -> FloatArray:
        return score


class ClassFrequencies(MulticlassCalibrator):
    """The class frequencies, regardless of the scores."""

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        pass

    def _proba(self, score: FloatArray) -> FloatArray:
        return repeat_frequencies(self.class_count_, len(score))


class ConstantCalibrator(BinaryCalibrator):
    """The frequency of the positive side, regardless of the score.

    Parameters
    ----------
    floored : bool, default=False
        Whether to keep the frequency away from 0 and 1 by the probability floor.

    Attributes
    ----------
    frequency_ : float
        The frequency; one half if there are no rows.
    """

    frequency_: float

    def __init__(self, *, floored: bool = False):
        self.floored = floored

    def _fit(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> None:
        overall = overall_frequency(target, weight)
        frequency = np.average(target, weights=weight) if len(weight) else overall
        floored = floor_frequencies(frequency, weight.sum(), overall)
        self.frequency_ = float(floored if self.floored else frequency)

    def _proba(self, score: FloatArray) -> FloatArray:
        return np.full(len(score), self.frequency_)
