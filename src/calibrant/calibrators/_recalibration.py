"""Nested recalibration maps of log scores, and likelihood-ratio tests between them.

The maps are softmax(z + b + s z) of the log scores z, where b has one intercept per class and the
slopes 1 + s are fixed at 1, common to all classes, or one per class.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from calibrant._core.newton import minimize_strictly_convex
from calibrant._core.rowwise import log_softmax, row_sums
from calibrant._core.typing import FloatArray, IndexArray

# The norm of the gradient of the mean log loss at which a fit has converged.
TOLERANCE = 1e-9
# A ridge penalty on all parameters, relative to the number of rows. It fixes the constant that can
# be added to all intercepts, and bounds them if a class has no rows. Its effect on a likelihood
# ratio is far below the error of a p-value.
RIDGE = 1e-9
# Likelihood ratios that differ by less than this, relative to their size, are ties.
ROUNDING = 1e-7


class Map(IntEnum):
    """The nested maps, by increasing number of parameters."""

    IDENTITY = 0
    INTERCEPTS = 1
    COMMON_SLOPE = 2
    CLASS_SLOPES = 3

    def n_parameters(self, n_classes: int) -> int:
        """Return the number of identifiable parameters."""
        return (0, n_classes - 1, n_classes, 2 * n_classes - 1)[self]


class MapParameters(NamedTuple):
    """Parameters of a map.

    Attributes
    ----------
    intercept : ndarray of shape (n_classes,)
        The intercepts, which sum to 0.
    slope : ndarray of shape (n_classes,)
        The slopes; equal if there is a common one.
    """

    intercept: FloatArray
    slope: FloatArray

    def logits(self, log_score: FloatArray) -> FloatArray:
        """Return the logits of log scores."""
        return log_score * self.slope + self.intercept


class LikelihoodRatio(NamedTuple):
    """A likelihood-ratio test of a map against `Map.CLASS_SLOPES`.

    Attributes
    ----------
    statistic : float
        Twice the difference of the log likelihoods.
    degrees_of_freedom : int
        The difference of the numbers of parameters.
    p_value : float
        The p-value by simulation.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


def fit_map(kind: Map, log_score: FloatArray, target: FloatArray) -> MapParameters:
    """Fit a map by maximum likelihood.

    Parameters
    ----------
    kind : Map
        The map.
    log_score : ndarray of shape (n_rows, n_classes)
        Log scores.
    target : ndarray of shape (n_rows, n_classes)
        The number of rows of each class behind each row of scores: its weight in the column of
        its class. Any nonnegative numbers are allowed.

    Returns
    -------
    MapParameters
        The intercepts and slopes.
    """
    n_classes = log_score.shape[1]
    if kind is Map.IDENTITY:
        return MapParameters(np.zeros(n_classes), np.ones(n_classes))
    objective = _Objective(kind, log_score, target)
    parameters = minimize_strictly_convex(
        objective.loss, objective.hessian, objective.n_parameters, TOLERANCE
    )
    intercept, slope = objective.split(parameters)
    return MapParameters(intercept - intercept.mean(), 1.0 + slope)


def log_likelihood(parameters: MapParameters, log_score: FloatArray, target: FloatArray) -> float:
    """Return the log likelihood of a map."""
    return float(np.sum(target * log_softmax(parameters.logits(log_score))))


