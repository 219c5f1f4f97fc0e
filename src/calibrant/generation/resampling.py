"""Out-of-sample scores by refitting: Monte Carlo cross-validation, folds, repeated folds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._core.fitting import Fitter
from calibrant._core.problems import Part, ScoringProblem
from calibrant._core.splits import (
    check_split,
    group_draws,
    group_folds,
    stratified_draws,
    stratified_folds,
)
from calibrant._core.typing import BoolArray, FloatArray, IndexArray, Split
from calibrant.generation.base import Generator, HeldOutScores, scored_rows

# Very few rows would need thousands of refits for n_points scores, which say no more
# about so few rows than this many do.
MOST_SPLITS = 1000
# Beyond this, dealing the folds anew changes the scores' calibration in the third digit.
MOST_REPEATS = 5


class Resampling(Generator):
    """Fit the estimator on some rows and score the others, again and again."""

    def generate(
        self,
        fitter: Fitter,
        problems: list[ScoringProblem],
        y: IndexArray,
        sample_weight: FloatArray,
        groups: NDArray[Any] | None = None,
        split_params: dict[str, Any] | None = None,
        models: Sequence[Any] = (),
    ) -> list[HeldOutScores]:
        """Out-of-sample scores of every problem; all problems share the splits."""
        splits = self._splits(fitter, y, sample_weight > 0, groups, split_params or {})
        parts = self._parts(splits, problems)
        scores = iter(fitter.held_out_scores([part for own in parts for part in own]))
        sets = []
        for problem, own in zip(problems, parts, strict=True):
            empty = np.empty(0) if problem.is_binary else np.empty((0, len(np.unique(y))))
            pooled = [
                (part.test, score)
                for part, score in zip(own, islice(scores, len(own)), strict=True)
                for _ in range(part.times)
            ]
            rows = np.concatenate([np.empty(0, np.intp), *(test for test, _ in pooled)])
            score = np.concatenate([empty, *(score for _, score in pooled)])
            sets.append(self._finish(scored_rows(score, problem.target, sample_weight, rows)))
        return sets

    @abstractmethod
    def _splits(
        self,
        fitter: Fitter,
        y: IndexArray,
        taking_part: BoolArray,
        groups: NDArray[Any] | None,
        split_params: dict[str, Any],
    ) -> Iterator[Split]: ...

    def _parts(self, splits: Iterator[Split], problems: list[ScoringProblem]) -> list[list[Part]]:
        """Cut every split to the rows of each problem."""
        all_splits = list(splits)
        if not all_splits:
            raise ValueError(
                "cv must yield at least one split. Got none. "
                "Pass a list rather than an iterator that may be used up."
            )
        return [
            [
                part
                for number, split in enumerate(all_splits)
                if (part := _part(problem, number, split))
            ]
            for problem in problems
        ]

    def _finish(self, points: HeldOutScores) -> HeldOutScores:
        return points


@dataclass(frozen=True)
class MonteCarloCV(Resampling):
    """Data Generation and Grouping: repeated random splits, pooled and grouped.

    Parameters
    ----------
    n_points : int, default=5000
        Splits are drawn until each problem has at least this many held-out scores.
    test_size : float, default=0.3
        The share of rows that a split holds out.
    group_size : int or None, default=100
        The number of neighboring scores that are averaged into one point (DGG); None
        keeps every score (DG). Multi-class problems have no order and are not grouped.

    Notes
    -----
    Departures from the published procedure [1]_: splits are stratified by class, and a
    training part holds every class, so that a class of one row is never held out; at
    most 1,000 splits are drawn, which matters for problems of fewer than 17 rows. With
    ``groups``, whole groups of rows are held out, and stratification gives way.

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
                f"n_points must be a whole number, at least 1. Got {self.n_points!r}. "
                "Use 5000 as published."
            )
        if not _is_share(self.test_size):
            raise ValueError(
                f"test_size must lie between 0 and 1. Got {self.test_size!r}. "
                "Pass the share of rows to hold out."
            )
        if self.group_size is not None and (not _is_whole(self.group_size) or self.group_size < 1):
            raise ValueError(
                f"group_size must be a whole number, at least 1. Got {self.group_size!r}. "
                "Use None to keep every score."
            )
        if self.group_size is not None and self.n_points < self.group_size:
            raise ValueError(
                f"n_points must be at least group_size ({self.group_size}). "
                f"Got {self.n_points}. Lower group_size or raise n_points."
            )

    def _splits(
        self,
        fitter: Fitter,
        y: IndexArray,
        taking_part: BoolArray,
        groups: NDArray[Any] | None,
        split_params: dict[str, Any],
    ) -> Iterator[Split]:
        rows = np.flatnonzero(taking_part)
        held_out = (
            stratified_draws(y[rows], self.test_size, fitter.rng)
            if groups is None
            else group_draws(y[rows], groups[rows], self.test_size, fitter.rng)
        )
        for test in islice(held_out, MOST_SPLITS):
            yield rows[~test], rows[test]

    def _parts(self, splits: Iterator[Split], problems: list[ScoringProblem]) -> list[list[Part]]:
        """Cut splits to the rows of each problem until it has enough points.

        All problems use the same splits; one with few rows uses more of them. Where rows
        are so few that a split comes again, it counts again but is not fitted again.
        """
        parts: list[dict[bytes, Part]] = [{} for _ in problems]
        missing = np.full(len(problems), self.n_points)
        for number, split in enumerate(splits):
            for index in np.flatnonzero(missing > 0):
                part = _part(problems[index], number, split)
                if part is not None:
                    missing[index] -= len(part.test)
                    key = part.test.tobytes()
                    drawn = parts[index].get(key)
                    parts[index][key] = part if drawn is None else _once_more(drawn)
            if (missing <= 0).all():
                break
        return [list(own.values()) for own in parts]

    def _finish(self, points: HeldOutScores) -> HeldOutScores:
        if self.group_size is None or points.score.ndim == 2 or len(points.score) == 0:
            return points
        return points.grouped(self.group_size)


