"""Held-out scores, which generators return and calibrators are fitted to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._core.binning import group_means
from calibrant._core.problems import is_scored
from calibrant._core.typing import BoolArray, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Scores of one problem, each from a model that was not fitted on the row.

    Attributes
    ----------
    score : ndarray of shape (n_points,) or (n_points, n_classes)
        The scores. A row that was held out several times has several points.
    target : ndarray of shape (n_points,)
        1 for the positive and 0 for the negative side of a binary problem; the class index for
        a multi-class problem.
    sample_weight : ndarray of shape (n_points,)
        The weight of each point.
    rows : ndarray of shape (n_points,)
        The training row behind each point.
    group_size : int or None, default=None
        The number of points with neighboring scores to average before a calibrator is fitted;
        None means no averaging.
    vote : ndarray of shape (n_points,), (n_points, n_classes) or None, default=None
        The mean score of the row over the voters that were not fitted on it; NaN for rows on
        which all voters were fitted. None if no models vote.
    variance_factor : float or None, default=None
        The factor from the variance among the models that scored a row to the variance among models
        fitted on other data sets. None if rows were not scored by refitted models.
    """

    score: FloatArray
    target: NDArray[Any]
    sample_weight: FloatArray
    rows: IndexArray
    group_size: int | None = None
    vote: FloatArray | None = None
    variance_factor: float | None = None

    def __len__(self) -> int:
        return len(self.score)

    def take(self, mask: BoolArray | IndexArray) -> HeldOutScores:
        """Return the points where ``mask`` is true, or those with given numbers."""
        return replace(
            self,
            score=self.score[mask],
            target=self.target[mask],
            sample_weight=self.sample_weight[mask],
            rows=self.rows[mask],
            vote=None if self.vote is None else self.vote[mask],
        )

    def votes(self) -> HeldOutScores:
        """Return the scores of the ensemble of voters, one point per row, without grouping."""
        if self.vote is None:
            raise ValueError("Held-out scores without voters have no votes.")
        _, first, index = np.unique(self.rows, return_index=True, return_inverse=True)
        is_divided = self.score.ndim == 2
        total = np.bincount(index, self.sample_weight).astype(np.float64)
        votes = HeldOutScores(
            self.vote[first],
            self.target[first],
            total if is_divided else self.sample_weight[first],
            self.rows[first],
        )
        return votes.take(is_scored(votes.score))

    def has_single_scores(self) -> bool:
        """Whether every row has a single score."""
        return len(np.unique(self.rows)) == len(self)

    def by_row(self) -> FloatArray:
        """Return the scores of rows that were held out several times, by several models.

        Returns
        -------
        ndarray of shape (n_models, n_rows, n_classes)
            As many scores of each row as all of these rows have.
        """
        order = np.argsort(self.rows, kind="stable")
        _, first, count = np.unique(self.rows[order], return_index=True, return_counts=True)
        several = count > 1
        if not several.any():
            return np.empty((0, 0, *self.score.shape[1:]))
        n_models = count[several].min()
        return self.score[order[first[several] + np.arange(n_models)[:, None]]]

    def point_groups(self, groups: NDArray[Any] | None) -> NDArray[Any] | None:
        """Return the group of each point: its row, or the group of its row.

        Returns None if points are averaged.
        """
        if self._is_averaged():
            return None
        return self.rows if groups is None else groups[self.rows]

    def _is_averaged(self) -> bool:
        return self.group_size is not None and self.score.ndim == 1

    def points(self) -> tuple[FloatArray, NDArray[Any], FloatArray]:
        """Return the scores, targets and weights to fit a calibrator to.

        With a group size, this is the grouping step of DGG: the scores are sorted and divided
        into consecutive groups of equal size. The score of a group is its mean score, its
        target is the frequency of the positive side, and its weight is the sum of the weights.
        """
        if self.group_size is None or self.score.ndim == 2 or len(self) == 0:
            return self.score, self.target, self.sample_weight
        n_groups = max(1, len(self) // self.group_size)
        order = np.argsort(self.score, kind="stable")
        first = np.arange(n_groups) * len(order) // n_groups
        return group_means(self.score[order], self.target[order], self.sample_weight[order], first)


def scored_points(
    score: FloatArray,
    target: IndexArray,
    sample_weight: FloatArray,
    rows: IndexArray,
    vote: FloatArray | None = None,
) -> HeldOutScores:
    """Return the held-out scores of the rows for which the model returned a score.

    Every score of a binary problem has the full weight of its row, as published. For a
    multi-class problem, the weight of a row is divided among its points, so that the weights
    sum to the number of rows.
    """
    scored = is_scored(score)
    score, rows = score[scored], rows[scored]
    if vote is not None:
        vote = vote[scored]
    weight = sample_weight[rows]
    if score.ndim == 2:
        _, index = np.unique(rows, return_inverse=True)
        weight = weight / np.bincount(index)[index]
    return HeldOutScores(score, target[rows], weight, rows, vote=vote)
