"""Held-out scores in closed form, checked against refits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from calibrant._core.problems import ProblemSplit
from calibrant._core.typing import FloatArray
from calibrant.generation.closed_form.batches import SplitBatch, SplitScores
from calibrant.generation.closed_form.preprocessing import as_numbers, feature_tables
from calibrant.generation.closed_form.registry import Plan, find_plan

# The largest difference from the refit of one split. Keeps all scores within 1e-8 of refits.
REFIT_TOLERANCE = 1e-9
# p (1 - p) of a score that is well away from 0 and 1.
INFORMATIVE_VARIANCE = 0.01
# The approximate size of the arrays of a batch (about 30 MB), unless a single split needs more.
MAX_ARRAY_SIZE = 2**22


def closed_form_scores(
    estimator: Any,
    X: Any,
    fit_params: dict[str, Any],
    splits: list[ProblemSplit],
    refit: Callable[[Sequence[int]], list[FloatArray]],
) -> list[FloatArray]:
    """Compute the scores of the test rows of each split, with as few refits as possible.

    Parameters
    ----------
    estimator : classifier
        The estimator to score as if it were fitted on the training rows of each split.
    X : array-like of shape (n_samples, n_features)
        All training rows.
    fit_params : dict
        Parameters of ``estimator.fit`` other than X and y.
    splits : list of ProblemSplit
        The splits.
    refit : callable
        Takes positions in ``splits`` and returns the scores of these splits by refitting.

    Returns
    -------
    list of ndarray
        The scores of each split, within 1e-8 of those of a refit.

    Notes
    -----
    Three checks keep the scores equal to those of refits:

    - The first split is always refitted, so that the estimator raises its errors and warnings.
    - One split with scores away from 0 and 1 is refitted and compared with its closed form. If
      they differ, as they would with a version of scikit-learn that computes something else, all
      splits are refitted.
    - A split is refitted if rounding or ties could change its scores. All splits are refitted if
      computing the closed form issues a warning.
    """
    plan = find_plan(estimator, fit_params)
    if plan is None or len(splits) < 2:
        return refit(range(len(splits)))
    refitted = {0: refit([0])[0]}
    scores = _unchecked_scores(plan, X, splits)
    checked = _most_informative(scores)
    if checked is not None:
        if checked not in refitted:
            refitted[checked] = refit([checked])[0]
        if not _agree(scores[checked], refitted[checked]):
            scores = [None] * len(splits)
    missing = [k for k, score in enumerate(scores) if score is None and k not in refitted]
    if missing:
        refitted.update(zip(missing, refit(missing), strict=True))
    return [refitted[k] if score is None else score for k, score in enumerate(scores)]


def _most_informative(scores: SplitScores) -> int | None:
    """Return the first split with a score well away from 0 and 1, or else the next best.

    Scores close to 0 or 1 agree with a refit even if they are computed from other densities.
    """
    position, largest_variance = None, -1.0
    for k, score in enumerate(scores):
        variance = -1.0 if score is None else float((score * (1.0 - score)).max())
        if variance > largest_variance:
            position, largest_variance = k, variance
        if variance > INFORMATIVE_VARIANCE:
            break
    return position


def _agree(score: FloatArray | None, refitted: FloatArray) -> bool:
    return score is not None and bool((np.abs(score - refitted) <= REFIT_TOLERANCE).all())


def _unchecked_scores(plan: Plan, X: Any, splits: list[ProblemSplit]) -> SplitScores:
    """Return the scores in closed form; None for splits without one."""
    scores: SplitScores = [None] * len(splits)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for table in feature_tables(plan.steps, X, splits, can_scale=plan.form.can_scale):
            features = as_numbers(table.X)
            if features is None or (issparse(features) and not plan.form.accepts_sparse):
                continue
            for chunk in _chunks([splits[k].split for k in table.positions], features.shape):
                positions = [table.positions[k] for k in chunk]
                scale = None if table.scale is None else table.scale[chunk]
                batch_splits = [splits[k] for k in positions]
                batch = SplitBatch(features, batch_splits, plan.sample_weight, scale)
                if batch.is_regular():
                    for problem, problem_scores in plan.form.scores(plan.final, batch):
                        for k, score in zip(problem.positions, problem_scores, strict=True):
                            scores[positions[k]] = score
    # Refits let the estimator issue its own warnings.
    return [None] * len(splits) if caught else scores


def _chunks(full_splits: list[int], shape: tuple[int, int]) -> Iterable[list[int]]:
    """Group splits by the resampling splits they restrict, so that arrays stay small."""
    n_full_splits = max(1, MAX_ARRAY_SIZE // (sum(shape) * shape[1]))
    chunks: dict[int, list[int]] = {}
    for k, full_split in enumerate(full_splits):
        chunks.setdefault(full_split // n_full_splits, []).append(k)
    return chunks.values()
