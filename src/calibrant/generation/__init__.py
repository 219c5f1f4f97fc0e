"""Sources of held-out scores: cross-validation, out-of-bag votes and frozen models."""

from calibrant._core.held_out import HeldOutScores
from calibrant.generation.base import Generator
from calibrant.generation.frozen import FrozenModel
from calibrant.generation.out_of_bag import GroupedVotes, OutOfBag
from calibrant.generation.registry import resolve_generator
from calibrant.generation.resampling import CrossFit, MonteCarloCV, RepeatedFolds, ResampledFolds

__all__ = [
    "CrossFit",
    "FrozenModel",
    "Generator",
    "GroupedVotes",
    "HeldOutScores",
    "MonteCarloCV",
    "OutOfBag",
    "RepeatedFolds",
    "ResampledFolds",
    "resolve_generator",
]
