"""Decisions with the lowest expected cost, given class probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from calibrant._core.phrases import count
from calibrant._core.records import Record
from calibrant._core.typing import FloatArray, IndexArray

# Expected costs that differ by less than this, relative to the largest cost, differ by rounding.
TIE = 1e-12


@dataclass(frozen=True, eq=False)
class Decisions(Record):
    """The cheapest decision for each row.

    Attributes
    ----------
    decision : ndarray of shape (n_samples,)
        Column of the cost matrix with the lowest expected cost.
    expected_cost : ndarray of shape (n_samples,)
        Its expected cost.
    """

    decision: IndexArray
    expected_cost: FloatArray


def decide(proba: ArrayLike, costs: ArrayLike) -> Decisions:
    r"""Choose the decision with the lowest expected cost for each row.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Class probabilities.
    costs : array-like of shape (n_classes, n_decisions)
        Cost of each decision (column) for each true class (row), in any unit. Decisions need not
        be classes: one of them may be to do another test. A negative cost is a benefit.

    Returns
    -------
    Decisions
        The decisions and their expected costs. Of equally cheap decisions, the first is chosen.

    Notes
    -----
    With probabilities :math:`p_k` and costs :math:`c_{kd}`, the decision is

    .. math:: \operatorname{argmin}_d \sum_k p_k c_{kd} .

    It has the lowest mean cost in the long run if the probabilities are calibrated. If every
    mistake costs the same, it is the most probable class.

    Examples
    --------
    Missing an illness (second class) costs ten times as much as treating a healthy person.

    >>> from calibrant.decisions import decide
    >>> decisions = decide([[0.95, 0.05], [0.8, 0.2]], costs=[[0, 1], [10, 0]])
    >>> decisions.decision.tolist()
    [0, 1]
    >>> decisions.expected_cost.tolist()
    [0.5, 0.8]
    """
    rows = check_array(proba, dtype=np.float64, input_name="proba")
    matrix = check_costs(costs, rows.shape[1])
    expected = rows @ matrix
    least = expected.min(axis=1)
    is_cheapest = expected <= least[:, None] + TIE * np.abs(matrix).max()
    return Decisions(is_cheapest.argmax(axis=1), least)


def check_costs(costs: ArrayLike, n_classes: int | None) -> FloatArray:
    """Return a cost matrix, after checking that it has one row per class."""
    matrix = check_array(costs, dtype=np.float64, input_name="costs")
    if n_classes is not None and len(matrix) != n_classes:
        raise ValueError(
            f"costs must have one row for each class, got {count(len(matrix), 'row')} for "
            f"{count(n_classes, 'class', 'classes')}. Pass the costs of each decision for every "
            "true class."
        )
    return np.asarray(matrix)
