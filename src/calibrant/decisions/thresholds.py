"""The probabilities at which the cheapest decision changes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray
from calibrant.decisions.cheapest import check_costs


@dataclass(frozen=True)
class PairThresholds(Record):
    """The cheapest decisions if only two classes are possible.

    Attributes
    ----------
    first, second : label
        The two classes.
    threshold : tuple of float
        The probabilities of the second class at which the cheapest decision changes, in increasing
        order.
    decision : tuple of int
        The cheapest decisions below the first threshold, between the thresholds, and above the
        last one: one more than there are thresholds.
    """

    first: Any
    second: Any
    threshold: tuple[float, ...]
    decision: tuple[int, ...]


def implied_thresholds(
    costs: ArrayLike, *, labels: ArrayLike | None = None
) -> tuple[PairThresholds, ...]:
    r"""Return the probability thresholds that a cost matrix implies.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_decisions)
        Cost of each decision (column) for each true class (row), as for `decide`.
    labels : array-like of shape (n_classes,), default=None
        The labels of the classes, sorted as in the metrics. ``None`` means the row numbers.

    Returns
    -------
    tuple of PairThresholds
        The thresholds of each pair of classes; a single pair for two classes.

    Notes
    -----
    With two classes and two decisions, the second decision is cheaper if the probability of the
    second class exceeds

    .. math:: \frac{c_{01} - c_{00}}{(c_{01} - c_{00}) + (c_{10} - c_{11})} .

    With more decisions, there can be a range of probabilities for each, such as one in which
    another test is cheapest. With more classes, the regions in which each decision is cheapest are
    convex polytopes; the thresholds of a pair of classes are where an edge of the simplex of
    probabilities crosses their boundaries.

    Examples
    --------
    Missing an illness (second class) costs ten times as much as treating a healthy person.

    >>> from calibrant.decisions import implied_thresholds
    >>> (pair,) = implied_thresholds([[0, 1], [10, 0]])
    >>> [round(each, 3) for each in pair.threshold], pair.decision
    ([0.091], (0, 1))

    A test that costs 0.5 and reveals the class is worth it for probabilities in between:

    >>> (pair,) = implied_thresholds([[0, 1, 0.5], [10, 0, 0.5]])
    >>> [round(each, 3) for each in pair.threshold], pair.decision
    ([0.05, 0.5], (0, 2, 1))
    """
    matrix = check_costs(costs, None)
    names = list(range(len(matrix))) if labels is None else np.unique(labels).tolist()
    if len(names) != len(matrix):
        raise ValueError(
            f"labels must name each of the {len(matrix)} rows of costs, got {len(names)} labels. "
            "Omit labels to number the rows."
        )
    return tuple(
        PairThresholds(names[i], names[j], *_lower_envelope(matrix[i], matrix[j]))
        for i, j in combinations(range(len(matrix)), 2)
    )


def _lower_envelope(
    start: FloatArray, end: FloatArray
) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Follow the lowest of the lines (1 - t) start + t end from t = 0 to t = 1."""
    slope = end - start
    # Of the lines that are lowest at 0, the one that falls fastest is lowest right after it.
    current = int(np.lexsort((slope, start))[0])
    thresholds: list[float] = []
    decisions = [current]
    while True:
        falls_faster = np.flatnonzero(slope < slope[current])
        gap = start[falls_faster] - start[current]
        crossing = gap / (slope[current] - slope[falls_faster])
        if not np.any(crossing < 1.0):
            return tuple(thresholds), tuple(decisions)
        # Where several lines cross at once, the one that falls fastest continues.
        first = int(np.lexsort((slope[falls_faster], crossing))[0])
        current = int(falls_faster[first])
        thresholds.append(float(crossing[first]))
        decisions.append(current)
