"""Held-out scores by refitting: Monte Carlo cross-validation and folds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from typing import Any, ClassVar

import numpy as np

from calibrant._core.fitting import Fitter
from calibrant._core.held_out import HeldOutScores
from calibrant._core.problems import ProblemSplit, ScoringProblem
from calibrant._core.splits import check_split, make_draws, make_folds, resample_rows
from calibrant._core.training_data import TrainingData
from calibrant._core.typing import FloatArray, IndexArray, Split
from calibrant.generation._split_scores import pool_scores, score_again, score_splits
from calibrant.generation.base import Generated, Generator

# Very small problems would need thousands of refits to reach n_points, which would reveal no more
# about so few rows.
MOST_SPLITS = 1000
# Further repeats change the calibration only in the third digit.
MOST_REPEATS = 4
# All pairs of 50 classes have half a million splits, so problems are scored in blocks.
MAX_BLOCK_PROBLEMS = 64


class Resampling(Generator):
    """Base class of generators that refit the estimator on some rows to score the others."""

    resamples: ClassVar[bool] = True

    def generate(
        self,
        fitter: Fitter,
        problems: list[ScoringProblem],
        models: Sequence[Any],
        n_voters: int = 0,
    ) -> Generated:
        """Return the held-out scores of every problem; all problems share the splits.

        The models of the first splits vote. If every row is scored by one model only, nothing
        shows what averaging gains, so none of them vote together with ``models``.
        """
        splits = _Replayed(self.splits(fitter.data, fitter.rng))
        held_out: list[HeldOutScores] = []
        voters: list[list[Any]] = []
        factors: list[FloatArray] = []
        for start in range(0, len(problems), MAX_BLOCK_PROBLEMS):
            block = problems[start : start + MAX_BLOCK_PROBLEMS]
            generated = self._generate_block(fitter, block, splits, n_voters, bool(models))
            held_out += generated.held_out
            voters += generated.voters
            factors += generated.variance_factors
        twice = None
        has_spread = bool(voters[0]) or not held_out[0].has_single_scores()
        if not problems[0].is_binary and len(held_out[0]) and not has_spread:
            twice = score_again(fitter, problems[0], held_out[0])
        return Generated(held_out, voters, factors, scored_twice=twice)

    def _generate_block(
        self,
        fitter: Fitter,
        problems: list[ScoringProblem],
        shared_splits: Iterable[Split],
        n_voters: int,
        has_models: bool,
    ) -> Generated:
        """Return the held-out scores of some of the problems."""
        splits = self.problem_splits(shared_splits, problems)
        if has_models and all(map(_hold_out_rows_once, splits)):
            n_voters = 0
        if not n_voters:
            splits = [[split for split in of_problem if split.times] for of_problem in splits]
        elif not has_models:
            splits = [of_problem[:n_voters] for of_problem in splits]
        votes = [k < n_voters for of_problem in splits for k in range(len(of_problem))]
        scores, fitted = score_splits(fitter, list(chain.from_iterable(splits)), votes)
        held_out, voters, factors, start = [], [], [], 0
        for problem, of_problem in zip(problems, splits, strict=True):
            part = slice(start, start := start + len(of_problem))
            held_out.append(pool_scores(problem, of_problem, scores[part], fitter.data, n_voters))
            voters.append([model for model in fitted[part] if model is not None])
            factors.append(np.array([split.variance_factor for split in of_problem[:n_voters]]))
        return Generated(held_out, voters, factors)

    @abstractmethod
    def splits(self, data: TrainingData, rng: np.random.RandomState) -> Iterator[Split]:
        """Yield the training and test rows of each split."""

    def problem_splits(
        self, splits: Iterable[Split], problems: list[ScoringProblem]
    ) -> list[list[ProblemSplit]]:
        """Restrict every split to the rows of each problem."""
        all_splits = list(splits)
        if not all_splits:
            raise ValueError(
                "cv must yield at least one split, got none. "
                "Pass a list: an iterator can be used only once."
            )
        restricted = [
            [_restrict(problem, number, split) for number, split in enumerate(all_splits)]
            for problem in problems
        ]
        return [[split for split in of_problem if split is not None] for of_problem in restricted]


@dataclass(frozen=True)
class MonteCarloCV(Resampling):
    """Monte Carlo cross-validation, called Data Generation and Grouping (DGG) in [1]_.

    Parameters
    ----------
    n_points : int, default=5000
        Splits are drawn until each problem has at least this many held-out scores.
    test_size : float, default=0.3
        The proportion of rows held out in each split.
    group_size : int or None, default=100
        The number of neighboring scores averaged into one point (DGG); None keeps every score
        (DG). Scores of multi-class problems have no order and are not grouped.

    Notes
    -----
    This generator departs from the published procedure [1]_ in three ways. Splits are
    stratified by class, and every class stays in the training rows, so the only row of a class
    is never held out. At most 1,000 splits are drawn, which matters for problems with fewer
    than 17 rows. With ``groups``, whole groups are held out, at the expense of stratification.

    References
    ----------
    .. [1] T. Alasalmi, J. Suutala, J. Roning and H. Koskimaki, "Better classifier
           calibration for small data sets", ACM TKDD 14(3), 2020.
    """

    n_points: int = 5000
    test_size: float = 0.3
    group_size: int | None = 100

    def __post_init__(self) -> None:
        if not _is_whole(self.n_points) or self.n_points < 1:
            raise ValueError(
                f"n_points must be an integer of at least 1, got {self.n_points!r}. "
                "Use 5000, as published."
            )
        if not _is_proportion(self.test_size):
            raise ValueError(
                f"test_size must lie between 0 and 1, got {self.test_size!r}. "
                "Pass the proportion of rows to hold out."
            )
        if self.group_size is not None and (not _is_whole(self.group_size) or self.group_size < 1):
            raise ValueError(
                f"group_size must be an integer of at least 1, got {self.group_size!r}. "
                "Use None to keep every score."
            )
        if self.group_size is not None and self.n_points < self.group_size:
            raise ValueError(
                f"n_points must be at least group_size ({self.group_size}), "
                f"got {self.n_points}. Lower group_size or raise n_points."
            )

    def splits(self, data: TrainingData, rng: np.random.RandomState) -> Iterator[Split]:
        """Draw splits, at most 1,000."""
        rows = data.rows
        groups = None if data.groups is None else data.groups[rows]
        for test in islice(make_draws(data.y[rows], groups, self.test_size, rng), MOST_SPLITS):
            yield rows[~test], rows[test]

    def problem_splits(
        self, splits: Iterable[Split], problems: list[ScoringProblem]
    ) -> list[list[ProblemSplit]]:
        """Restrict splits to the rows of each problem until it has enough points.

        All problems use the same splits; smaller problems use more of them. A split that is
        drawn twice, as happens with very few rows, counts twice but is fitted only once.
        """
        restricted: list[dict[bytes, ProblemSplit]] = [{} for _ in problems]
        missing = np.full(len(problems), self.n_points)
        for number, split in enumerate(splits):
            for index in np.flatnonzero(missing > 0):
                drawn = _restrict(problems[index], number, split)
                if drawn is not None:
                    missing[index] -= len(drawn.test)
                    key = drawn.test.tobytes()
                    earlier = restricted[index].get(key)
                    if earlier is not None:
                        drawn = earlier._replace(times=earlier.times + 1)
                    restricted[index][key] = drawn
            if (missing <= 0).all():
                break
        return [list(of_problem.values()) for of_problem in restricted]

    def generate(
        self,
        fitter: Fitter,
        problems: list[ScoringProblem],
        models: Sequence[Any],
        n_voters: int = 0,
    ) -> Generated:
        """Return the held-out scores of every problem, to be grouped before calibration."""
        generated = super().generate(fitter, problems, models, n_voters)
        grouped = [replace(scores, group_size=self.group_size) for scores in generated.held_out]
        return replace(generated, held_out=grouped)


@dataclass(frozen=True)
class CrossFit(Resampling):
    """Held-out scores from one pass of cross-validation.

    Parameters
    ----------
    cv : int, splitter or iterable, default=5
        A number of stratified folds, which keep groups together; a scikit-learn splitter;
        or (train, test) pairs of row numbers.
    """

    cv: Any = 5

    def __post_init__(self) -> None:
        is_splits = hasattr(self.cv, "split") or hasattr(self.cv, "__iter__")
        if isinstance(self.cv, str | type) or not (_is_whole(self.cv) or is_splits):
            raise ValueError(
                "cv must be a number of folds, an instance of a scikit-learn splitter, or (train, "
                f"test) pairs of row numbers, got {self.cv!r}. Use 5 or 10 folds."
            )
        if _is_whole(self.cv) and self.cv < 2:
            raise ValueError(f"cv must be at least 2 folds, got {self.cv}. Use 5 or 10.")

    def splits(self, data: TrainingData, rng: np.random.RandomState) -> Iterator[Split]:
        """Yield the folds or the splits of the splitter, after checking them."""
        if not _is_whole(self.cv):
            is_splitter = hasattr(self.cv, "split")
            splits = self.cv.split(data.X, data.y, **data.split_params) if is_splitter else self.cv
            for split in splits:
                yield check_split(split, len(data.y), data.groups)
            return
        rows = data.rows
        groups = None if data.groups is None else data.groups[rows]
        for test in make_folds(data.y[rows], groups, int(self.cv), rng):
            yield rows[~test], rows[test]


@dataclass(frozen=True)
class RepeatedFolds(Resampling):
    """Stratified folds, repeated if there are few rows.

    Parameters
    ----------
    n_folds : int, default=5
        The number of folds. Fewer are used if there are fewer rows or groups.
    n_points : int, default=1000
        Folds are repeated until there are at least this many held-out scores, but at most four
        times: repeats reduce the variance of the scores but add no rows.
    """

    n_folds: int = 5
    n_points: int = 1000

    def __post_init__(self) -> None:
        if not _is_whole(self.n_folds) or self.n_folds < 2:
            raise ValueError(
                f"n_folds must be an integer of at least 2, got {self.n_folds!r}. Use 5."
            )
        if not _is_whole(self.n_points) or self.n_points < 1:
            raise ValueError(
                f"n_points must be an integer of at least 1, got {self.n_points!r}. "
                "Use 1 for a single pass over the folds."
            )

    def splits(self, data: TrainingData, rng: np.random.RandomState) -> Iterator[Split]:
        """Yield the folds of each repeat."""
        return self.repeat(min(MOST_REPEATS, -(-self.n_points // len(data.rows))), data, rng)

    def repeat(
        self, n_repeats: int, data: TrainingData, rng: np.random.RandomState
    ) -> Iterator[Split]:
        """Yield the folds of a given number of repeats."""
        rows = data.rows
        n_groups = len(rows) if data.groups is None else len(np.unique(data.groups[rows]))
        largest_class = int(np.bincount(data.y[rows]).max())
        folds = CrossFit(max(2, min(self.n_folds, n_groups, largest_class)))
        for _ in range(n_repeats):
            yield from folds.splits(data, rng)


@dataclass(frozen=True)
class ResampledFolds(Resampling):
    """Repeated stratified folds, some with resampled training rows, for models that vote.

    Every row is held out once per repeat. In every other repeat, starting with the second, the
    training rows of each class are doubled: each is used once, and as many again are drawn from
    them with replacement. The models of these repeats only vote; the model fitted on all rows is
    calibrated on the scores of the other repeats.

    Parameters
    ----------
    n_folds : int, default=4
        The number of folds. Fewer are used if there are fewer rows or groups.
    n_repeats : int, default=5
        The number of repeats.

    Notes
    -----
    Models fitted on resampled rows differ more, so averaging them gains more, as in bagging [1]_.
    Doubling the rows helps estimators that learn nothing from too few rows, such as a tree with a
    minimum number of rows per leaf. But it changes the model: twice the rows weaken a penalty, and
    repeated rows leave fewer distinct ones among the nearest neighbors of a row.

    References
    ----------
    .. [1] L. Breiman, "Bagging predictors", Machine Learning 24, 1996.
    """

    n_folds: int = 4
    n_repeats: int = 5

    def __post_init__(self) -> None:
        for name, least in (("n_folds", 2), ("n_repeats", 1)):
            value = getattr(self, name)
            if not _is_whole(value) or value < least:
                raise ValueError(
                    f"{name} must be an integer of at least {least}, got {value!r}. "
                    f"Use {type(self).__dataclass_fields__[name].default}."
                )

    def splits(self, data: TrainingData, rng: np.random.RandomState) -> Iterator[Split]:
        """Yield the folds of each repeat, with resampled training rows in every other one."""
        for repeat in range(self.n_repeats):
            for train, test in RepeatedFolds(self.n_folds).repeat(1, data, rng):
                yield (resample_rows(train, data.y, rng) if repeat % 2 else train), test

    def problem_splits(
        self, splits: Iterable[Split], problems: list[ScoringProblem]
    ) -> list[list[ProblemSplit]]:
        """Restrict every split to the rows of each problem; scores of resampled ones only vote."""
        return [
            [split._replace(times=int(_has_no_repetitions(split.train))) for split in of_problem]
            for of_problem in super().problem_splits(splits, problems)
        ]


class _Replayed:
    """Splits that are drawn when they are first needed, and can be read several times."""

    def __init__(self, splits: Iterator[Split]):
        self._splits = splits
        self._drawn: list[Split] = []

    def __iter__(self) -> Iterator[Split]:
        for number in count():
            if number == len(self._drawn):
                drawn = next(self._splits, None)
                if drawn is None:
                    return
                self._drawn.append(drawn)
            yield self._drawn[number]


def _hold_out_rows_once(splits: list[ProblemSplit]) -> bool:
    return not splits or _has_no_repetitions(np.concatenate([split.test for split in splits]))


def _has_no_repetitions(rows: IndexArray) -> bool:
    return len(np.unique(rows)) == len(rows)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_proportion(value: Any) -> bool:
    return isinstance(value, int | float | np.floating) and bool(0 < value < 1)


def _restrict(problem: ScoringProblem, number: int, split: Split) -> ProblemSplit | None:
    """Restrict a split to the rows of a problem.

    Returns None if there is nothing to score or if a label is missing from the training rows,
    since a model fitted on them could not predict it.
    """
    train, test = (rows[problem.member[rows]] for rows in split)
    if len(test) == 0 or np.count_nonzero(np.bincount(problem.target[train])) < problem.n_labels:
        return None
    return ProblemSplit(problem, train, test, number)
