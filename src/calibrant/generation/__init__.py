"""Problem -> out-of-sample scores: Monte Carlo cross-validation, folds, out-of-bag votes."""

from calibrant.generation.base import Generator, HeldOutScores, scores_of_fitted
from calibrant.generation.out_of_bag import OutOfBag
from calibrant.generation.registry import resolve_generator
from calibrant.generation.resampling import CrossFit, MonteCarloCV, RepeatedFolds

__all__ = [
    "CrossFit",
    "Generator",
    "HeldOutScores",
    "MonteCarloCV",
    "OutOfBag",
    "RepeatedFolds",
    "resolve_generator",
    "scores_of_fitted",
]
