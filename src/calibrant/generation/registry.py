"""Which generator a name, a number of folds or a splitter stands for."""

from __future__ import annotations

from typing import Any

from calibrant.generation.base import Generator
from calibrant.generation.out_of_bag import OutOfBag, has_enough_votes
from calibrant.generation.resampling import CrossFit, MonteCarloCV, RepeatedFolds

GENERATORS: dict[str, type[Generator]] = {"monte-carlo": MonteCarloCV, "oob": OutOfBag}


def resolve_generator(
    cv: Any, *, binary: bool, estimator: Any = None, grouped: bool = False
) -> Generator:
    """Return the generator behind a name, a number of folds or a splitter.

    "auto" is the paper's Monte Carlo cross-validation for binary problems. For a multi-class one
    it is out-of-bag votes where the estimator has enough of them and rows stand alone, and
    repeated folds elsewhere.
    """
    if isinstance(cv, Generator):
        return cv
    if cv is None or (isinstance(cv, str) and cv == "auto"):
        if binary:
            return MonteCarloCV()
        return OutOfBag() if has_enough_votes(estimator) and not grouped else RepeatedFolds()
    if isinstance(cv, str) and cv in GENERATORS:
        return GENERATORS[cv]()
    if isinstance(cv, str):
        raise ValueError(
            f"cv must be 'auto', one of {sorted(GENERATORS)}, a number of folds, a scikit-learn "
            f"splitter, (train, test) pairs of row numbers, or an object of calibrant.generation. "
            f"Got {cv!r}. Leave it out for 'auto'."
        )
    return CrossFit(cv)
