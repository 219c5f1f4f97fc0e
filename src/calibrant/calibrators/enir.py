"""ENIR: an ensemble of near-isotonic regressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from scipy.special import xlogy

from calibrant._core.binning import pool_ties, run_starts
from calibrant._core.probability_floor import floor_frequencies, overall_frequency
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators._base import BinaryCalibrator
from calibrant.near_isotonic import NearIsotonicPath, near_isotonic_path

# A model whose criterion exceeds the best one by more than this has a relative weight below
# exp(-50) = 2e-22. Even a million such models have no effect in double precision.
NEGLIGIBLE_EXCESS = 100.0
# Fitted values are kept within this range where their logarithm is taken.
SMALLEST_PROBA, LARGEST_PROBA = np.finfo(np.float64).tiny, 1.0 - np.finfo(np.float64).epsneg
# The number of groups, over all models, to evaluate at a time.
CHUNK_SIZE = 2**20
# With fewer groups over all models, keeping every model is faster than pruning.
PRUNING_SIZE = 2**13


# Take the numbers of groups of several models and the number of rows, or one for each model.
Penalty = Callable[[FloatArray, float | FloatArray], FloatArray]


def _bic(n_groups: FloatArray, n: float | FloatArray) -> FloatArray:
    return n_groups * np.log(np.maximum(n, 1.0))


def _aic(n_groups: FloatArray, n: float | FloatArray) -> FloatArray:
    return 2.0 * n_groups


def _aicc(n_groups: FloatArray, n: float | FloatArray) -> FloatArray:
    residual = n - n_groups - 1.0
    with np.errstate(divide="ignore"):
        correction = 2.0 * n_groups * (n_groups + 1.0) / np.maximum(residual, 0.0)
    return 2.0 * n_groups + correction


PENALTIES: dict[str, Penalty] = {"bic": _bic, "aic": _aic, "aicc": _aicc}


def check_criterion(criterion: str) -> Penalty:
    """Return the penalty of an information criterion, given its name."""
    if criterion not in PENALTIES:
        raise ValueError(
            f"criterion must be one of {sorted(PENALTIES)}, got {criterion!r}. "
            "Use 'bic' for the published method."
        )
    return PENALTIES[criterion]


class ENIR(BinaryCalibrator):
    r"""Ensemble of near-isotonic regressions.

    The map from scores to probabilities is the weighted mean of all near-isotonic regressions on
    the solution path, with weights given by an information criterion [1]_. Unlike isotonic
    regression, it may decrease slightly where the data support it.

    Parameters
    ----------
    criterion : {"bic", "aic", "aicc"}, default="bic"
        The information criterion.
    floored : bool, default=False
        Whether to apply the probability floor to each group of equal fitted values, which keeps
        probabilities away from 0 and 1. ``False`` is the published method, whose probabilities
        may be 0 or 1.

    Attributes
    ----------
    X_thresholds_, y_thresholds_ : ndarray of shape (n_thresholds,)
        The points of the fitted map, which is linear between them and constant outside.
    lambdas_ : ndarray of shape (n_models,)
        The penalties of the models in the ensemble, in ascending order. Models of negligible
        weight are left out.
    weights_ : ndarray of shape (n_models,)
        The weights of the models, which sum to 1.
    n_groups_ : ndarray of shape (n_models,)
        The number of groups of equal fitted values in each model, which is its degrees of
        freedom.

    See Also
    --------
    sklearn.isotonic.IsotonicRegression : The last model of the path.
    calibrant.near_isotonic.near_isotonic_path : The path of models.

    Notes
    -----
    Each distinct breakpoint of the path except :math:`\lambda = 0` is a model; if
    :math:`\lambda = 0` is the only breakpoint, it is the model. A model with the fitted values
    :math:`b_g` in groups with the mean targets :math:`\bar{y}_g` and weights :math:`W_g`,
    :math:`g = 1, \ldots, G`, has the log-likelihood

    .. math:: L = \sum_g W_g \left[ \bar{y}_g \log b_g + (1 - \bar{y}_g) \log(1 - b_g) \right]

    and, with :math:`N` the sum of all weights,

    .. math:: \mathrm{BIC} = G \log N - 2 L.

    Its weight is proportional to :math:`\exp(-\mathrm{BIC} / 2)`. AIC and AICc replace
    :math:`G \log N` by :math:`2 G` and :math:`2 G + 2 G (G + 1) / (N - G - 1)`.

    There are three departures from the published code. Targets may be weighted frequencies. Tied
    scores are pooled instead of dropped. A breakpoint that rounding splits in two counts as one.

    References
    ----------
    .. [1] M. P. Naeini and G. F. Cooper, "Binary classifier calibration using an
           ensemble of piecewise linear regression models", Knowledge and Information
           Systems 54(1), 2018.

    Examples
    --------
    >>> from calibrant.calibrators import ENIR
    >>> enir = ENIR().fit([0.1, 0.2, 0.3, 0.4, 0.7, 0.9], [0, 0, 1, 0, 1, 1])
    >>> enir.predict([0.0, 0.35, 0.8])
    array([0. , 0.5, 1. ])
    """

    X_thresholds_: FloatArray
    y_thresholds_: FloatArray
    lambdas_: FloatArray
    weights_: FloatArray
    n_groups_: IndexArray

    def __init__(self, *, criterion: str = "bic", floored: bool = False):
        self.criterion = criterion
        self.floored = floored

    def _fit(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> None:
        penalty = check_criterion(self.criterion)
        score, target, weight = pool_ties(score, target, weight)

        path = near_isotonic_path(target, weight)
        models = np.arange(min(1, len(path.lambdas) - 1), len(path.lambdas))
        penalties = penalty(path.n_groups[models].astype(float), weight.sum())
        if path.n_groups[models].sum() > PRUNING_SIZE:
            kept = _prune(path, models, penalties)
            models, penalties = models[kept], penalties[kept]
        members = _Members(path, models)
        weights = _ensemble_weights(_deviances(members) + penalties)
        used = weights > 0
        self.weights_ = weights[used]
        self.lambdas_, self.n_groups_ = path.lambdas[models[used]], path.n_groups[models[used]]
        overall = overall_frequency(target, weight) if self.floored else None
        groups, proba = _ensemble_mean(members, weights, overall)
        # The first and the last point of each group, or the only one.
        ends = np.array([path.start[groups], path.stop[groups] - 1]).T.ravel()
        distinct = run_starts(ends[1:] > ends[:-1])
        self.X_thresholds_, self.y_thresholds_ = _drop_inner_points(
            score[ends[distinct]], np.repeat(proba, 2)[distinct].clip(0.0, 1.0)
        )

    def _proba(self, score: FloatArray) -> FloatArray:
        return np.interp(score, self.X_thresholds_, self.y_thresholds_)


class _Members:
    """The groups of several models of a path.

    Iterating yields, in chunks that bound memory, the nodes that are groups, the positions of
    their models in ``models``, and their fitted values. If there is only one chunk, it is computed
    once.
    """

    def __init__(self, path: NearIsotonicPath, models: IndexArray):
        self.path = path
        self.models = models
        self._size = np.cumsum(path.n_groups[models])

    def __iter__(self) -> Iterator[tuple[IndexArray, IndexArray, FloatArray]]:
        size = self._size
        if size[-1] <= CHUNK_SIZE:
            yield self._only_chunk
            return
        begin, done = 0, 0
        while begin < len(size):
            end = max(begin + 1, int(np.searchsorted(size, done + CHUNK_SIZE, side="right")))
            yield self._chunk(begin, end)
            begin, done = end, size[end - 1]

    @cached_property
    def _only_chunk(self) -> tuple[IndexArray, IndexArray, FloatArray]:
        return self._chunk(0, len(self.models))

    def _chunk(self, begin: int, end: int) -> tuple[IndexArray, IndexArray, FloatArray]:
        models = self.models[begin:end]
        nodes, position = self.path.memberships(models)
        values = self.path.values(nodes, self.path.lambdas[models][position])
        return nodes, position + begin, values


def _prune(path: NearIsotonicPath, models: IndexArray, penalties: FloatArray) -> IndexArray:
    r"""Return the positions of the models whose weight is not negligible.

    Notes
    -----
    Let :math:`c_g` be the slopes of the groups. While these stay the same, the log-likelihood has
    the derivative

    .. math:: \frac{dL}{d\lambda} = -\lambda \sum_g \frac{W_g c_g^2}{b_g (1 - b_g)} \le 0,

    and no fitted value jumps at a merge, so both :math:`L` and the penalty decrease along the
    path. The criterion of any model between two scored models :math:`i < j` is therefore at least
    the deviance :math:`-2 L_i` plus the penalty of model :math:`j - 1`. A stretch of models whose
    bound exceeds the best criterion so far by more than `NEGLIGIBLE_EXCESS` is left out; any
    other stretch is bisected.
    """
    deviance = np.full(len(models), np.inf)
    scored = np.empty(0, dtype=np.intp)
    to_score = np.array([0, len(models) - 1])
    while len(to_score):
        deviance[to_score] = _deviances(_Members(path, models[to_score]))
        scored = np.union1d(scored, to_score)
        earlier, later = scored[:-1], scored[1:]
        bound = deviance[earlier] + penalties[later - 1]
        limit = (deviance[scored] + penalties[scored]).min() + NEGLIGIBLE_EXCESS
        is_open = (later - earlier > 1) & (bound <= limit) & (bound < np.inf)
        to_score = (earlier[is_open] + later[is_open]) // 2
    return scored[deviance[scored] + penalties[scored] <= limit]


def _deviances(members: _Members) -> FloatArray:
    """Return -2 times the log-likelihood of each model."""
    log_likelihood = np.zeros(len(members.models))
    for nodes, model, values in members:
        terms = log_likelihood_terms(values, members.path.mean[nodes], members.path.weight[nodes])
        log_likelihood += np.bincount(model, terms, len(log_likelihood))
    return -2.0 * log_likelihood


def log_likelihood_terms(values: FloatArray, mean: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the terms of log-likelihoods, which are always finite.

    A fitted value of 0 or 1 belongs to a group whose targets are all 0 or all 1, so it
    contributes nothing. Clipping ensures this despite rounding.

    Parameters
    ----------
    values, mean, weight : ndarray of shape (n_groups,)
        The fitted value, the mean target and the weight of each group.

    Returns
    -------
    ndarray of shape (n_groups,)
        The term of each group.
    """
    proba = np.minimum(np.maximum(values, SMALLEST_PROBA), LARGEST_PROBA)
    terms = xlogy(mean, proba) + xlogy(1.0 - mean, 1.0 - proba)
    terms *= weight
    return terms