def likelihood_ratio_test(
    kind: Map,
    log_score: FloatArray,
    y: IndexArray,
    weight: FloatArray,
    *,
    n_resamples: int,
    rng: np.random.RandomState,
) -> LikelihoodRatio:
    """Test a map against the map with one intercept and one slope per class.

    The null distribution is simulated: labels are drawn from the probabilities of the fitted map,
    and both maps are fitted to them. For the identity, which has no parameters, the test is
    therefore exact, for any number of rows and with classes that have no rows.

    Parameters
    ----------
    kind : Map
        The map of the null hypothesis.
    log_score : ndarray of shape (n_rows, n_classes)
        Log scores.
    y : ndarray of shape (n_rows,)
        Column numbers of the true classes.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    n_resamples : int
        The number of simulated sets of labels.
    rng : RandomState
        The source of randomness.

    Returns
    -------
    LikelihoodRatio
        The statistic and its p-value.
    """
    n_classes = log_score.shape[1]
    one_hot = np.eye(n_classes)

    def statistic(labels: IndexArray) -> float:
        target = one_hot[labels] * weight[:, None]
        null, alternative = (
            log_likelihood(fit_map(each, log_score, target), log_score, target)
            for each in (kind, Map.CLASS_SLOPES)
        )
        return 2.0 * (alternative - null)

    observed = statistic(y)
    fitted = fit_map(kind, log_score, one_hot[y] * weight[:, None])
    cumulative = np.exp(log_softmax(fitted.logits(log_score))).cumsum(axis=1)
    least = observed - ROUNDING * max(abs(observed), 1.0)
    n_larger = 0
    for _ in range(n_resamples):
        uniform = rng.uniform(size=(len(y), 1)) * cumulative[:, -1:]
        n_larger += statistic((uniform >= cumulative[:, :-1]).sum(axis=1)) >= least
    return LikelihoodRatio(
        observed,
        Map.CLASS_SLOPES.n_parameters(n_classes) - kind.n_parameters(n_classes),
        (1 + n_larger) / (1 + n_resamples),
    )


class _Objective:
    """The mean log loss of a map as a function of (b, s), and its derivatives."""

    def __init__(self, kind: Map, log_score: FloatArray, target: FloatArray):
        self.log_score = log_score
        total = target.sum()
        self.target = target / total
        self.weight = row_sums(self.target)
        n_classes = log_score.shape[1]
        self.n_slopes = {Map.INTERCEPTS: 0, Map.COMMON_SLOPE: 1}.get(kind, n_classes)
        self.n_parameters = n_classes + self.n_slopes
        self.parameters = np.full(self.n_parameters, np.nan)

    def split(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the intercepts, and the slopes minus 1 of all classes."""
        n_classes = self.log_score.shape[1]
        slope = parameters[n_classes:] if self.n_slopes else np.zeros(1)
        return parameters[:n_classes], np.broadcast_to(slope, (n_classes,))

    def loss(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss and its gradient."""
        intercept, slope = self.split(parameters)
        log_proba = log_softmax(self.log_score * (1.0 + slope) + intercept)
        self.proba, self.parameters = np.exp(log_proba), parameters
        residual = self.weight * self.proba - self.target
        of_slopes = (residual * self.log_score).sum(axis=0)
        gradient = np.concatenate([residual.sum(axis=0), self._reduce(of_slopes)])
        loss = float(RIDGE * parameters @ parameters - np.sum(self.target * log_proba))
        return loss, gradient + 2.0 * RIDGE * parameters

    def hessian(self, parameters: FloatArray) -> FloatArray:
        """Return the Hessian."""
        if not np.array_equal(parameters, self.parameters):
            self.loss(parameters)
        weighted = self.weight * self.proba
        by_score = self.proba * self.log_score
        n_classes = self.log_score.shape[1]
        products = np.hstack([self.proba, by_score])
        hessian = -(products * self.weight).T @ products
        first = np.arange(n_classes)
        second = first + n_classes
        hessian[first, first] += weighted.sum(axis=0)
        moment = (weighted * self.log_score).sum(axis=0)
        hessian[first, second] += moment
        hessian[second, first] += moment
        hessian[second, second] += (weighted * self.log_score**2).sum(axis=0)
        if self.n_slopes < n_classes:
            change = np.zeros((2 * n_classes, self.n_parameters))
            change[first, first] = 1.0
            change[second, n_classes:] = 1.0
            hessian = change.T @ hessian @ change
        hessian.flat[:: self.n_parameters + 1] += 2.0 * RIDGE
        return hessian

    def _reduce(self, of_slopes: FloatArray) -> FloatArray:
        """Return the derivatives with respect to the free slopes."""
        if self.n_slopes == 1:
            return of_slopes.sum(keepdims=True)
        return of_slopes[: self.n_slopes]