@dataclass(frozen=True)
class CrossFit(Resampling):
    """Held-out scores from one pass of a cross-validation splitter.

    Parameters
    ----------
    cv : int, splitter or iterable, default=5
        The number of stratified folds, of whole groups where there are any; or a
        scikit-learn splitter, group-aware or not;
        or (train, test) pairs of row indices.
    """

    cv: Any = 5

    def __post_init__(self) -> None:
        is_splits = hasattr(self.cv, "split") or hasattr(self.cv, "__iter__")
        if isinstance(self.cv, str | type) or not (_is_whole(self.cv) or is_splits):
            raise ValueError(
                "cv must be a number of folds, an instance of a scikit-learn splitter, or (train, "
                f"test) pairs of row numbers. Got {self.cv!r}. Use 5 or 10 folds."
            )
        if _is_whole(self.cv) and self.cv < 2:
            raise ValueError(f"cv must be at least 2 folds. Got {self.cv}. Use 5 or 10.")

    def _splits(
        self,
        fitter: Fitter,
        y: IndexArray,
        taking_part: BoolArray,
        groups: NDArray[Any] | None,
        split_params: dict[str, Any],
    ) -> Iterator[Split]:
        if not _is_whole(self.cv):
            is_splitter = hasattr(self.cv, "split")
            splits = self.cv.split(fitter.X, y, **split_params) if is_splitter else self.cv
            for split in splits:
                yield check_split(split, len(y), groups)
            return
        rows, n_folds = np.flatnonzero(taking_part), int(self.cv)
        held_out = (
            stratified_folds(y[rows], n_folds, fitter.rng)
            if groups is None
            else group_folds(y[rows], groups[rows], n_folds, fitter.rng)
        )
        for test in held_out:
            yield rows[~test], rows[test]


@dataclass(frozen=True)
class RepeatedFolds(Resampling):
    """Stratified folds, repeated while rows are few.

    Parameters
    ----------
    n_folds : int, default=10
        The number of folds; fewer where there are fewer rows, or groups of rows.
    n_points : int, default=1000
        Folds are dealt anew until there are at least this many held-out scores, but no
        more than five times: repeats steady the scores, but add no rows.
    """

    n_folds: int = 10
    n_points: int = 1000

    def __post_init__(self) -> None:
        if not _is_whole(self.n_folds) or self.n_folds < 2:
            raise ValueError(
                f"n_folds must be a whole number, at least 2. Got {self.n_folds!r}. Use 10."
            )
        if not _is_whole(self.n_points) or self.n_points < 1:
            raise ValueError(
                f"n_points must be a whole number, at least 1. Got {self.n_points!r}. "
                "Use 1 for a single pass of the folds."
            )

    def _splits(
        self,
        fitter: Fitter,
        y: IndexArray,
        taking_part: BoolArray,
        groups: NDArray[Any] | None,
        split_params: dict[str, Any],
    ) -> Iterator[Split]:
        rows = np.flatnonzero(taking_part)
        n_units = len(rows) if groups is None else len(np.unique(groups[rows]))
        largest_class = int(np.bincount(y[rows]).max())
        folds = CrossFit(max(2, min(self.n_folds, n_units, largest_class)))
        for _ in range(min(MOST_REPEATS, -(-self.n_points // len(rows)))):
            yield from folds._splits(fitter, y, taking_part, groups, split_params)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float | np.floating) and bool(0 < value < 1)


def _once_more(part: Part) -> Part:
    return part._replace(times=part.times + 1)


def _part(problem: ScoringProblem, number: int, split: Split) -> Part | None:
    """Cut a split, which is the ``number``-th, to the rows of a problem.

    None if that leaves nothing to score, or a training part that lacks one of the
    problem's labels: a model fitted on it would know nothing of that label.
    """
    train, test = (rows[problem.member[rows]] for rows in split)
    if len(test) == 0 or np.count_nonzero(np.bincount(problem.target[train])) < problem.n_labels:
        return None
    return Part(problem, train, test, number)
