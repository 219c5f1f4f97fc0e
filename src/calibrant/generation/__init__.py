"""Problem -> out-of-sample scores: Monte Carlo cross-validation, folds, out-of-bag votes."""

from calibrant.generation.choice import resolve_generator
from calibrant.generation.out_of_bag import OutOfBag
from calibrant.generation.points import CalibrationSet, Generator, scores_of_fitted
from calibrant.generation.resampling import CrossFit, MonteCarloCV, RepeatedFolds

__all__ = [
    "CalibrationSet",
    "CrossFit",
    "Generator",
    "MonteCarloCV",
    "OutOfBag",
    "RepeatedFolds",
    "resolve_generator",
    "scores_of_fitted",
]
