"""The numeric kernels of the scaling family: penalized softmax regression on log scores."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from calibrant._core.newton import HessianProducts, minimize_convex, minimize_strictly_convex
from calibrant._core.threads import one_blas_thread
from calibrant._core.typing import FloatArray, IndexArray

# The range of inverse temperatures: from nearly uniform probabilities to nearly 0 and 1.
SMALLEST_INVERSE_TEMPERATURE, LARGEST_INVERSE_TEMPERATURE = 1e-4, 1e4
MAX_ITERATIONS = 100
# A relative change of the inverse temperature after which the next one is below rounding errors:
# the error of a Newton step is of the order of the square of its length.
LAST_STEP = 1e-8
# The norm of the gradient of the mean log loss at which a fit has converged: for any penalties,
# and for those that guarantee a minimum, which is then found to about nine digits.
TOLERANCE, STRICT_TOLERANCE = 1e-8, 1e-10
# Added to the diagonal of the Hessian, so that parameters without effect on the loss stay at 0.
SMALLEST_CURVATURE = 1e-12
# With more classes than this, and penalties of at least this strength in rows, products with the
# Hessian are faster than the Hessian. Weaker penalties slow conjugate gradients down.
MAX_CLASSES_OF_HESSIAN, SMALLEST_PENALTY_OF_PRODUCTS = 7, 0.1


def fit_inverse_temperature(
    log_score: FloatArray, y: IndexArray, weight: FloatArray, penalty: float, start: float = 1.0
) -> float:
    r"""Find the inverse temperature with the lowest penalized log loss.

    Parameters
    ----------
    log_score : ndarray of shape (n_points, n_classes)
        Log scores.
    y : ndarray of shape (n_points,)
        Column numbers of the true classes.
    weight : ndarray of shape (n_points,)
        Weights of the points.
    penalty : float
        The strength of the penalty; infinity keeps the inverse temperature at 1.
    start : float, default=1.0
        The inverse temperature at which to start.

    Returns
    -------
    float
        The inverse temperature.

    Notes
    -----
    With log scores :math:`z_i`, weights :math:`w_i` and penalty :math:`\rho`, the inverse
    temperature :math:`t` minimizes the convex function

    .. math:: -\sum_i w_i \log \operatorname{softmax}(t z_i)_{y_i} + \rho (t - 1)^2.

    Newton's method finds the root of its derivative as a function of :math:`\log t`. A step that
    leaves the bracket of the root is replaced by bisection.
    """
    if np.isinf(penalty):
        return 1.0
    # One row per class: sums over classes run along contiguous memory. The largest log score of
    # each point is 0, so that no exponential overflows.
    shifted = np.ascontiguousarray(log_score.T)
    shifted = shifted - shifted.max(axis=0)
    true = shifted[y, np.arange(len(y))]

    def derivatives(log_t: float) -> tuple[float, float]:
        """Return the first and the second derivative with respect to t."""
        t = np.exp(log_t)
        terms = np.exp(t * shifted)
        terms /= terms.sum(axis=0)
        terms *= shifted
        mean = terms.sum(axis=0)
        terms *= shifted
        variance = terms.sum(axis=0) - mean**2
        slope = weight @ (mean - true) + 2.0 * penalty * (t - 1.0)
        return float(slope), float(weight @ variance + 2.0 * penalty)

    log_t = float(np.log(start))
    slope, curvature = derivatives(log_t)
    end = np.log(SMALLEST_INVERSE_TEMPERATURE if slope >= 0 else LARGEST_INVERSE_TEMPERATURE)
    if derivatives(end)[0] * (-1.0 if slope < 0 else 1.0) >= 0:
        return float(np.exp(end))
    low, high = sorted((log_t, end))
    for _ in range(MAX_ITERATIONS):
        step = -slope / (np.exp(log_t) * curvature) if curvature > 0 else np.inf
        if abs(step) <= LAST_STEP:
            return float(np.exp(log_t + step))
        log_t = log_t + step if low < log_t + step < high else (low + high) / 2.0
        slope, curvature = derivatives(log_t)
        low, high = (log_t, high) if slope < 0 else (low, log_t)
    return float(np.exp(log_t))


def fit_affine_map(
    log_score: FloatArray, y: IndexArray, weight: FloatArray, penalty: FloatArray
) -> FloatArray:
    r"""Find the affine map of log scores with the lowest penalized log loss.

    Parameters
    ----------
    log_score : ndarray of shape (n_points, n_classes)
        Log scores.
    y : ndarray of shape (n_points,)
        Column numbers of the true classes.
    weight : ndarray of shape (n_points,)
        Weights of the points.
    penalty : ndarray of shape (n_classes, n_classes + 1)
        The strength of the penalty on each entry of the result; infinity keeps it at 0.

    Returns
    -------
    ndarray of shape (n_classes, n_classes + 1)
        The matrix of the map minus the identity, with the intercept appended as the last
        column.

    Notes
    -----
    With log scores :math:`z_i`, weights :math:`w_i`, penalties :math:`\rho_{kj}` and
    :math:`\Delta = (W - I, b)`, the map minimizes

    .. math:: -\sum_i w_i \log \operatorname{softmax}(W z_i + b)_{y_i}
        + \sum_{k,j} \rho_{kj} \Delta_{kj}^2.
    """
    with one_blas_thread():
        return _minimize(_Objective(log_score, y, weight, penalty), penalty)


def _minimize(objective: _Objective, penalty: FloatArray) -> FloatArray:
    """Return the map of lowest loss, by the solver that suits the penalties."""
    n_entries = len(objective.ridge)
    if not penalty.all():
        # Without a penalty on every entry, there may be no minimum.
        entries = minimize_convex(objective.loss, objective.hessian, n_entries, TOLERANCE)
    elif len(penalty) <= MAX_CLASSES_OF_HESSIAN or penalty.min() < SMALLEST_PENALTY_OF_PRODUCTS:
        entries = minimize_strictly_convex(
            objective.loss, objective.hessian, n_entries, STRICT_TOLERANCE
        )
    else:
        entries = minimize_strictly_convex(
            objective.loss, objective.hessian_products, n_entries, STRICT_TOLERANCE
        )
    return objective.to_map(entries)


class _Objective:
    """The penalized mean log loss of the free entries of an affine map, and its derivatives.

    Points are columns, so that operations on all classes run along contiguous memory.
    """

    def __init__(
        self, log_score: FloatArray, y: IndexArray, weight: FloatArray, penalty: FloatArray
    ):
        self.log_score = np.ascontiguousarray(log_score.T)
        self.inputs = np.vstack([self.log_score, np.ones(len(y))])
        self.true = y, np.arange(len(y))
        self.weight = weight / weight.sum()
        self.free = np.isfinite(penalty)
        self.ridge = penalty[self.free] / weight.sum()
        self.curvature = 2.0 * self.ridge + SMALLEST_CURVATURE
        self._update(np.zeros(len(self.ridge)))

    def to_map(self, entries: FloatArray) -> FloatArray:
        """Return the map with the given free entries."""
        delta = np.zeros(self.free.shape)
        delta[self.free] = entries
        return delta

    def _update(self, entries: FloatArray) -> None:
        """Compute the log losses and probabilities of the points."""
        logit = self.log_score + self.to_map(entries) @ self.inputs
        logit -= logit.max(axis=0)
        self.proba = np.exp(logit)
        total = self.proba.sum(axis=0)
        self.proba /= total
        self.log_loss = np.log(total) - logit[self.true]
        self.entries = entries

    def loss(self, entries: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss and its gradient."""
        self._update(entries)
        residual = self.weight * self.proba
        residual[self.true] -= self.weight
        gradient = (residual @ self.inputs.T)[self.free] + 2.0 * self.ridge * entries
        return float(self.weight @ self.log_loss + self.ridge @ entries**2), gradient

    def hessian(self, entries: FloatArray) -> FloatArray:
        """Return the Hessian.

        Its entry for classes k, l and inputs a, b is the weighted mean over the points of
        (1[k = l] p_k - p_k p_l) z_a z_b, which is computed once for each pair of classes and
        each pair of inputs.
        """
        if not np.array_equal(entries, self.entries):
            self._update(entries)
        first, second, _ = _pairs(len(self.proba))
        covariance = self.weight * self.proba[first]
        covariance *= (first == second)[:, None] - self.proba[second]
        hessian = np.take(covariance @ self._input_products, self._places)
        hessian.flat[:: len(hessian) + 1] += self.curvature
        return hessian

    @cached_property
    def _input_products(self) -> FloatArray:
        """The products of each pair of inputs, of shape (n_points, n_pairs)."""
        first, second, _ = _pairs(len(self.inputs))
        return (self.inputs[first] * self.inputs[second]).T

    @cached_property
    def _places(self) -> IndexArray:
        """The position of each entry of the Hessian among all pairs of classes and inputs."""
        k, a = np.nonzero(self.free)
        _, _, class_pair = _pairs(len(self.log_score))
        first, _, input_pair = _pairs(len(self.inputs))
        return class_pair[np.ix_(k, k)] * len(first) + input_pair[np.ix_(a, a)]

    def hessian_products(self, entries: FloatArray) -> HessianProducts:
        """Return the products with the Hessian.

        The preconditioner inverts the diagonal blocks of single classes. It also removes the
        component that all rows of the map share: adding the same vector to all rows leaves the
        probabilities unchanged, so the penalized sum of each column is 0 at the minimum and in
        every Newton step from 0.
        """
        if not np.array_equal(entries, self.entries):
            self._update(entries)
        proba, weighted = self.proba, self.weight * self.proba
        inverse_blocks = self._inverse_blocks

        def product(direction: FloatArray) -> FloatArray:
            change = self.to_map(direction) @ self.inputs
            change -= np.einsum("kn,kn->n", proba, change)
            change *= weighted
            return (change @ self.inputs.T)[self.free] + self.curvature * direction

        def precondition(residual: FloatArray) -> FloatArray:
            step = (inverse_blocks @ self.to_map(residual)[:, :, None])[:, :, 0]
            step -= (self._shares * step).sum(axis=0)
            return step[self.free]

        return HessianProducts(product, precondition)

    @cached_property
    def _inverse_blocks(self) -> FloatArray:
        """The inverses of the diagonal blocks of single classes of the first Hessian."""
        n_inputs = len(self.inputs)
        variance = self.weight * self.proba * (1.0 - self.proba)
        blocks = np.stack([(self.inputs * each) @ self.inputs.T for each in variance])
        blocks *= self.free[:, :, None] & self.free[:, None, :]
        # Fixed entries form an identity matrix, which keeps the blocks invertible.
        diagonal = np.where(self.free, self.to_map(self.curvature), 1.0)
        blocks[:, np.arange(n_inputs), np.arange(n_inputs)] += diagonal
        return np.linalg.inv(blocks)

    @cached_property
    def _shares(self) -> FloatArray:
        """The share of each entry in the penalty of its column; 0 in columns with fixed entries."""
        curvature = self.to_map(self.curvature) * self.free.all(axis=0)
        return curvature / np.maximum(curvature.sum(axis=0), SMALLEST_CURVATURE)


@lru_cache(maxsize=64)
def _pairs(n: int) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Return the members of all pairs i <= j < n, and a matrix with the index of each pair."""
    first, second = np.triu_indices(n)
    number = np.empty((n, n), dtype=np.intp)
    number[first, second] = number[second, first] = np.arange(len(first))
    return first, second, number
