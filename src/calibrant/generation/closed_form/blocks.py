"""What the families share: the parts of many splits as arrays, and scores from joint densities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._core.problems import ProblemSplit, ScoringProblem, problem_score
from calibrant._core.typing import BoolArray, FloatArray, IndexArray

# The scores of each part; None where only a refit can tell.
Scores = list[FloatArray | None]

# How far rounding may move a score: far below 1e-8, since calibrators can be steep.
TOLERANCE = 1e-11
# Rounding in a sum of log densities, relative to the sum.
ROUNDING = 64 * float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Share:
    """The parts of one problem in a block.

    Attributes
    ----------
    problem : ScoringProblem
        The problem.
    index : ndarray of shape (n_parts,)
        The positions of its parts in the block.
    split : ndarray of shape (n_parts,)
        The split of the block that each part is cut from.
    labels : ndarray of shape (n_samples,)
        The number of each row's label; -1 outside of the problem.
    cells : list of ndarray
        The cells that make up each label.
    scale : ndarray of shape (n_parts, n_features)
        What the features of each part are to be divided by.
    rows, part : ndarray of shape (n_points,)
        All rows to score, part after part, and the part (0, 1, ...) of each.
    """

    problem: ScoringProblem
    index: IndexArray
    split: IndexArray
    labels: IndexArray
    cells: list[IndexArray]
    scale: FloatArray
    rows: IndexArray
    part: IndexArray

    def judged(
        self, joint: FloatArray, proba: FloatArray, rounding: float | FloatArray = ROUNDING
    ) -> Scores:
        """Scores of the parts from joint log densities of labels and rows.

        Parameters
        ----------
        joint : ndarray of shape (n_labels, n_points)
            Log densities, but for a constant at each point.
        proba : ndarray of shape (n_labels, n_points)
            Probabilities of the labels, computed from these just as the estimator does: it
            decides which scores are tied where they are all but certain.
        rounding : float or ndarray of shape (n_points,)
            The relative error of the log densities.

        Returns
        -------
        list of ndarray or None
            None for parts with a score that rounding could move by more than `TOLERANCE`.
        """
        with np.errstate(invalid="ignore"):
            error = rounding * (proba * (1.0 - proba) * np.abs(joint)).sum(axis=0)
        return self.by_part(proba, error < TOLERANCE)

    def by_part(self, proba: FloatArray, certain: BoolArray) -> Scores:
        """Scores of the parts; None for parts with a point that is not certain.

        Parameters
        ----------
        proba : ndarray of shape (n_labels, n_points)
            Probabilities of the labels.
        certain : ndarray of shape (n_points,)
            Whether they are those of a refit.
        """
        score = problem_score(proba.T, is_proba=True, binary=self.problem.is_binary)
        doubts = np.bincount(self.part[~certain], minlength=len(self.index))
        ends = np.cumsum(np.bincount(self.part, minlength=len(self.index)))
        return [
            None if doubt else score[start:end]
            for doubt, start, end in zip(doubts, [0, *ends], ends, strict=False)
        ]


ShareScores = tuple[Share, Scores]


@dataclass(frozen=True, eq=False)
class Block:
    """Parts of one or more splits, on one table of features.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        All training rows.
    parts : list of ProblemSplit
        The parts to score.
    weight : ndarray of shape (n_samples,) or None
        What the estimator gets as sample weights.
    scale : ndarray of shape (n_parts, n_features) or None
        What the features of each part are still to be divided by.
    """

    X: Any
    parts: list[ProblemSplit]
    weight: FloatArray | None = None
    scale: FloatArray | None = None

    @cached_property
    def _split(self) -> IndexArray:
        """The split that each part is cut from: 0, 1, ..."""
        return np.unique([part.split for part in self.parts], return_inverse=True)[1]

    @cached_property
    def trained(self) -> BoolArray:
        """Whether each row is trained on in each split, of shape (n_splits, n_samples)."""
        trained = np.zeros((self._split.max() + 1, self.X.shape[0]), dtype=bool)
        size = [len(part.train) for part in self.parts]
        rows = np.concatenate([part.train for part in self.parts])
        trained[np.repeat(self._split, size), rows] = True
        return trained

    @cached_property
    def _labels(self) -> dict[ScoringProblem, IndexArray]:
        """The number of each row's label, for each problem; -1 outside of it."""
        labels = {}
        for problem in dict.fromkeys(part.problem for part in self.parts):
            labels[problem] = np.full(len(problem.labels), -1)
            _, own = np.unique(problem.labels[problem.rows], return_inverse=True)
            labels[problem][problem.rows] = own
        return labels

    @cached_property
    def cell(self) -> IndexArray:
        """The cell of each row: rows of one cell have one label in every problem."""
        cell = np.zeros(self.X.shape[0], dtype=np.intp)
        for labels in self._labels.values():
            cell = np.unique(cell * (labels.max() + 2) + labels + 1, return_inverse=True)[1]
        return cell

    @cached_property
    def shares(self) -> list[Share]:
        """The parts by problem."""
        _, first = np.unique(self.cell, return_index=True)
        positions: dict[ScoringProblem, list[int]] = {problem: [] for problem in self._labels}
        for position, part in enumerate(self.parts):
            positions[part.problem].append(position)
        shares = []
        for problem, index in positions.items():
            labels = self._labels[problem]
            cells = [np.flatnonzero(labels[first] == k) for k in range(labels.max() + 1)]
            tests = [self.parts[position].test for position in index]
            shares.append(
                Share(
                    problem,
                    np.array(index),
                    self._split[index],
                    labels,
                    cells,
                    np.ones((len(index), 1)) if self.scale is None else self.scale[index],
                    np.concatenate(tests),
                    np.repeat(np.arange(len(tests)), [len(test) for test in tests]),
                )
            )
        return shares

    def is_plain(self) -> bool:
        """Whether every training row has a weight, and no part has one twice."""
        if self.weight is not None:
            if self.weight.shape != self.cell.shape:
                return False
            weight = self.weight[self.trained.any(axis=0)]
            if not (np.isfinite(weight) & (weight > 0)).all():
                return False
        return all(
            np.array_equal(
                np.count_nonzero(self.trained[share.split] & share.problem.member, axis=1),
                [len(self.parts[position].train) for position in share.index],
            )
            for share in self.shares
        )
