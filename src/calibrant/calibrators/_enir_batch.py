"""ENIR for many small problems at once, such as those of all pairs of classes."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._core.binning import run_starts
from calibrant._core.merging import Forest, Leaves, merge_leaves
from calibrant._core.probability_floor import PSEUDO_COUNT, floor_frequencies
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators._point_batches import PointBatch
from calibrant.calibrators.enir import (
    ENIR,
    NEGLIGIBLE_EXCESS,
    check_criterion,
    log_likelihood_terms,
)


def fit_enirs(unfitted: ENIR, batch: PointBatch) -> list[ENIR]:
    """Fit a copy of an ENIR to each problem of a batch.

    Takes memory proportional to the sum of the squares of the numbers of points.

    Parameters
    ----------
    unfitted : ENIR
        The calibrator to copy.
    batch : PointBatch
        The points of the problems, sorted by score and without ties.

    Returns
    -------
    list of ENIR
        The fitted calibrators, which are equal to those of ``ENIR.fit`` up to rounding.
    """
    weight, first_point = batch.weight, batch.first
    paths = _make_paths(batch.target, weight, first_point)
    nodes, model = paths.memberships()
    values = paths.nodes.mean[nodes] + paths.lambdas[model] * paths.nodes.slope[nodes]

    total = np.add.reduceat(weight, first_point)
    penalties = check_criterion(unfitted.criterion)(
        paths.n_groups.astype(float), total[paths.problem]
    )
    terms = log_likelihood_terms(values, paths.nodes.mean[nodes], paths.nodes.weight[nodes])
    criterion = penalties - 2.0 * np.bincount(model, terms, len(paths.lambdas))
    weights = _ensemble_weights(criterion, paths.problem)
    if unfitted.floored:
        positive = np.add.reduceat(weight * batch.target, first_point)
        overall = (positive + PSEUDO_COUNT) / (total + 2.0 * PSEUDO_COUNT)
        values = floor_frequencies(values, paths.nodes.weight[nodes], overall[paths.problem][model])
    mean = _ensemble_means(paths, np.bincount(nodes, weights[model] * values, len(paths.formed)))

    is_first = np.concatenate([[True], paths.problem[1:] != paths.problem[:-1]])
    groups = nodes[is_first[model]]
    groups = groups[np.argsort(paths.nodes.start[groups])]
    point, proba = _thresholds(
        paths.nodes.start[groups], paths.nodes.stop[groups], mean[groups], first_point
    )
    score = batch.score[point]
    place = np.append(np.searchsorted(point, first_point), len(point))
    used = weights > 0
    weights, lambdas, n_groups = weights[used], paths.lambdas[used], paths.n_groups[used]
    model_place = np.searchsorted(paths.problem[used], np.arange(len(batch) + 1))
    fitted = []
    bounds = zip(pairwise(place.tolist()), pairwise(model_place.tolist()), strict=True)
    for (begin, end), (first_model, end_model) in bounds:
        enir = copy(unfitted)
        enir.X_thresholds_, enir.y_thresholds_ = score[begin:end], proba[begin:end]
        enir.weights_ = weights[first_model:end_model]
        enir.lambdas_ = lambdas[first_model:end_model]
        enir.n_groups_ = n_groups[first_model:end_model]
        fitted.append(enir)
    return fitted


@dataclass(frozen=True, eq=False)
class _Paths:
    """The near-isotonic paths of several problems, laid end to end.

    The paths of all problems share one sequence of steps. A problem starts with a step at
    lambda = 0, in which there are only leaves, followed by one step for each merge. A node is a
    group from the step that forms it until the step that consumes it.

    Attributes
    ----------
    nodes : Forest
        The nodes and merges of all problems, with points and nodes numbered over all of them.
    formed, consumed : ndarray of shape (n_nodes,)
        The steps that form and consume each node.
    merged : ndarray of shape (n_merges,)
        The node that each merge forms.
    lambdas : ndarray of shape (n_models,)
        The penalties of the models of all problems: the distinct breakpoints except 0, or 0 if
        it is the only one.
    last_step : ndarray of shape (n_models,)
        The last step of each model.
    problem : ndarray of shape (n_models,)
        The problem of each model.
    n_groups : ndarray of shape (n_models,)
        The number of groups of each model.
    """

    nodes: Forest
    formed: IndexArray
    consumed: IndexArray
    merged: IndexArray
    lambdas: FloatArray
    last_step: IndexArray
    problem: IndexArray
    n_groups: IndexArray

    def memberships(self) -> tuple[IndexArray, IndexArray]:
        """Return the nodes and the models in which they are groups, as two arrays."""
        first = np.searchsorted(self.last_step, self.formed)
        count = np.searchsorted(self.last_step, self.consumed) - first
        skipped = np.cumsum(count) - count
        model = np.arange(count.sum()) + np.repeat(first - skipped, count)
        return np.repeat(np.arange(len(count)), count), model


def _make_paths(target: FloatArray, weight: FloatArray, first_point: IndexArray) -> _Paths:
    """Compute the paths of several problems, given the first point of each."""
    forests, n_leaves = _merge(target, weight, first_point)
    n_nodes = np.array([len(forest.start) for forest in forests])
    n_merges = n_nodes - n_leaves
    first_node = np.cumsum(n_nodes) - n_nodes
    first_step = np.cumsum(n_merges + 1) - (n_merges + 1)

    number = np.arange(n_nodes.sum()) - np.repeat(first_node + n_leaves - 1, n_nodes)
    formed = np.repeat(first_step, n_nodes) + np.maximum(number, 0)
    merged = np.flatnonzero(number > 0)
    nodes = Forest._make(np.concatenate(arrays) for arrays in zip(*forests, strict=True))
    nodes = nodes._replace(parts=nodes.parts + np.repeat(first_node, n_merges)[:, None])
    consumed = np.repeat(first_step + n_merges + 1, n_nodes)
    consumed[nodes.parts] = formed[merged][:, None]

    lambdas = np.zeros(n_merges.sum() + len(n_merges))
    lambdas[formed[merged]] = nodes.merged_at
    changes = lambdas[1:] > lambdas[:-1]
    changes[first_step[1:] - 1] = True
    step = run_starts(changes)
    last_step = np.concatenate([step[1:], [len(lambdas)]]) - 1
    problem = np.searchsorted(first_step, step, side="right") - 1
    is_model = (step > first_step[problem]) | (np.bincount(problem)[problem] == 1)
    step, last_step, problem = step[is_model], last_step[is_model], problem[is_model]
    return _Paths(
        nodes=nodes,
        formed=formed,
        consumed=consumed,
        merged=merged,
        lambdas=lambdas[step],
        last_step=last_step,
        problem=problem,
        n_groups=n_leaves[problem] - (last_step - first_step[problem]),
    )


def _merge(
    target: FloatArray, weight: FloatArray, first_point: IndexArray
) -> tuple[list[Forest], IndexArray]:
    """Return the merges of each problem and its number of leaves."""
    changes = target[1:] != target[:-1]
    changes[first_point[1:] - 1] = True
    first = run_starts(changes)
    leaves = Leaves(
        start=first,
        stop=np.concatenate([first[1:], [len(target)]]),
        weight=np.add.reduceat(weight, first),
        total=np.add.reduceat(weight * target, first),
        mean=target[first],
    )
    bounds = np.append(np.searchsorted(first, first_point), len(first))
    falls = np.concatenate([leaves.mean[1:] < leaves.mean[:-1], [False]])
    falls[bounds[1:] - 1] = False
    has_falls = np.logical_or.reduceat(falls, bounds[:-1])
    forests = []
    for (begin, end), must_merge in zip(pairwise(bounds.tolist()), has_falls, strict=True):
        part = Leaves._make(array[begin:end] for array in leaves)
        forests.append(merge_leaves(part) if must_merge else _unmerged(part))
    return forests, np.diff(bounds)


def _unmerged(leaves: Leaves) -> Forest:
    """Return the merges of an increasing sequence: none."""
    start, stop, weight, _, mean = leaves
    no_parts = np.empty((0, 2), dtype=np.intp)
    return Forest(start, stop, weight, mean, np.zeros(len(start)), no_parts, np.empty(0))


def _ensemble_weights(criterion: FloatArray, problem: IndexArray) -> FloatArray:
    """Return the weights of the models of each problem, proportional to exp(-criterion / 2)."""
    first = run_starts(problem[1:] != problem[:-1])
    last = np.append(first[1:], len(problem)) - 1
    # If AICc is infinite for every model, use the simplest, the isotonic one.
    criterion[last] = np.minimum(criterion[last], np.finfo(np.float64).max)
    excess = criterion - np.minimum.reduceat(criterion, first)[problem]
    weights = np.where(excess > NEGLIGIBLE_EXCESS, 0.0, np.exp(-excess / 2.0))
    return weights / np.add.reduceat(weights, first)[problem]


def _ensemble_means(paths: _Paths, contribution: NDArray[Any]) -> FloatArray:
    """Add to the contribution of each node to the weighted mean those of all its ancestors."""
    mean = contribution.tolist()  # numbers are faster than elements of an array
    merges = zip(paths.merged[::-1].tolist(), paths.nodes.parts[::-1].tolist(), strict=True)
    for merged, (a, b) in merges:
        mean[a] += mean[merged]
        mean[b] += mean[merged]
    return np.array(mean)


def _thresholds(
    start: IndexArray, stop: IndexArray, value: FloatArray, first_point: IndexArray
) -> tuple[IndexArray, FloatArray]:
    """Return the points between which the maps are linear, and their probabilities.

    These are the first and the last point of each group, or the only one, without the inner
    points of constant stretches.
    """
    ends = np.array([start, stop - 1]).T.ravel()
    distinct = run_starts(ends[1:] > ends[:-1])
    point, proba = ends[distinct], np.repeat(value, 2)[distinct].clip(0.0, 1.0)
    changes = np.ones(len(point) + 1, dtype=bool)
    changes[1:-1] = proba[1:] != proba[:-1]
    changes[np.searchsorted(point, first_point)] = True
    kept = changes[:-1] | changes[1:]
    return point[kept], proba[kept]
