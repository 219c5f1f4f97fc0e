"""The choice of a generator by the value of ``cv``."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator

from calibrant._core.validation import Rows
from calibrant._core.voting import NO_VOTING, Voting
from calibrant.generation._distinct_rows import count_distinct_rows
from calibrant.generation.base import Generator
from calibrant.generation.frozen import FrozenModel
from calibrant.generation.out_of_bag import GroupedVotes, OutOfBag, has_enough_votes
from calibrant.generation.resampling import CrossFit, MonteCarloCV, RepeatedFolds, ResampledFolds

# With more rows, votes gain little and each fit takes longer, so five folds are enough.
MOST_VOTING_ROWS = 1000

# The proportion of distinct rows below which out-of-bag votes reveal the labels of repeated rows;
# `results/out-of-bag/repeated-rows.md` has the measurement.
FEW_DISTINCT = 0.25

GENERATORS: dict[str, type[Generator]] = {"monte-carlo": MonteCarloCV, "oob": OutOfBag}


def resolve_generator(
    cv: Any,
    *,
    binary: bool,
    estimator: Any = None,
    rows: Rows | None = None,
    voting: Voting = NO_VOTING,
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
    rows : Rows, default=None
        The training rows. ``None`` means few rows that are distinct and ungrouped.
    voting : Voting, default=NO_VOTING
        Whether models refitted on some of the rows may or must vote.

    Returns
    -------
    Generator
        The generator. "auto" means Monte Carlo cross-validation for binary problems. For a
        multi-class problem, it means out-of-bag votes (grouped votes if rows are grouped or
        repeat a few) if the estimator has enough models and need not be refitted to vote.
        Otherwise it means resampled folds if models may vote and there are fewer than 1,000 rows,
        and repeated folds if not.
    """
    if isinstance(estimator, FrozenEstimator):
        return FrozenModel()
    if isinstance(cv, Generator):
        return cv
    if cv is None or (isinstance(cv, str) and cv == "auto"):
        if binary:
            return MonteCarloCV()
        if has_enough_votes(estimator) and not voting.required:
            return OutOfBag() if rows is None or _are_independent(rows) else GroupedVotes()
        may_vote = voting.most_voters > 0 and (rows is None or len(rows.labels) < MOST_VOTING_ROWS)
        return ResampledFolds() if may_vote else RepeatedFolds()
    if isinstance(cv, str) and cv in GENERATORS:
        return GENERATORS[cv]()
    if isinstance(cv, str):
        raise ValueError(
            f"cv must be 'auto', one of {sorted(GENERATORS)}, a number of folds, a scikit-learn "
            "splitter, (train, test) pairs of row numbers, or an instance of a class in "
            f"calibrant.generation, got {cv!r}. Omit it to use 'auto'."
        )
    return CrossFit(cv)


def _are_independent(rows: Rows) -> bool:
    """Return whether rows are ungrouped and not mostly repetitions of a few.

    A tree for which a row is out of bag was still fitted on other rows with the same features. Its
    vote is the frequency of each label among them, and leaving out the row lowers the frequency of
    its own label. Calibration would learn from that.
    """
    return rows.groups is None and count_distinct_rows(rows.X) > FEW_DISTINCT * len(rows.labels)
