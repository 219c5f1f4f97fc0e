"""Mean costs of decision rules, for any cost matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from calibrant._core.records import Interval, Record
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import check_level
from calibrant.decisions._bounded_means import bounded_mean
from calibrant.decisions.cheapest import check_costs, decide
from calibrant.decisions.curves import as_columns
from calibrant.metrics._validation import Predictions, check_predictions

DEFAULT_FACTORS = np.geomspace(0.1, 10.0, 41)


@dataclass(frozen=True)
class CostComparison(Record):
    """Mean costs per row of decision rules.

    Attributes
    ----------
    cheapest : Interval
        The cost of the decisions with the lowest expected cost, which `decide` returns.
    most_probable : Interval or None
        The cost of deciding for the most probable class. ``None`` means that decisions are not
        classes, because there are more or fewer of them.
    constant : tuple of Interval
        The cost of always taking each decision.
    best_constant : int
        The decision that is cheapest if it is always taken.
    saving : Interval
        How much less the decisions cost than the best constant one.
    informed : float
        The cost of deciding with the classes known: no rule costs less.
    """

    cheapest: Interval
    most_probable: Interval | None
    constant: tuple[Interval, ...]
    best_constant: int
    saving: Interval
    informed: float


@dataclass(frozen=True, eq=False)
class CostCurve(Record):
    """Mean costs per row as the costs of one class are multiplied.

    Attributes
    ----------
    factor : ndarray of shape (n_factors,)
        What the costs of the class are multiplied by.
    cost, low, high : ndarray of shape (n_factors,)
        The mean cost of the decisions with the lowest expected cost, and its confidence limits.
    constant : ndarray of shape (n_factors, n_decisions)
        The mean cost of always taking each decision.
    saving, saving_low, saving_high : ndarray of shape (n_factors,)
        How much less the decisions cost than the best constant one, with confidence limits.
    level : float
        The confidence level of the limits.
    """

    factor: FloatArray
    cost: FloatArray
    low: FloatArray
    high: FloatArray
    constant: FloatArray
    saving: FloatArray
    saving_low: FloatArray
    saving_high: FloatArray
    level: float = 0.95


def compare_costs(
    y_true: ArrayLike,
    proba: ArrayLike,
    costs: ArrayLike,
    *,
    level: float = 0.95,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CostComparison:
    """Compare the mean costs of decision rules on rows whose classes are known.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `calibrant.metrics.log_loss`.
    costs : array-like of shape (n_classes, n_decisions)
        Cost of each decision (column) for each true class (row), as for `decide`.
    level : float, default=0.95
        The confidence level of the intervals.

    Returns
    -------
    CostComparison
        The mean costs.

    See Also
    --------
    decide : The decisions.
    decision_curve : Net benefit for two decisions about one class.

    Notes
    -----
    For two classes and the costs ``[[0, t], [1 - t, 0]]``, the cost of never treating minus the
    cost of the decisions is ``1 - t`` times the net benefit at the threshold ``t``. The
    intervals are those of `decision_curve`.

    Examples
    --------
    Missing an illness (second class) costs ten times as much as treating a healthy person.

    >>> import numpy as np
    >>> from calibrant.decisions import compare_costs
    >>> rng = np.random.RandomState(0)
    >>> proba = rng.beta(1, 4, size=500)
    >>> y = (rng.uniform(size=500) < proba).astype(int)
    >>> found = compare_costs(y, proba, costs=[[0, 1], [10, 0]])
    >>> print(found.cheapest)
    0.554 (95% CI 0.4564 to 0.6516)
    >>> print(found.saving)  # compared with treating everyone
    0.214 (95% CI 0.1076 to 0.3204)
    """
    data = check_predictions(y_true, proba, labels, sample_weight).with_row_counts()
    return _compare(data, check_costs(costs, data.proba.shape[1]), check_level(level))


def cost_curve(
    y_true: ArrayLike,
    proba: ArrayLike,
    costs: ArrayLike,
    *,
    of: Any,
    factors: ArrayLike | None = None,
    level: float = 0.95,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CostCurve:
    """Compute mean costs as the costs of one class are multiplied.

    Costs are often known only roughly. The curve shows for which costs of a class the
    probabilities lead to better decisions than always deciding the same.

    Parameters
    ----------
    y_true, proba, costs, labels, sample_weight : array-like
        See `compare_costs`.
    of : label
        The class whose costs, a row of ``costs``, are multiplied.
    factors : array-like of shape (n_factors,), default=None
        Positive factors. ``None`` means 41 factors from 0.1 to 10.
    level : float, default=0.95
        The confidence level of the intervals.

    Returns
    -------
    CostCurve
        The costs by factor.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.decisions import cost_curve
    >>> model = GaussianNB().fit(*make_waveform(300, random_state=0))
    >>> X, y = make_waveform(300, random_state=1)
    >>> costs = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> curve = cost_curve(y, model.predict_proba(X), costs, of=2, factors=[1, 10])
    >>> curve.cost.round(2).tolist()
    [0.24, 0.47]
    >>> curve.constant.min(axis=1).round(2).tolist()  # of the best constant decision
    [0.63, 0.7]
    """
    data = check_predictions(y_true, proba, labels, sample_weight).with_row_counts()
    matrix = check_costs(costs, data.proba.shape[1])
    check_level(level)
    row = np.flatnonzero(data.labels == of)
    if len(row) != 1:
        raise ValueError(
            f"of must be one of the labels {data.labels.tolist()}, got {of!r}. "
            "Pass the class whose costs are multiplied."
        )
    chosen = DEFAULT_FACTORS
    if factors is not None:
        chosen = np.asarray(column_or_1d(factors), dtype=np.float64)
    if not np.all(chosen > 0):
        raise ValueError(f"factors must be positive, got {chosen.min():g}. Drop that factor.")
    found = []
    for factor in chosen.tolist():
        scaled = matrix.copy()
        scaled[row] *= factor
        found.append(_compare(data, scaled, level))
    cost = as_columns([each.cheapest for each in found])
    saving = as_columns([each.saving for each in found])
    return CostCurve(
        factor=chosen,
        cost=cost[0],
        low=cost[1],
        high=cost[2],
        constant=np.array([[rule.estimate for rule in each.constant] for each in found]),
        saving=saving[0],
        saving_low=saving[1],
        saving_high=saving[2],
        level=level,
    )


def _compare(data: Predictions, costs: FloatArray, level: float) -> CostComparison:
    n_classes, n_decisions = costs.shape
    of_true_class = costs[data.y_index]
    rows = np.arange(len(data.y_index))
    largest = float((costs.max(axis=1) - costs.min(axis=1)).max())

    def mean_cost(decision: IndexArray | int) -> Interval:
        bounds = float(costs.min()), float(costs.max())
        return bounded_mean(of_true_class[rows, decision], data.weight, bounds, level)

    cheapest = decide(data.proba, costs).decision
    constant = tuple(mean_cost(d) for d in range(n_decisions))
    best = int(np.argmin([each.estimate for each in constant]))
    saved = of_true_class[:, best] - of_true_class[rows, cheapest]
    return CostComparison(
        cheapest=mean_cost(cheapest),
        most_probable=mean_cost(data.top_label) if n_classes == n_decisions else None,
        constant=constant,
        best_constant=best,
        saving=bounded_mean(saved, data.weight, (-largest, largest), level),
        informed=data.mean(of_true_class.min(axis=1)),
    )
