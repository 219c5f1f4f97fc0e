"""ENIR: an ensemble of near-isotonic regressions as one piecewise-linear map."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import xlogy

from calibrant._core.binning import pool_ties
from calibrant._core.probability_floor import floor_frequencies, overall_frequency
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators._base import BinaryCalibrator
from calibrant.near_isotonic import NearIsotonicPath, near_isotonic_path

# A model whose criterion is this far above the best has a weight below exp(-50),
# 2e-22: even a million of them change nothing in double precision.
NEGLIGIBLE = 100.0
# Scores closer than this are one score: a slope between them could overflow.
SMALLEST_GAP = 1e-300
# Groups of models that are worked on at once.
CHUNK_SIZE = 2**20
# Models with no more groups than this in all are scored in less time than a choice takes.
QUICK_SIZE = 2**13


def _bic(n_groups: FloatArray, n: float) -> FloatArray:
    return n_groups * np.log(max(n, 1.0))


def _aic(n_groups: FloatArray, n: float) -> FloatArray:
    return 2.0 * n_groups


def _aicc(n_groups: FloatArray, n: float) -> FloatArray:
    spare = n - n_groups - 1.0
    with np.errstate(divide="ignore"):
        correction = 2.0 * n_groups * (n_groups + 1.0) / np.maximum(spare, 0.0)
    return 2.0 * n_groups + correction


PENALTIES: dict[str, Callable[[FloatArray, float], FloatArray]] = {
    "bic": _bic,
    "aic": _aic,
    "aicc": _aicc,
}


class ENIR(BinaryCalibrator):
    """Ensemble of near-isotonic regression models.

    Maps scores to probabilities by the weighted mean of all near-isotonic fits on
    the solution path, each weighted by an information criterion. Unlike isotonic
    regression it allows small violations of the order where the data insist.

    Parameters
    ----------
    criterion : {"bic", "aic", "aicc"}, default="bic"
        The information criterion that weights the models.
    floored : bool, default=False
        Whether each group of equal fitted values stays as far from 0 and 1 as the rows behind
        it demand (`calibrant._core.probability_floor`). False is the published method, which may say 0.

    Attributes
    ----------
    X_thresholds_, y_thresholds_ : ndarray of shape (n_thresholds,)
        The fitted map: linear between these points, constant outside them.
    lambdas_ : ndarray of shape (n_models,)
        Penalties of the models in the ensemble, ascending.
    weights_ : ndarray of shape (n_models,)
        Their weights, which sum to 1. Models of negligible weight are left out.
    n_groups_ : ndarray of shape (n_models,)
        Their degrees of freedom: the number of groups of equal fitted values.

    See Also
    --------
    sklearn.isotonic.IsotonicRegression : The last model of the path alone.
    calibrant.near_isotonic.near_isotonic_path : The path of models.

    Notes
    -----
    Each distinct breakpoint of the path but lambda = 0 is a model; if lambda = 0 is
    the only one, it is the model. With G groups and N points (the sum of weights),
    BIC = G log N - 2 loglik and a model's weight is proportional to
    exp(-BIC / 2) [1]_.

    Departures from the published code: targets may be fractions and weighted, and
    the likelihood is the weighted Bernoulli likelihood; tied scores are pooled
    rather than dropped; a breakpoint that rounding split counts once. Weights are
    frequencies: a weight of 2 is the same as the row given twice.

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
        if self.criterion not in PENALTIES:
            raise ValueError(
                f"criterion must be one of {sorted(PENALTIES)}. Got {self.criterion!r}. "
                "Use 'bic' for the published method."
            )
        score, target, weight = pool_ties(score, target, weight, SMALLEST_GAP)

        path = near_isotonic_path(target, weight)
        models = np.arange(min(1, len(path.lambdas) - 1), len(path.lambdas))
        penalties = PENALTIES[self.criterion](path.n_groups[models].astype(float), weight.sum())
        weights = _ensemble_weights(_score_models(path, models, penalties))
        models, self.weights_ = models[weights > 0], weights[weights > 0]
        self.lambdas_, self.n_groups_ = path.lambdas[models], path.n_groups[models]
        overall = overall_frequency(target, weight) if self.floored else None
        groups, proba = _mean_model(path, models, self.weights_, overall)
        # The first and the last point of each group, once where they are the same.
        ends = np.column_stack([path.start[groups], path.stop[groups] - 1]).ravel()
        once = np.r_[True, np.diff(ends) > 0]
        self.X_thresholds_, self.y_thresholds_ = _drop_inner_points(
            score[ends[once]], np.clip(np.repeat(proba, 2)[once], 0.0, 1.0)
        )

    def _proba(self, score: FloatArray) -> FloatArray:
        return np.interp(score, self.X_thresholds_, self.y_thresholds_)