def _ensemble_mean(
    members: _Members, weights: FloatArray, overall: float | None
) -> tuple[IndexArray, FloatArray]:
    """Return the groups of the first model and their values in the weighted mean of all models.

    The contribution of a node to the mean is summed over the models in which it is a group. The
    value of a group of the first model is its contribution plus those of all its ancestors.
    """
    path = members.path
    contribution = np.zeros(len(path.start))
    groups: list[IndexArray] = []
    for nodes, model, values in members:
        if overall is not None:
            values = floor_frequencies(values, path.weight[nodes], overall)
        contribution += np.bincount(nodes, weights[model] * values, len(contribution))
        groups.append(nodes[model == 0])
    mean = contribution.tolist()  # plain numbers are faster than array elements
    first, last = path.n_leaves - path.n_groups[members.models[[0, -1]]]
    node = path.n_leaves + last
    for a, b in reversed(path.parts[first:last].tolist()):
        node -= 1
        mean[a] += mean[node]
        mean[b] += mean[node]
    of_first = np.concatenate(groups)
    of_first = of_first[np.argsort(path.start[of_first])]
    return of_first, np.array(mean)[of_first]


def _ensemble_weights(criterion: FloatArray) -> FloatArray:
    """Return the weights of the models, proportional to exp(-criterion / 2)."""
    best = criterion.min()
    if not np.isfinite(best):
        # With too few points, AICc is infinite for every model. Use the simplest, the isotonic one.
        return np.r_[np.zeros(len(criterion) - 1), 1.0]
    excess = criterion - best
    weights = np.where(excess > NEGLIGIBLE_EXCESS, 0.0, np.exp(-excess / 2.0))
    return weights / weights.sum()


def _drop_inner_points(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Drop the inner points of constant stretches; interpolation restores them."""
    changes = y[1:] != y[:-1]
    kept = np.ones(len(y), dtype=bool)
    kept[1:-1] = changes[:-1] | changes[1:]
    return x[kept], y[kept]
