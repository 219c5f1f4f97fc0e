"""Out-of-sample scores with what was true: what generation gives and a calibrator takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibrant._core.binning import group_means
from calibrant._core.fitting import Fitter
from calibrant._core.problems import ScoringProblem, class_scores, is_scored, reduce_scores
from calibrant._core.typing import FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class HeldOutScores:
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
    rows : ndarray of shape (n_points,) or None
        The training row that each point is a score of; None for means over several.
    """

    score: FloatArray
    target: NDArray[Any]
    sample_weight: FloatArray
    rows: IndexArray | None = None

    def grouped(self, group_size: int) -> HeldOutScores:
        """Means over groups of about ``group_size`` points with neighboring scores.

        This is the grouping of DGG: scores are sorted and cut into consecutive groups
        of equal size; a group's score is the mean score, its target the share of
        positives, its weight the sum of weights.
        """
        n_groups = max(1, len(self.score) // group_size)
        order = np.argsort(self.score, kind="stable")
        first = np.arange(n_groups) * len(order) // n_groups
        points = (self.score[order], self.target[order], self.sample_weight[order])
        return HeldOutScores(*group_means(*points, first))

    def belonging(self, groups: NDArray[Any] | None) -> NDArray[Any] | None:
        """Return what each point belongs to: its row, or the group of its row."""
        return self.rows if groups is None or self.rows is None else groups[self.rows]

    def per_row(self) -> HeldOutScores:
        """Divide the weight of each row among its points, however often it was scored."""
        if self.rows is None:
            return self
        _, row = np.unique(self.rows, return_inverse=True)
        return replace(self, sample_weight=self.sample_weight / np.bincount(row)[row])


class Generator(ABC):
    """A way to get scores of rows that the model behind them was not fitted on."""

    # Warnings of the estimator's that the generator makes good, by how they begin.
    handled_warnings: ClassVar[tuple[str, ...]] = ()

    def prepare(self, estimator: Any) -> Any:
        """Return the estimator that is to be fitted on all rows."""
        return estimator

    @abstractmethod
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
        """Out-of-sample scores of every problem.

        Parameters
        ----------
        fitter : Fitter
            The classifier and the training rows.
        problems : list of ScoringProblem
            The problems.
        y : ndarray of shape (n_samples,)
            Class indices.
        sample_weight : ndarray of shape (n_samples,)
            Weights of the rows; those of weight 0 take no part.
        groups : ndarray of shape (n_samples,), default=None
            IndexArray that must not be parted.
        split_params : dict, default=None
            What a splitter of the user takes beside X and y.
        models : sequence of classifier, default=()
            The models fitted on all rows, one a problem.

        Returns
        -------
        list of HeldOutScores
            One for each problem; without points where there is nothing to score, such as
            where no split leaves a part to train on that has all the problem's labels.
        """


def scores_of_fitted(
    model: Any, X: Any, problems: list[ScoringProblem], sample_weight: FloatArray
) -> list[HeldOutScores]:
    """Scores of every problem from one model that has not seen the rows."""
    class_score, is_proba = class_scores(model, X)
    return [
        scored_rows(
            reduce_scores(problem.side, class_score[problem.rows], is_proba),
            problem.target,
            sample_weight,
            problem.rows,
        )
        for problem in problems
    ]


def scored_rows(
    score: FloatArray, target: IndexArray, sample_weight: FloatArray, rows: IndexArray
) -> HeldOutScores:
    """Points of the rows for which the model has a score at all.

    As published, every score of a binary problem is a point; a multi-class calibrator is told
    how many rows there are.
    """
    scored = is_scored(score)
    rows = rows[scored]
    points = HeldOutScores(score[scored], target[rows], sample_weight[rows], rows)
    return points.per_row() if score.ndim == 2 else points