def _score_models(path: NearIsotonicPath, models: IndexArray, penalties: FloatArray) -> FloatArray:
    """Information criterion of every model that can have a weight, infinity for the others.

    Along the path the penalty falls, and so does the log-likelihood: while the groups stay
    the same, its derivative is -lambda sum_g weight_g slope_g^2 / (b_g (1 - b_g)), and no
    fitted value jumps where groups merge. Hence the criterion of a model between two scored
    ones is at least the deviance of the earlier plus the penalty of the later. A stretch
    for which this is out of reach is left out, any other one is halved.
    """
    deviance = np.full(len(models), np.inf)
    scored = np.empty(0, dtype=np.intp)
    to_score = np.arange(len(models))
    if path.n_groups[models].sum() > QUICK_SIZE:
        to_score = to_score[[0, -1]]
    while len(to_score):
        deviance[to_score] = _deviances(path, models[to_score])
        scored = np.union1d(scored, to_score)
        earlier, later = scored[:-1], scored[1:]
        least = deviance[earlier] + penalties[later - 1]
        reach = (deviance[scored] + penalties[scored]).min() + NEGLIGIBLE
        is_open = (later - earlier > 1) & (least <= reach) & (least < np.inf)
        to_score = (earlier[is_open] + later[is_open]) // 2
    return deviance + penalties


def _deviances(path: NearIsotonicPath, models: IndexArray) -> FloatArray:
    """-2 times the weighted Bernoulli log-likelihood of each model; always finite.

    A fitted value of 0 or 1 belongs to a group whose targets are all 0 or all 1, and
    costs nothing. Rounding may break this by one bit, hence the clip.
    """
    limits = np.finfo(np.float64)
    log_likelihood = np.zeros(len(models))
    for nodes, model in _groups_of_models(path, models):
        proba = path.values(nodes, path.lambdas[models[model]])
        proba = np.clip(proba, limits.tiny, 1.0 - limits.epsneg)
        mean = path.mean[nodes]
        own = path.weight[nodes] * (xlogy(mean, proba) + xlogy(1.0 - mean, 1.0 - proba))
        log_likelihood += np.bincount(model, own, len(models))
    return -2.0 * log_likelihood


def _mean_model(
    path: NearIsotonicPath, models: IndexArray, weights: FloatArray, overall: float | None
) -> tuple[IndexArray, FloatArray]:
    """Return the groups of the first model, and their values in the weighted mean of all.

    A node's part in the mean is summed over the models that it is a group of. The mean of
    a group of the first model is its own part and those of all nodes it is merged into.
    """
    mean = np.zeros(len(path.start))
    for nodes, model in _groups_of_models(path, models):
        values = path.values(nodes, path.lambdas[models[model]])
        if overall is not None:
            values = floor_frequencies(values, path.weight[nodes], overall)
        mean += np.bincount(nodes, weights[model] * values, len(mean))
    first, last = path.n_leaves - path.n_groups[models[[0, -1]]]
    for merge in range(last - 1, first - 1, -1):
        mean[path.parts[merge]] += mean[path.n_leaves + merge]
    groups = path.groups(path.lambdas[models[0]])
    return groups, mean[groups]


def _groups_of_models(
    path: NearIsotonicPath, models: IndexArray
) -> Iterator[tuple[IndexArray, IndexArray]]:
    """Pairs of a group and the position of its model, in chunks of bounded memory."""
    size = np.cumsum(path.n_groups[models])
    begin, done = 0, 0
    while begin < len(models):
        end = max(begin + 1, int(np.searchsorted(size, done + CHUNK_SIZE, side="right")))
        nodes, position = path.memberships(models[begin:end])
        yield nodes, begin + position
        begin, done = end, size[end - 1]


def _ensemble_weights(criterion: FloatArray) -> FloatArray:
    best = criterion.min()
    if not np.isfinite(best):
        # AICc with too few points for any model: keep the simplest, isotonic regression.
        return np.r_[np.zeros(len(criterion) - 1), 1.0]
    excess = criterion - best
    weights = np.where(excess > NEGLIGIBLE, 0.0, np.exp(-excess / 2.0))
    return weights / weights.sum()


def _drop_inner_points(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Leave out the inner points of flat stretches, which linear interpolation restores."""
    changes = y[1:] != y[:-1]
    kept = np.ones(len(y), dtype=bool)
    kept[1:-1] = changes[:-1] | changes[1:]
    return x[kept], y[kept]
