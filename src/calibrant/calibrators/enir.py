"""ENIR: an ensemble of near-isotonic regressions as one piecewise-linear map."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from calibrant.calibrators.base import BinaryCalibrator
from calibrant.certainty import limit_shares, overall_share
from calibrant.grouping import pool_ties
from calibrant.near_isotonic import NearIsotonicPath, near_isotonic_path

FloatArray = NDArray[np.float64]

# A model whose criterion is this far above the best has a weight below exp(-50),
# 2e-22: even a million of them change nothing in double precision.
NEGLIGIBLE = 100.0
# Scores closer than this are one score: a slope between them could overflow.
SMALLEST_GAP = 1e-300


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
    limited : bool, default=False
        Whether each group of equal fitted values stays as far from 0 and 1 as the rows behind
        it demand (`calibrant.certainty`). False is the published method, which may say 0.

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
    n_groups_: NDArray[np.intp]

    def __init__(self, *, criterion: str = "bic", limited: bool = False):
        self.criterion = criterion
        self.limited = limited

    def _fit(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> None:
        if self.criterion not in PENALTIES:
            raise ValueError(
                f"criterion must be one of {sorted(PENALTIES)}. Got {self.criterion!r}. "
                "Use 'bic' for the published method."
            )
        score, target, weight = pool_ties(score, target, weight, SMALLEST_GAP)

        path = near_isotonic_path(target, weight)
        lambdas, criterion = _score_models(path, weight.sum(), PENALTIES[self.criterion])
        self.weights_ = _ensemble_weights(criterion)
        kept = self.weights_ > 0
        self.weights_, self.lambdas_ = self.weights_[kept], lambdas[kept]
        self.n_groups_ = path.n_groups[np.searchsorted(path.lambdas, self.lambdas_)]
        overall = overall_share(target, weight)
        fitted = np.zeros_like(target)
        for share, lam in zip(self.weights_, self.lambdas_, strict=True):
            groups = path.groups(lam)
            values = path.values(groups, lam)
            if self.limited:
                values = limit_shares(values, path.weight[groups], overall)
            fitted += share * np.repeat(values, path.stop[groups] - path.start[groups])
        self.X_thresholds_, self.y_thresholds_ = _drop_inner_points(score, np.clip(fitted, 0, 1))

    def _proba(self, score: FloatArray) -> FloatArray:
        return np.interp(score, self.X_thresholds_, self.y_thresholds_)


def _score_models(
    path: NearIsotonicPath, n: float, penalty: Callable[[FloatArray, float], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Information criterion of every model that can have a weight.

    The log-likelihood of targets in [0, 1] is at most 0, so a model's penalty alone
    bounds its criterion from below. The penalty falls along the path: going back
    from the end, the first model whose penalty is out of reach ends the search.
    """
    models = np.arange(min(1, len(path.lambdas) - 1), len(path.lambdas))
    penalties = penalty(path.n_groups[models].astype(float), n)
    criterion = np.full(len(models), np.inf)
    best = np.inf
    for index in range(len(models) - 1, -1, -1):
        if penalties[index] > best + NEGLIGIBLE:
            break
        criterion[index] = penalties[index] - 2.0 * _log_likelihood(
            path, path.lambdas[models[index]]
        )
        best = min(best, criterion[index])
    return path.lambdas[models], criterion


def _log_likelihood(path: NearIsotonicPath, lam: float) -> float:
    """Weighted Bernoulli log-likelihood of the model at lam; always finite.

    A fitted value of 0 or 1 belongs to a group whose targets are all 0 or all 1, and
    costs nothing. Rounding may break this by one bit, hence the clip.
    """
    nodes = path.groups(lam)
    limits = np.finfo(np.float64)
    proba = np.clip(path.values(nodes, lam), limits.tiny, 1.0 - limits.epsneg)
    weight, mean = path.weight[nodes], path.mean[nodes]
    return float(np.sum(weight * (xlogy(mean, proba) + xlogy(1.0 - mean, 1.0 - proba))))


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
    changes = np.diff(y) != 0
    kept = np.r_[True, changes] | np.r_[changes, True]
    return x[kept], y[kept]
