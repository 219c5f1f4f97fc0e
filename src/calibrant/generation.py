"""Problem -> out-of-sample scores: Monte Carlo cross-validation, grouping, cross-fitting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from calibrant.fitting import LARGEST_SEED, Fitter, Part
from calibrant.problems import ScoringProblem, class_scores, is_scored, reduce_scores

FloatArray = NDArray[np.float64]
Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]

# Very few rows would need thousands of refits for n_points scores, which say no more
# about so few rows than this many do.
MOST_SPLITS = 1000


@dataclass(frozen=True, eq=False)
class CalibrationSet:
    """Out-of-sample scores of one problem, with what was true.

    Attributes
    ----------
    score : ndarray of shape (n_points,) or (n_points, n_classes)
        Scores of rows that the model had not been fitted on.
    target : ndarray of shape (n_points,)
        1 for the positive side and 0 for the negative one, or their share in a group;
        class indices for a multi-class problem.
    sample_weight : ndarray of shape (n_points,)
        The weight of each point.
    """

    score: FloatArray
    target: NDArray[Any]
    sample_weight: FloatArray

    def grouped(self, group_size: int) -> CalibrationSet:
        """Means over groups of about ``group_size`` points with neighboring scores.

        This is the grouping of DGG: scores are sorted and cut into consecutive groups
        of equal size; a group's score is the mean score, its target the share of
        positives, its weight the sum of weights.
        """
        n_groups = max(1, len(self.score) // group_size)
        order = np.argsort(self.score, kind="stable")
        first = np.arange(n_groups) * len(order) // n_groups
        weight = self.sample_weight[order]
        total = np.add.reduceat(weight, first)
        return CalibrationSet(
            score=np.add.reduceat(weight * self.score[order], first) / total,
            target=np.add.reduceat(weight * self.target[order], first) / total,
            sample_weight=total,
        )


class Generator(ABC):
    """A way to get out-of-sample scores by fitting on some rows and scoring others."""

    def generate(
        self,
        fitter: Fitter,
        problems: list[ScoringProblem],
        y: NDArray[np.intp],
        sample_weight: FloatArray,
        split_params: dict[str, Any],
    ) -> list[CalibrationSet]:
        """Out-of-sample scores of every problem.

        Parameters
        ----------
        fitter : Fitter
            The classifier and the training rows.
        problems : list of ScoringProblem
            The problems, which share the splits.
        y : ndarray of shape (n_samples,)
            Class indices.
        sample_weight : ndarray of shape (n_samples,)
            Weights of the rows; those of weight 0 take no part.
        split_params : dict
            What the splitter takes beside X and y: the groups of the rows.

        Returns
        -------
        list of CalibrationSet
            One for each problem; without points where no split leaves a part to train
            on that has all the problem's labels.
        """
        splits = self._splits(fitter, y, sample_weight > 0, split_params)
        parts = self._parts(splits, problems)
        scores = iter(fitter.held_out_scores([part for own in parts for part in own]))
        sets = []
        for problem, own in zip(problems, parts, strict=True):
            empty = np.empty(0) if problem.is_binary else np.empty((0, len(np.unique(y))))
            rows = np.concatenate([np.empty(0, np.intp), *(part.test for part in own)])
            score = np.concatenate([empty, *islice(scores, len(own))])
            scored = is_scored(score)
            rows, score = rows[scored], score[scored]
            sets.append(
                self._finish(CalibrationSet(score, problem.target[rows], sample_weight[rows]))
            )
        return sets

    @abstractmethod
    def _splits(
        self,
        fitter: Fitter,
        y: NDArray[np.intp],
        taking_part: NDArray[np.bool_],
        split_params: dict[str, Any],
    ) -> Iterator[Split]: ...

    def _parts(self, splits: Iterator[Split], problems: list[ScoringProblem]) -> list[list[Part]]:
        """Cut every split to the rows of each problem."""
        parts: list[list[Part]] = [[] for _ in problems]
        for train, test in splits:
            for problem, own in zip(problems, parts, strict=True):
                _append_part(own, problem, train, test)
        return parts

    def _finish(self, points: CalibrationSet) -> CalibrationSet:
        return points


@dataclass(frozen=True)
class MonteCarloCV(Generator):
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
        if self.n_points < 1:
            raise ValueError(f"n_points must be at least 1. Got {self.n_points}.")
        if not 0 < self.test_size < 1:
            raise ValueError(
                f"test_size must lie between 0 and 1. Got {self.test_size}. "
                "Pass the share of rows to hold out."
            )
        if self.group_size is not None and self.group_size < 1:
            raise ValueError(
                f"group_size must be at least 1. Got {self.group_size}. "
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
        y: NDArray[np.intp],
        taking_part: NDArray[np.bool_],
        split_params: dict[str, Any],
    ) -> Iterator[Split]:
        rows = np.flatnonzero(taking_part)
        groups = split_params.get("groups")
        held_out = (
            _stratified_draws(y[rows], self.test_size, fitter.rng)
            if groups is None
            else _group_draws(y[rows], np.asarray(groups)[rows], self.test_size, fitter.rng)
        )
        for test in islice(held_out, MOST_SPLITS):
            yield rows[~test], rows[test]

    def _parts(self, splits: Iterator[Split], problems: list[ScoringProblem]) -> list[list[Part]]:
        """Cut splits to the rows of each problem until it has enough points.

        All problems use the same splits; one with few rows uses more of them.
        """
        parts: list[list[Part]] = [[] for _ in problems]
        missing = np.full(len(problems), self.n_points)
        for train, test in splits:
            for index in np.flatnonzero(missing > 0):
                missing[index] -= _append_part(parts[index], problems[index], train, test)
            if (missing <= 0).all():
                break
        return parts

    def _finish(self, points: CalibrationSet) -> CalibrationSet:
        if self.group_size is None or points.score.ndim == 2 or len(points.score) == 0:
            return points
        return points.grouped(self.group_size)


@dataclass(frozen=True)
class CrossFit(Generator):
    """Held-out scores from one pass of a cross-validation splitter.

    Parameters
    ----------
    cv : int, splitter or iterable, default=5
        The number of stratified folds; or a scikit-learn splitter, group-aware or not;
        or (train, test) pairs of row indices.
    """

    cv: Any = 5

    def __post_init__(self) -> None:
        if isinstance(self.cv, int | np.integer) and self.cv < 2:
            raise ValueError(f"cv must be at least 2 folds. Got {self.cv}.")

    def _splits(
        self,
        fitter: Fitter,
        y: NDArray[np.intp],
        taking_part: NDArray[np.bool_],
        split_params: dict[str, Any],
    ) -> Iterator[Split]:
        if not isinstance(self.cv, int | np.integer):
            yield from check_cv(self.cv).split(fitter.X, y, **split_params)
        elif split_params.get("groups") is not None:
            seed = fitter.rng.randint(LARGEST_SEED)
            splitter = StratifiedGroupKFold(int(self.cv), shuffle=True, random_state=seed)
            yield from splitter.split(fitter.X, y, split_params["groups"])
        else:
            rows = np.flatnonzero(taking_part)
            for test in _stratified_folds(y[rows], int(self.cv), fitter.rng):
                yield rows[~test], rows[test]


GENERATORS = {"monte-carlo": MonteCarloCV}


def scores_of_fitted(
    model: Any, X: Any, problems: list[ScoringProblem], sample_weight: FloatArray
) -> list[CalibrationSet]:
    """Scores of every problem from one model that has not seen the rows."""
    score, is_proba = class_scores(model, X)
    return [
        CalibrationSet(
            score=reduce_scores(problem.side, score[problem.rows], is_proba),
            target=problem.target[problem.rows],
            sample_weight=sample_weight[problem.rows],
        )
        for problem in problems
    ]


def resolve_generator(cv: Any) -> Generator:
    """Return the generator behind a name, a number of folds or a splitter."""
    if isinstance(cv, Generator):
        return cv
    if isinstance(cv, str):
        if cv not in GENERATORS:
            raise ValueError(
                f"cv must be one of {sorted(GENERATORS)}, a number of folds, a scikit-learn "
                f"splitter or an object of calibrant.generation. Got {cv!r}."
            )
        return GENERATORS[cv]()
    if isinstance(cv, bool) or not (
        isinstance(cv, int | np.integer) or hasattr(cv, "split") or hasattr(cv, "__iter__")
    ):
        raise ValueError(
            f"cv must be one of {sorted(GENERATORS)}, a number of folds, a scikit-learn "
            f"splitter or an object of calibrant.generation. Got {cv!r}."
        )
    return CrossFit(cv)


def _append_part(own: list[Part], problem: ScoringProblem, train: Rows, test: Rows) -> int:
    """Add the part of a split that a problem sees; return its number of points.

    A split whose training part lacks one of the problem's labels is passed over: a
    model fitted on it would know nothing of that label.
    """
    member = np.zeros(len(problem.target), dtype=bool)
    member[problem.rows] = True
    train, test = train[member[train]], test[member[test]]
    n_labels = len(np.unique(problem.target[problem.rows]))
    if len(test) == 0 or len(np.unique(problem.target[train])) < n_labels:
        return 0
    own.append(Part(problem, train, test))
    return len(test)


def _stratified_draws(
    y: NDArray[np.intp], test_size: float, rng: np.random.RandomState
) -> Iterator[NDArray[np.bool_]]:
    """Draw rows to hold out, stratified, without end; at least one a class stays.

    The number of rows held out of a class is rounded up or down at random (systematic
    sampling), so that small classes are held out in their right share on average and
    the total is the same in every draw.
    """
    count = np.bincount(y)
    # A class of one row stays in every training part; the others share what is held out.
    quota = np.where(count > 1, count, 0)
    total = max(1, int(test_size * quota.sum()))
    edges = np.r_[0.0, np.cumsum(quota) * total / max(quota.sum(), 1)]
    edges[-1] = total
    while True:
        number = np.diff(np.floor(edges + rng.uniform())).astype(np.intp)
        yield _rank_in_class(y, rng) < np.minimum(number, np.maximum(count - 1, 0))[y]


def _stratified_folds(
    y: NDArray[np.intp], n_folds: int, rng: np.random.RandomState
) -> Iterator[NDArray[np.bool_]]:
    """Deal the rows of each class to the folds in turn; lone rows are never held out."""
    if n_folds > len(y):
        raise ValueError(
            f"cv must be at most the number of rows, {len(y)}. Got {n_folds}. Use fewer folds."
        )
    count = np.bincount(y)
    position = (np.cumsum(count) - count)[y] + _rank_in_class(y, rng)
    alone = count[y] == 1
    for fold in range(n_folds):
        yield (position % n_folds == fold) & ~alone


def _rank_in_class(y: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[np.intp]:
    """Give the rows of each class the numbers 0, 1, ... in random order."""
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    count = np.bincount(y)
    rank = np.empty(len(y), dtype=np.intp)
    rank[order] = np.arange(len(y)) - np.repeat(np.cumsum(count) - count, count)
    return rank


def _group_draws(
    y: NDArray[np.intp], groups: NDArray[Any], test_size: float, rng: np.random.RandomState
) -> Iterator[NDArray[np.bool_]]:
    """Draw whole groups to hold out, without end; each class keeps one at least."""
    names, group = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"groups must name at least two groups. Got {len(names)}. "
            "Leave groups out if the rows are independent."
        )
    size = np.bincount(group)
    total = test_size * len(y)
    while True:
        order = rng.permutation(len(names))
        n_held_out = max(1, int(np.searchsorted(np.cumsum(size[order]), total, side="right")))
        test = np.isin(group, order[: min(n_held_out, len(names) - 1)])
        for label in np.setdiff1d(np.unique(y), y[~test]):
            test &= group != rng.choice(group[test & (y == label)])
        yield test
