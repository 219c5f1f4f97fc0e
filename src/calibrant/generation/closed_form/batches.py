"""Many splits as arrays, and their scores from joint log densities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._core.problems import ProblemSplit, ScoringProblem, problem_score
from calibrant._core.typing import BoolArray, FloatArray, IndexArray

# Scores of the test rows of each split; None where a refit is needed.
SplitScores = list[FloatArray | None]

# The largest rounding error of a score. Far below 1e-8, since calibration maps can be steep.
SCORE_TOLERANCE = 1e-11
# The relative rounding error of a sum of log densities.
ROUNDING = 64 * float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class ProblemBatch:
    """The splits of one problem in a batch.

    Attributes
    ----------
    problem : ScoringProblem
        The problem.
    positions : ndarray of shape (n_splits,)
        The positions of the splits in the batch.
    full_split : ndarray of shape (n_splits,)
        The row of ``SplitBatch.in_training`` that each split is a restriction of.
    label_index : ndarray of shape (n_samples,)
        The index of each row's label; -1 for rows outside the problem.
    label_cells : list of ndarray
        The cells that make up each label.
    scale : ndarray of shape (n_splits, n_features) or (n_splits, 1)
        The divisors of the features in each split.
    tests : list of ndarray
        The test rows of each split.
    """

    problem: ScoringProblem
    positions: IndexArray
    full_split: IndexArray
    label_index: IndexArray
    label_cells: list[IndexArray]
    scale: FloatArray
    tests: list[IndexArray]

    @cached_property
    def test_rows(self) -> IndexArray:
        """The test rows of all splits, split by split, of shape (n_points,)."""
        return np.concatenate(self.tests)

    @cached_property
    def test_split(self) -> IndexArray:
        """The split (0, 1, ...) of each of ``test_rows``."""
        return np.repeat(np.arange(len(self.tests)), [len(test) for test in self.tests])

    def scores_from_density(
        self, joint: FloatArray, proba: FloatArray, rounding: float | FloatArray = ROUNDING
    ) -> SplitScores:
        r"""Return the scores of the splits in which rounding errors are small.

        Parameters
        ----------
        joint : ndarray of shape (n_labels, n_points)
            Joint log densities of label and row, up to a constant per point.
        proba : ndarray of shape (n_labels, n_points)
            Probabilities of the labels, computed from ``joint`` as the estimator computes
            them, so that scores close to 0 and 1 have the same ties.
        rounding : float or ndarray of shape (n_points,)
            The relative error of ``joint``.

        Returns
        -------
        list of ndarray or None
            The scores of each split; None if the error of a score could exceed
            `SCORE_TOLERANCE`.

        Notes
        -----
        A relative error :math:`\varepsilon` of the log densities :math:`\ell_k` changes the
        probabilities :math:`p_k \propto e^{\ell_k}` to first order by at most

        .. math:: \varepsilon \sum_k p_k (1 - p_k) \, |\ell_k| .
        """
        with np.errstate(invalid="ignore"):
            error = rounding * (proba * (1.0 - proba) * np.abs(joint)).sum(axis=0)
        return self.scores_where(error < SCORE_TOLERANCE, proba)

    def scores_where(self, is_exact: BoolArray, proba: FloatArray) -> SplitScores:
        """Return the scores of the splits whose points are all exact.

        Parameters
        ----------
        is_exact : ndarray of shape (n_points,)
            Whether the probabilities of a point equal those of a refit.
        proba : ndarray of shape (n_labels, n_points)
            Probabilities of the labels.

        Returns
        -------
        list of ndarray or None
            The scores of each split; None if one of its points is not exact.
        """
        score = problem_score(proba.T, is_proba=True, binary=self.problem.is_binary)
        n_inexact = np.bincount(self.test_split[~is_exact], minlength=len(self.tests))
        ends = np.cumsum([len(test) for test in self.tests])
        return [
            None if inexact else score[start:end]
            for inexact, start, end in zip(n_inexact, [0, *ends[:-1]], ends, strict=True)
        ]


# What a closed form yields: the splits of one problem and their scores.
ProblemScores = tuple[ProblemBatch, SplitScores]


@dataclass(frozen=True, eq=False)
class SplitBatch:
    """Splits of one or more problems that share one table of features.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        All training rows.
    splits : list of ProblemSplit
        The splits to score.
    sample_weight : ndarray of shape (n_samples,) or None
        Sample weights for the estimator.
    scale : ndarray of shape (n_splits, n_features) or None
        The divisors of the features in each split; None means that features are not scaled.

    Notes
    -----
    Rows with the same label in every problem form a *cell*. Each label of a problem is a union
    of cells, so statistics of the training rows are computed once per cell and resampling split
    and then pooled for every problem.
    """

    X: Any
    splits: list[ProblemSplit]
    sample_weight: FloatArray | None = None
    scale: FloatArray | None = None

    @cached_property
    def _full_split(self) -> IndexArray:
        """The resampling split (0, 1, ...) that each split is a restriction of."""
        return np.unique([split.split for split in self.splits], return_inverse=True)[1]

    @cached_property
    def in_training(self) -> BoolArray:
        """Whether each resampling split trains on each row, of shape (n_full, n_samples)."""
        in_training = np.zeros((self._full_split.max() + 1, self.X.shape[0]), dtype=bool)
        size = [len(split.train) for split in self.splits]
        rows = np.concatenate([split.train for split in self.splits])
        in_training[np.repeat(self._full_split, size), rows] = True
        return in_training

    @cached_property
    def _label_index(self) -> dict[ScoringProblem, IndexArray]:
        """The index of each row's label in each problem; -1 for rows outside the problem."""
        label_index = {}
        for problem in dict.fromkeys(split.problem for split in self.splits):
            label_index[problem] = np.full(len(problem.labels), -1)
            _, index = np.unique(problem.labels[problem.rows], return_inverse=True)
            label_index[problem][problem.rows] = index
        return label_index

    @cached_property
    def cell(self) -> IndexArray:
        """The cell of each row, of shape (n_samples,)."""
        cell = np.zeros(self.X.shape[0], dtype=np.intp)
        for index in self._label_index.values():
            cell = np.unique(cell * (index.max() + 2) + index + 1, return_inverse=True)[1]
        return cell

    @property
    def n_full_splits(self) -> int:
        """The number of resampling splits."""
        return len(self.in_training)

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return int(self.cell.max()) + 1

    @cached_property
    def problems(self) -> list[ProblemBatch]:
        """The splits by problem."""
        _, first_row = np.unique(self.cell, return_index=True)
        positions: dict[ScoringProblem, list[int]] = {problem: [] for problem in self._label_index}
        for position, split in enumerate(self.splits):
            positions[split.problem].append(position)
        batches = []
        for problem, index in positions.items():
            labels = self._label_index[problem]
            batches.append(
                ProblemBatch(
                    problem=problem,
                    positions=np.array(index),
                    full_split=self._full_split[index],
                    label_index=labels,
                    label_cells=[
                        np.flatnonzero(labels[first_row] == label)
                        for label in range(labels.max() + 1)
                    ],
                    scale=np.ones((len(index), 1)) if self.scale is None else self.scale[index],
                    tests=[self.splits[position].test for position in index],
                )
            )
        return batches

    def is_regular(self) -> bool:
        """Return whether training rows have positive weights and occur only once per split."""
        if self.sample_weight is not None:
            if self.sample_weight.shape != self.cell.shape:
                return False
            weight = self.sample_weight[self.in_training.any(axis=0)]
            if not (np.isfinite(weight) & (weight > 0)).all():
                return False
        return all(
            np.array_equal(
                np.count_nonzero(self.in_training[batch.full_split] & batch.problem.member, axis=1),
                [len(self.splits[position].train) for position in batch.positions],
            )
            for batch in self.problems
        )
