"""Nearest neighbors: one search among all rows, from which each split takes its training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.generation.closed_form.blocks import (
    Block,
    Scores,
    Share,
    ShareScores,
)

# Distances that depend on two rows alone; the second kind only if given its parameters.
METRICS = {"minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev"}
METRICS_OF_DATA = {"mahalanobis", "seuclidean"}
# Squared distances this near, beside the squared length of rows, are tied: which of the rows
# a search finds depends on how it computes and on their order.
TIE = 1e-12
# How many standard deviations more neighbors are searched than are needed on average.
MARGIN = 5.0
# Work arrays hold this many numbers at most, and searches find this many neighbors in all.
MOST_NUMBERS = 2**20
MOST_NEIGHBORS = 2**24

Flags = BoolArray
# The number of neighbors -> their distances and row numbers, nearest first, a line for each
# row of a problem.
Search = Callable[[int], tuple[FloatArray, IndexArray]]


def neighbor_scores(estimator: KNeighborsClassifier, block: Block) -> Iterator[ShareScores]:
    """Scores of `KNeighborsClassifier`; none for metrics and weights of the user's own."""
    known = isinstance(estimator.metric, str) and (
        estimator.metric in METRICS
        or (estimator.metric in METRICS_OF_DATA and bool(estimator.metric_params))
    )
    if not known or estimator.weights not in (None, "uniform", "distance"):
        return
    parameters = estimator.get_params(deep=False)
    del parameters["n_neighbors"], parameters["weights"]

    @lru_cache(maxsize=1)  # One-vs-rest problems have the same rows.
    def search(member: bytes, number: int) -> tuple[FloatArray, IndexArray]:
        rows = np.flatnonzero(np.frombuffer(member, dtype=bool))
        finder = NearestNeighbors(n_neighbors=number, **parameters).fit(block.X[rows])
        distance, found = finder.kneighbors(block.X[rows])
        return distance, rows[found]

    for share in block.shares:
        among_own = partial(search, share.problem.member.tobytes())
        yield share, _vote(estimator, block, share, among_own)


def _vote(estimator: KNeighborsClassifier, block: Block, share: Share, search: Search) -> Scores:
    """Scores of one problem; None if neighbors are too many or too few."""
    rows, needed = share.problem.rows, estimator.n_neighbors
    n_train = np.count_nonzero(block.trained[share.split] & share.problem.member, axis=1).min()
    # One more than needed tells whether the last is tied.
    surplus = 1.0 + MARGIN * (1.0 + np.sqrt(needed * (1.0 - n_train / len(rows))))
    width = min(len(rows), int((needed + surplus) * len(rows) / n_train))
    line = np.searchsorted(rows, share.rows)
    tie = TIE * np.square(block.X[rows]).sum(axis=1).max()
    votes = np.empty((len(share.cells), len(line)))
    certain = np.empty(len(line), dtype=bool)
    first = 0
    while first < len(line):
        if n_train < needed or len(rows) * width > MOST_NEIGHBORS:
            return [None] * len(share.index)
        some = slice(first, first + max(1, MOST_NUMBERS // width))
        distance, neighbor = search(width)
        distance, neighbor = distance[line[some]], neighbor[line[some]]
        trained = block.trained[share.split[share.part[some], None], neighbor]
        if width < len(rows) and np.count_nonzero(trained, axis=1).min() <= needed:
            width = min(len(rows), 2 * width)
            continue
        labels = [trained & (share.labels[neighbor] == label) for label in range(len(votes))]
        chosen = trained & (np.cumsum(trained, axis=1) <= needed)
        weight = _weight(distance, chosen) if estimator.weights == "distance" else chosen
        for own, place in zip(labels, votes, strict=True):
            # One after the other, the nearest first, as the estimator adds them up.
            place[some] = np.cumsum(weight * own, axis=1)[:, -1]
        certain[some] = _are_certain(distance, chosen, labels, tie, all_found=width == len(rows))
        first = some.stop
    return share.by_part(votes / votes.sum(axis=0), certain)


def _weight(distance: FloatArray, chosen: Flags) -> FloatArray:
    """Inverse distances; rows in the very same place leave nothing to the others."""
    same = chosen & (distance == 0)
    inverse = np.divide(1.0, distance, out=np.zeros_like(distance), where=chosen & ~same)
    return np.where(same.any(axis=1, keepdims=True), same, inverse)


def _are_certain(
    distance: FloatArray, chosen: Flags, labels: list[Flags], tie: float, *, all_found: bool
) -> Flags:
    """Whether it does not matter which of the rows that are tied with the last are chosen."""
    last = np.square(np.where(chosen, distance, 0.0).max(axis=1, keepdims=True))
    trained = np.any(labels, axis=0)
    gap = np.where(trained, np.square(distance) - last, -np.inf)
    tied = np.abs(gap) <= tie + TIE * last
    mixed = np.sum([(tied & own).any(axis=1) for own in labels], axis=0) > 1
    # More that are tied may lie beyond those that were found.
    more = (gap <= tie + TIE * last).all(axis=1) & (not all_found)
    return ~(tied & ~chosen).any(axis=1) | ~(mixed | more)
