"""Means, variances and covariances of the training rows of many splits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant._core.typing import FloatArray, IndexArray
from calibrant.generation.closed_form.batches import ProblemBatch, SplitBatch


@dataclass(frozen=True, eq=False)
class Moments(ABC):
    r"""Weight, mean and scatter of sets of training rows.

    Attributes
    ----------
    total : ndarray of shape (n_splits, n_cells) or (n_splits,)
        The sum of the weights, or the number of rows.
    mean : ndarray of shape (\*total.shape, n_features)
        The means.
    scatter : ndarray
        The sums of squares or products of deviations from the mean.

    Notes
    -----
    A set :math:`A` of rows with weights :math:`w_i` has the moments

    .. math::
        n_A = \sum_{i \in A} w_i, \quad
        \mu_A = \frac{1}{n_A} \sum_{i \in A} w_i x_i, \quad
        S_A = \sum_{i \in A} w_i (x_i - \mu_A)(x_i - \mu_A)^\top ,

    and a union of disjoint sets has the moments

    .. math::
        n = \sum_A n_A, \quad
        \mu = \frac{1}{n} \sum_A n_A \mu_A, \quad
        S = \sum_A \left[S_A + n_A (\mu_A - \mu)(\mu_A - \mu)^\top\right] .

    Moments are computed as sums over the training rows, not as the difference between sums over
    all rows and over held-out rows, and deviations are taken from the mean of the set itself.
    Hence there is no cancellation.
    """

    total: FloatArray
    mean: FloatArray
    scatter: FloatArray

    def pool(self, problem: ProblemBatch, cells: IndexArray) -> Self:
        """Return the moments of a union of cells in each split of a problem.

        Parameters
        ----------
        problem : ProblemBatch
            The splits of a problem.
        cells : ndarray
            The cells to pool.

        Returns
        -------
        Moments
            The pooled moments, one entry per split.
        """
        total, mean, scatter = (
            values[problem.full_split][:, cells] for values in (self.total, self.mean, self.scatter)
        )
        weight = (total / total.sum(axis=1, keepdims=True))[..., None]
        center = (weight * mean).sum(axis=1)
        pooled = self._pool_scatter(scatter, total, mean - center[:, None])
        return type(self)(total.sum(axis=1), center, pooled)

    @staticmethod
    @abstractmethod
    def _pool_scatter(scatter: FloatArray, total: FloatArray, shift: FloatArray) -> FloatArray:
        """Add the scatter within the cells to the scatter of their means around the joint mean."""


class DiagonalMoments(Moments):
    """Moments whose scatter is one sum of squares per feature."""

    @classmethod
    def of_cells(cls, X: FloatArray, batch: SplitBatch, sample_weight: FloatArray | None) -> Self:
        """Compute the moments of every cell in every resampling split.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The features.
        batch : SplitBatch
            The splits.
        sample_weight : ndarray of shape (n_samples,) or None
            The weights of the rows; None means equal weights.

        Returns
        -------
        DiagonalMoments
            The moments, one entry per resampling split and cell.
        """
        shape = batch.n_full_splits, batch.n_cells
        total, mean, scatter = np.zeros(shape), *np.zeros((2, *shape, X.shape[1]))
        for cell in range(batch.n_cells):
            rows = np.flatnonzero(batch.cell == cell)
            weight = batch.in_training[:, rows] * (
                1.0 if sample_weight is None else sample_weight[rows]
            )
            total[:, cell] = weight.sum(axis=1)
            divisor = np.where(total[:, cell] > 0, total[:, cell], 1.0)
            mean[:, cell] = weight @ X[rows] / divisor[:, None]
            square = X[rows] - mean[:, cell, None]
            square *= square
            scatter[:, cell] = np.matmul(weight[:, None], square)[:, 0]
        return cls(total, mean, scatter)

    def variance(self, problem: ProblemBatch) -> FloatArray:
        """Return the variances of the scaled features in each split of a problem."""
        return self.scatter / self.total[:, None] / problem.scale**2

    @staticmethod
    def _pool_scatter(scatter: FloatArray, total: FloatArray, shift: FloatArray) -> FloatArray:
        return (scatter + total[..., None] * shift**2).sum(axis=1)


class FullMoments(Moments):
    """Moments whose scatter is a matrix of sums of products."""

    @classmethod
    def of_cells(cls, X: FloatArray, batch: SplitBatch) -> Self:
        """Compute the moments of every cell in every resampling split.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The features.
        batch : SplitBatch
            The splits.

        Returns
        -------
        FullMoments
            The moments, one entry per resampling split and cell.
        """
        shape, d = (batch.n_full_splits, batch.n_cells), X.shape[1]
        total, mean, scatter = np.zeros(shape), np.zeros((*shape, d)), np.zeros((*shape, d, d))
        for cell in range(batch.n_cells):
            members = np.flatnonzero(batch.cell == cell)
            for split, in_training in enumerate(batch.in_training[:, members]):
                rows = members[in_training]
                if len(rows):
                    total[split, cell] = len(rows)
                    mean[split, cell] = X[rows].mean(axis=0)
                    deviation = X[rows] - mean[split, cell]
                    scatter[split, cell] = deviation.T @ deviation
        return cls(total, mean, scatter)

    def covariance(self, problem: ProblemBatch, shrinkage: float | None) -> FloatArray:
        """Return the covariances of the scaled features in each split of a problem.

        Parameters
        ----------
        problem : ProblemBatch
            The splits of a problem.
        shrinkage : float or None
            The weight of the multiple of the identity that has the same trace; None means no
            shrinkage.

        Returns
        -------
        ndarray of shape (n_splits, n_features, n_features)
            The covariances.
        """
        scale = problem.scale[:, :, None] * problem.scale[:, None]
        covariance = self.scatter / scale / self.total[:, None, None]
        if shrinkage is None:
            return covariance
        variance = np.trace(covariance, axis1=1, axis2=2) / covariance.shape[1]
        return shrink(covariance, shrinkage, variance[:, None, None])

    @staticmethod
    def _pool_scatter(scatter: FloatArray, total: FloatArray, shift: FloatArray) -> FloatArray:
        return scatter.sum(axis=1) + np.einsum("sc,sci,scj->sij", total, shift, shift)


def shrink(covariance: FloatArray, shrinkage: float, variance: float | FloatArray) -> FloatArray:
    """Return the weighted average of covariances and a multiple of the identity."""
    identity = variance * np.eye(covariance.shape[1])
    return (1.0 - shrinkage) * covariance + shrinkage * identity


def label_priors(labels: list[Any], priors: Any) -> tuple[FloatArray, FloatArray]:
    """Return the frequencies and prior probabilities of the labels in each split.

    Parameters
    ----------
    labels : list of Moments
        The moments of each label.
    priors : array-like of shape (n_labels,) or None
        The estimator's prior probabilities; None means the frequencies.

    Returns
    -------
    frequency, prior : ndarray of shape (n_splits, n_labels)
        The fractions of the total weight, and the prior probabilities.
    """
    total = np.stack([label.total for label in labels], axis=1)
    frequency = total / total.sum(axis=1, keepdims=True)
    if priors is None:
        return frequency, frequency
    return frequency, np.broadcast_to(np.asarray(priors, float), frequency.shape)
