"""Scores of the held-out rows of splits, and their averages over the models that vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant._core.fitting import Fitter
from calibrant._core.held_out import HeldOutScores, scored_points
from calibrant._core.problems import ProblemSplit, ScoringProblem, is_scored
from calibrant._core.splits import make_draws
from calibrant._core.threads import one_blas_thread
from calibrant._core.training_data import TrainingData
from calibrant._core.typing import FloatArray, IndexArray

# One more model shows how far models differ. It takes little time on few rows.
MOST_TRAINING_ROWS = 2000


def score_splits(
    fitter: Fitter, splits: list[ProblemSplit], votes: list[bool]
) -> tuple[list[FloatArray], list[Any]]:
    """Score the test rows of each split.

    Models that vote are fitted; other scores are computed in closed form if possible.

    Parameters
    ----------
    fitter : Fitter
        The classifier and the training data.
    splits : list of ProblemSplit
        The splits of all problems.
    votes : list of bool
        Whether the model of each split votes.

    Returns
    -------
    scores : list of ndarray
        The scores of the test rows of each split.
    models : list
        The models that vote; None for splits whose model does not.
    """
    from calibrant.generation.closed_form import closed_form_scores  # slow to import

    seeds = fitter.draw_seeds(len(splits))
    scores: list[Any] = [None] * len(splits)
    models: list[Any] = [None] * len(splits)

    def refit(positions: Sequence[int]) -> list[FloatArray]:
        fitted = fitter.fit_and_score(
            [splits[k] for k in positions],
            seeds[list(positions)],
            [votes[k] for k in positions],
        )
        for k, (score, model) in zip(positions, fitted, strict=True):
            scores[k], models[k] = score, model
        return [score for score, _ in fitted]

    refit([k for k, votes_too in enumerate(votes) if votes_too])
    others = [k for k, votes_too in enumerate(votes) if not votes_too]
    with one_blas_thread():
        exact = closed_form_scores(
            fitter.estimator,
            fitter.data.X,
            fitter.data.fit_params,
            [splits[k] for k in others],
            lambda positions: refit([others[k] for k in positions]),
        )
    for k, score in zip(others, exact, strict=True):
        scores[k] = score
    return scores, models


def pool_scores(
    problem: ScoringProblem,
    splits: list[ProblemSplit],
    scores: list[FloatArray],
    data: TrainingData,
    n_voters: int,
) -> HeldOutScores:
    """Pool the scores of all splits of a problem.

    Parameters
    ----------
    problem : ScoringProblem
        The problem.
    splits : list of ProblemSplit
        Its splits.
    scores : list of ndarray
        The scores of their test rows.
    data : TrainingData
        The training data.
    n_voters : int
        The number of splits, at the beginning, whose models vote.

    Returns
    -------
    HeldOutScores
        One point for each score of a split that does not only provide a voter.
    """
    empty = np.empty(0) if problem.is_binary else np.empty((0, len(np.unique(data.y))))
    times = [split.times for split in splits]
    tests = [split.test for split, n in zip(splits, times, strict=True) for _ in range(n)]
    repeated = [score for score, n in zip(scores, times, strict=True) for _ in range(n)]
    rows = np.concatenate([np.empty(0, np.intp), *tests])
    score = np.concatenate([empty, *repeated])
    vote = None
    if n_voters:
        voting = np.concatenate([np.empty(0, np.intp), *(s.test for s in splits[:n_voters])])
        vote = _mean_by_row(np.concatenate([empty, *scores[:n_voters]]), voting, len(data.y))[rows]
    pooled = scored_points(score, problem.target, data.weight, rows, vote)
    factors = [split.variance_factor for split in splits if split.times]
    return replace(pooled, variance_factor=float(np.mean(factors))) if factors else pooled


def score_again(fitter: Fitter, problem: ScoringProblem, held_out: HeldOutScores) -> HeldOutScores:
    """Score some rows once more, by a model fitted on other rows.

    Parameters
    ----------
    fitter : Fitter
        The classifier and the training data.
    problem : ScoringProblem
        The problem.
    held_out : HeldOutScores
        One score of each row.

    Returns
    -------
    HeldOutScores
        Two scores of each of some rows.
    """
    data, rng = fitter.data, np.random.RandomState(0)
    rows = held_out.rows
    groups = None if data.groups is None else data.groups[rows]
    n_training = min(len(rows) // 2, MOST_TRAINING_ROWS)
    test = next(make_draws(data.y[rows], groups, 1.0 - n_training / len(rows), rng))
    scored = rng.permutation(np.flatnonzero(test))[:MOST_TRAINING_ROWS]
    # Rows that cannot be held out may be the only ones of their class.
    train = np.concatenate([rows[~test], np.setdiff1d(problem.rows, rows)])
    again = ProblemSplit(problem, train, rows[scored], 0)
    [score], _ = score_splits(fitter, [again], [False])
    both_scored = is_scored(score)
    scored, score = scored[both_scored], score[both_scored]
    points = held_out.take(np.concatenate([scored, scored]))
    # The variance of a pair of scores is half the sum of the variances of the two models.
    factor = 2.0 / (1.0 / again.variance_factor + 1.0 / (held_out.variance_factor or np.inf))
    return replace(
        points, score=np.concatenate([points.score[: len(scored)], score]), variance_factor=factor
    )


def _mean_by_row(score: FloatArray, rows: IndexArray, n_rows: int) -> FloatArray:
    """Return the mean score of each row; NaN for rows without a score."""
    total = np.zeros((n_rows, *score.shape[1:]))
    np.add.at(total, rows, score)
    count = np.bincount(rows, minlength=n_rows).reshape(-1, *[1] * (score.ndim - 1))
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
