"""Nearest neighbors: one search among all rows for every split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.generation.closed_form.batches import (
    ProblemBatch,
    ProblemScores,
    SplitBatch,
    SplitScores,
)

# Metrics that depend on two rows only.
METRICS = {"minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev"}
# Metrics that depend on all training rows unless metric_params are given.
METRICS_WITH_PARAMS = {"mahalanobis", "seuclidean"}
# Squared distances that differ by less than this, relative to the squared norm of the rows, are
# tied: which of the rows a search finds depends on its algorithm and on the order of the rows.
TIE_TOLERANCE = 1e-12
# Brute-force searches compute squared distances from squared norms, with rounding errors of this
# size relative to the squared norms. If that changes a distance by more than the relative error
# MAX_DISTANCE_ERROR, votes weighted by distance are left to refits, which may search differently.
DISTANCE_ROUNDING = 8 * float(np.finfo(float).eps)
MAX_DISTANCE_ERROR = 1e-9
# A search looks for this many standard deviations more neighbors than a split needs on average.
SEARCH_MARGIN = 5.0
# The largest size of an array in one step of the vote.
MAX_ARRAY_SIZE = 2**20
# The largest number of neighbors that a search may find for all rows together.
MAX_NEIGHBORS = 2**24

# Maps a number of neighbors to the distances and row numbers of the nearest neighbors of each
# row of a problem, in order of distance.
Search = Callable[[int], tuple[FloatArray, IndexArray]]


def neighbor_scores(estimator: KNeighborsClassifier, batch: SplitBatch) -> Iterator[ProblemScores]:
    """Compute the scores of `KNeighborsClassifier` as described in `ClosedForm`.

    Yields nothing for callable metrics and weights, and for metrics that depend on all training
    rows.

    Notes
    -----
    The neighbors of a row among the training rows of a split are its neighbors among all rows,
    in the same order, without the held-out rows. If rows with different labels tie for the last
    place, the choice between them depends on the estimator's search, and the split is refitted.
    """
    is_known = isinstance(estimator.metric, str) and (
        estimator.metric in METRICS
        or (estimator.metric in METRICS_WITH_PARAMS and bool(estimator.metric_params))
    )
    if not is_known or estimator.weights not in (None, "uniform", "distance"):
        return
    parameters = estimator.get_params(deep=False)
    del parameters["n_neighbors"], parameters["weights"]

    @lru_cache(maxsize=1)  # all one-vs-rest problems have the same rows
    def search(member: bytes, n_neighbors: int) -> tuple[FloatArray, IndexArray]:
        rows = np.flatnonzero(np.frombuffer(member, dtype=bool))
        finder = NearestNeighbors(n_neighbors=n_neighbors, **parameters).fit(batch.X[rows])
        distance, neighbor = finder.kneighbors(batch.X[rows])
        return distance, rows[neighbor]

    for problem in batch.problems:
        search_rows = partial(search, problem.problem.member.tobytes())
        yield problem, _vote(estimator, batch, problem, search_rows)


def _vote(
    estimator: KNeighborsClassifier, batch: SplitBatch, problem: ProblemBatch, search: Search
) -> SplitScores:
    """Return the scores of one problem; None for all splits if a search would be too large."""
    rows, k = problem.problem.rows, estimator.n_neighbors
    is_train_row = batch.in_training[problem.full_split] & problem.problem.member
    n_train = np.count_nonzero(is_train_row, axis=1).min()
    # One more neighbor than needed shows whether the last one is tied.
    surplus = 1.0 + SEARCH_MARGIN * (1.0 + np.sqrt(k * (1.0 - n_train / len(rows))))
    width = min(len(rows), int((k + surplus) * len(rows) / n_train))
    line = np.searchsorted(rows, problem.test_rows)
    squared_norm = np.square(batch.X[rows]).sum(axis=1).max()
    tie = TIE_TOLERANCE * squared_norm
    least = np.sqrt(DISTANCE_ROUNDING / (2.0 * MAX_DISTANCE_ERROR) * squared_norm)
    votes = np.empty((len(problem.label_cells), len(line)))
    is_exact = np.empty(len(line), dtype=bool)
    first = 0
    while first < len(line):
        if n_train < k or len(rows) * width > MAX_NEIGHBORS:
            return [None] * len(problem.tests)
        chunk = slice(first, first + max(1, MAX_ARRAY_SIZE // width))
        distance, neighbor = search(width)
        distance, neighbor = distance[line[chunk]], neighbor[line[chunk]]
        full_split = problem.full_split[problem.test_split[chunk], None]
        in_training = batch.in_training[full_split, neighbor]
        if width < len(rows) and np.count_nonzero(in_training, axis=1).min() <= k:
            width = min(len(rows), 2 * width)
            continue
        label = problem.label_index[neighbor]
        has_label = [in_training & (label == index) for index in range(len(votes))]
        is_chosen = in_training & (np.cumsum(in_training, axis=1) <= k)
        weight = (
            _inverse_distance(distance, is_chosen) if estimator.weights == "distance" else is_chosen
        )
        for label_votes, is_label in zip(votes, has_label, strict=True):
            # A cumulative sum adds the nearest neighbors first, as the estimator does.
            label_votes[chunk] = np.cumsum(weight * is_label, axis=1)[:, -1]
        is_exact[chunk] = _is_unaffected_by_ties(
            distance, is_chosen, has_label, tie, found_all=width == len(rows)
        )
        if estimator.weights == "distance":
            is_exact[chunk] &= ~np.any(is_chosen & (distance > 0) & (distance < least), axis=1)
        first = chunk.stop
    return problem.scores_where(is_exact, votes / votes.sum(axis=0))


def _inverse_distance(distance: FloatArray, is_chosen: BoolArray) -> FloatArray:
    """Return the weights of neighbors; if some are at distance 0, all others get weight 0."""
    is_same = is_chosen & (distance == 0)
    inverse = np.divide(1.0, distance, out=np.zeros_like(distance), where=is_chosen & ~is_same)
    return np.where(is_same.any(axis=1, keepdims=True), is_same, inverse)


def _is_unaffected_by_ties(
    distance: FloatArray,
    is_chosen: BoolArray,
    has_label: list[BoolArray],
    tie: float,
    *,
    found_all: bool,
) -> BoolArray:
    """Return whether every choice among the rows tied with the last neighbor gives the same vote.

    Parameters
    ----------
    distance : ndarray of shape (n_points, n_found)
        The distances of the rows that the search found.
    is_chosen : ndarray of shape (n_points, n_found)
        Whether each of them is one of the nearest training rows.
    has_label : list of ndarray of shape (n_points, n_found)
        For each label, whether each of them is a training row with that label.
    tie : float
        Squared distances that differ by at most this are tied.
    found_all : bool
        Whether the search found all rows.

    Returns
    -------
    ndarray of shape (n_points,)
        One flag per point.
    """
    last = np.square(np.where(is_chosen, distance, 0.0).max(axis=1, keepdims=True))
    in_training = np.any(has_label, axis=0)
    gap = np.where(in_training, np.square(distance) - last, -np.inf)
    is_tied = np.abs(gap) <= tie + TIE_TOLERANCE * last
    has_several_labels = np.sum([(is_tied & label).any(axis=1) for label in has_label], axis=0) > 1
    # Rows that the search did not find may be tied too.
    may_have_more = (gap <= tie + TIE_TOLERANCE * last).all(axis=1) & (not found_all)
    return ~(is_tied & ~is_chosen).any(axis=1) | ~(has_several_labels | may_have_more)
