"""Multinomial logistic regression with offsets and ridge penalties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core.newton import minimize_strictly_convex
from calibrant._core.rowwise import log_softmax, row_sums
from calibrant._core.typing import FloatArray, IndexArray

# The norm of the gradient of the mean loss at which a fit has converged.
TOLERANCE = 1e-9
# A ridge penalty on all parameters, relative to the number of rows. It bounds parameters that the
# rows do not determine, and changes the others by less than the interval of any estimate.
LEAST_RIDGE = 1e-9


@dataclass(frozen=True, eq=False)
class MultinomialModel:
    r"""A multinomial logistic model in which every logit has columns of its own.

    The logits of row i are :math:`o_{ik} + \sum_{p : c(p) = k} x_{ip} \theta_p`, and the
    probabilities are their softmax.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_parameters)
        The values that multiply each parameter.
    logit_of : ndarray of shape (n_parameters,)
        The class whose logit each parameter enters.
    offset : ndarray of shape (n_rows, n_classes)
        The known part of the logits.
    target : ndarray of shape (n_rows, n_classes)
        The weight of each row, in the column of its class.
    ridge : ndarray of shape (n_parameters,)
        Penalties: the log likelihood of all rows is lowered by half the weighted sum of squares.
    """

    columns: FloatArray
    logit_of: IndexArray
    offset: FloatArray
    target: FloatArray
    ridge: FloatArray

    @cached_property
    def weight(self) -> FloatArray:
        """The weights of the rows, as a column."""
        return row_sums(self.target)

    @cached_property
    def indicator(self) -> FloatArray:
        """The class of each parameter, one-hot."""
        return np.eye(self.offset.shape[1])[self.logit_of]

    def logits(self, parameters: FloatArray) -> FloatArray:
        """Return the logits of all rows."""
        return self.offset + (self.columns * parameters) @ self.indicator

    def proba(self, parameters: FloatArray) -> FloatArray:
        """Return the probabilities of all rows."""
        return np.exp(log_softmax(self.logits(parameters)))

    def log_likelihood(self, parameters: FloatArray) -> float:
        """Return the log likelihood, without the penalty."""
        return float(np.sum(self.target * log_softmax(self.logits(parameters))))

    def fit(self, start: FloatArray | None = None) -> FloatArray:
        """Return the parameters with the largest penalized likelihood."""
        first = np.zeros(len(self.ridge)) if start is None else start
        total = float(self.weight.sum())
        ridge = self.ridge / total + LEAST_RIDGE

        def loss(change: FloatArray) -> tuple[float, FloatArray]:
            parameters = first + change
            log_proba = log_softmax(self.logits(parameters))
            value = 0.5 * ridge @ parameters**2 - np.sum(self.target * log_proba) / total
            residual = (self.weight * np.exp(log_proba) - self.target) / total
            gradient = (self.columns * (residual @ self.indicator.T)).sum(axis=0)
            return float(value), gradient + ridge * parameters

        def hessian(change: FloatArray) -> FloatArray:
            return self.information(first + change) / total + LEAST_RIDGE * np.eye(len(ridge))

        return first + minimize_strictly_convex(loss, hessian, len(ridge), TOLERANCE)

    def information(self, parameters: FloatArray) -> FloatArray:
        """Return the Hessian of the penalized negative log likelihood."""
        weighted = self.columns * (self.proba(parameters) @ self.indicator.T)
        within = (weighted * self.weight).T @ self.columns
        between = (weighted * self.weight).T @ weighted
        return within * (self.indicator @ self.indicator.T) - between + np.diag(self.ridge)

    def score_products(self, parameters: FloatArray) -> FloatArray:
        """Return the sum over rows of the outer product of the score with itself."""
        residual = self.target / self.weight - self.proba(parameters)
        scores = self.columns * (residual @ self.indicator.T)
        return (scores * self.weight).T @ scores

    def log_evidence(self, parameters: FloatArray) -> float:
        """Return the log marginal likelihood at the fitted parameters, up to a constant.

        The penalties are normal priors, all of which must be positive, and the integral is
        Laplace's approximation.
        """
        penalty = self.ridge @ parameters**2 - np.log(self.ridge).sum()
        _, log_determinant = np.linalg.slogdet(self.information(parameters))
        return self.log_likelihood(parameters) - 0.5 * (float(penalty) + log_determinant)
