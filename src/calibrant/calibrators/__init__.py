"""Scores and targets -> a map from scores to probabilities, one file a family."""

from calibrant.calibrators.enir import ENIR

__all__ = ["ENIR"]
