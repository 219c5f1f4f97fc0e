"""The choice of a generator by the value of ``cv``."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator

from calibrant.generation.base import Generator
from calibrant.generation.frozen import FrozenModel
from calibrant.generation.out_of_bag import GroupedVotes, OutOfBag, has_enough_votes
from calibrant.generation.resampling import CrossFit, MonteCarloCV, RepeatedFolds

GENERATORS: dict[str, type[Generator]] = {"monte-carlo": MonteCarloCV, "oob": OutOfBag}


def resolve_generator(
    cv: Any,
    *,
    binary: bool,
    estimator: Any = None,
    grouped: bool = False,
    must_resample: bool = False,
) -> Generator:
    """Return the generator selected by ``cv``.

    Parameters
    ----------
    cv : str, int, splitter, iterable, Generator or None
        As for `calibrant.CalibratedClassifier`.
    binary : bool
        Whether the problems are binary.
    estimator : classifier, default=None
        The estimator to calibrate. If it is frozen, ``cv`` is ignored and its scores on all
        rows are used.
    grouped : bool, default=False
        Whether the rows belong to groups.
    must_resample : bool, default=False
        Whether models refitted on some of the rows are needed to vote.

    Returns
    -------
    Generator
        The generator. "auto" means Monte Carlo cross-validation for binary problems. For a
        multi-class problem, it means out-of-bag votes, or grouped votes if rows are grouped, if
        the estimator has enough models and need not be refitted to vote. Otherwise it means
        repeated folds.
    """
    if isinstance(estimator, FrozenEstimator):
        return FrozenModel()
    if isinstance(cv, Generator):
        return cv
    if cv is None or (isinstance(cv, str) and cv == "auto"):
        if binary:
            return MonteCarloCV()
        if must_resample or not has_enough_votes(estimator):
            return RepeatedFolds()
        return GroupedVotes() if grouped else OutOfBag()
    if isinstance(cv, str) and cv in GENERATORS:
        return GENERATORS[cv]()
    if isinstance(cv, str):
        raise ValueError(
            f"cv must be 'auto', one of {sorted(GENERATORS)}, a number of folds, a scikit-learn "
            "splitter, (train, test) pairs of row numbers, or an instance of a class in "
            f"calibrant.generation, got {cv!r}. Omit it to use 'auto'."
        )
    return CrossFit(cv)
