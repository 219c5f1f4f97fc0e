"""Naive Bayes: class densities from the moments or counts of the training rows of every split."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import binarize

from calibrant._core.typing import FloatArray, IndexArray
from calibrant.generation.closed_form.batches import ProblemBatch, ProblemScores, SplitBatch
from calibrant.generation.closed_form.moments import DiagonalMoments, label_priors

# A standard deviation smaller than this, relative to the feature, may be a rounding error.
MIN_RELATIVE_SPREAD = 1e-12
# Arrays of this many numbers fit in the processor's cache.
CACHE_SIZE = 2**14
# GaussianNB computes no moments for a class whose weights sum to less than about this.
MIN_TOTAL_WEIGHT = 1e-7
# force_alpha=False raises alpha to this.
MIN_ALPHA = 1e-10
# Problems that have features with more categories than this are refitted.
MAX_CATEGORIES = 10_000
# A difference that is this much smaller than its terms has too few correct digits.
MIN_RELATIVE_DIFFERENCE = 1e-6


def gaussian_scores(estimator: GaussianNB, batch: SplitBatch) -> Iterator[ProblemScores]:
    r"""Compute the scores of `GaussianNB` as described in `ClosedForm`.

    Notes
    -----
    With the weight :math:`n_k`, mean :math:`\mu_k` and sum of squares :math:`S_k` of label
    :math:`k` in the training rows (see `Moments`), the joint log density is

    .. math::
        \log p(x, k) = \log \pi_k - \frac{1}{2} \sum_j \left[
            \log 2 \pi \sigma_{kj}^2 + \frac{(x_j - \mu_{kj})^2}{\sigma_{kj}^2} \right],
        \qquad \sigma_{kj}^2 = \frac{S_{kj}}{n_k} + \epsilon \max_j \sigma_j^2 ,

    where :math:`\pi_k = n_k / \sum_l n_l` unless priors are given, :math:`\epsilon` is
    ``var_smoothing``, and :math:`\sigma_j^2` are the variances over all training rows, which
    scikit-learn computes without weights.
    """
    X = batch.X - np.median(batch.X, axis=0)
    min_spread = MIN_RELATIVE_SPREAD * np.abs(batch.X).max(axis=0)
    unweighted = DiagonalMoments.of_cells(X, batch, None)
    weighted = unweighted
    if batch.sample_weight is not None:
        weighted = DiagonalMoments.of_cells(X, batch, batch.sample_weight)
    for problem in batch.problems:
        labels = [weighted.pool(problem, cells) for cells in problem.label_cells]
        everything = unweighted.pool(problem, np.concatenate(problem.label_cells))
        largest_variance = everything.variance(problem).max(axis=1)
        smoothing = estimator.var_smoothing * largest_variance[:, None]
        _, prior = label_priors(labels, estimator.priors)
        joint = np.empty((len(labels), len(problem.test_rows)))
        with np.errstate(divide="ignore", invalid="ignore"):
            for k, label in enumerate(labels):
                variance = label.variance(problem) + smoothing
                spread = problem.scale * np.sqrt(variance)
                bias = np.where(label.total > MIN_TOTAL_WEIGHT, np.log(prior[:, k]), np.nan)
                bias -= 0.5 * np.log(2.0 * np.pi * variance).sum(axis=1)
                bias[(spread <= min_spread).any(axis=1)] = np.nan
                square = _square_distances(X, problem, label.mean, 1.0 / spread)
                joint[k] = bias[problem.test_split] - 0.5 * square
        yield problem, problem.scores_from_density(joint, _posterior(joint))


def _square_distances(
    X: FloatArray, problem: ProblemBatch, mean: FloatArray, scale: FloatArray
) -> FloatArray:
    """Return the scaled squared distances of test rows from the mean in their split."""
    square = np.empty(len(problem.test_rows))
    step = max(1, CACHE_SIZE // X.shape[1])
    for first in range(0, len(square), step):
        chunk = slice(first, first + step)
        distance = X.take(problem.test_rows[chunk], axis=0)
        distance -= mean.take(problem.test_split[chunk], axis=0)
        distance *= scale.take(problem.test_split[chunk], axis=0)
        square[chunk] = np.einsum("pd,pd->p", distance, distance)
    return square


def _posterior(joint: FloatArray) -> FloatArray:
    """Return the probabilities of the labels from joint log densities."""
    largest = joint.max(axis=0)
    is_largest = joint == largest
    n_largest = np.count_nonzero(is_largest, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.exp(np.where(is_largest, -np.inf, joint) - largest).sum(axis=0) / n_largest
        return np.exp(joint - (np.log1p(others) + np.log(n_largest) + largest))


class DiscreteNaiveBayes(ABC):
    r"""Naive Bayes with joint log densities that are linear in the features.

    Parameters
    ----------
    estimator : MultinomialNB, ComplementNB, BernoulliNB or CategoricalNB
        The unfitted estimator.

    Notes
    -----
    With :math:`z(x)` the features, or indicators of their values,

    .. math:: \log p(x, k) = b_k + \sum_j a_{kj} \, z_j(x) ,

    where the coefficients :math:`a_{kj}` and intercepts :math:`b_k` depend on the training rows
    only through the total weight :math:`n_k` and the counts
    :math:`c_{kj} = \sum_i w_i \, z_j(x_i)` of each label. Both are sums over training rows, so
    for a label they are sums over its cells.
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator
        alpha = np.asarray(estimator.alpha, dtype=float)
        self.alpha = alpha if estimator.force_alpha else np.maximum(alpha, MIN_ALPHA)

    @classmethod
    def scores(cls, estimator: Any, batch: SplitBatch) -> Iterator[ProblemScores]:
        """Compute the scores of the estimator as described in `ClosedForm`.

        Yields nothing for features that the estimator might reject.
        """
        yield from cls(estimator)._scores(batch)

    def _scores(self, batch: SplitBatch) -> Iterator[ProblemScores]:
        Z = self.indicators(batch)
        if Z is None:
            return
        weight = np.ones(batch.X.shape[0]) if batch.sample_weight is None else batch.sample_weight
        shape = batch.n_full_splits, batch.n_cells
        cell_total, cell_count = np.zeros(shape), np.zeros((*shape, Z.shape[1]))
        for cell in range(batch.n_cells):
            rows = np.flatnonzero(batch.cell == cell)
            train_weight = batch.in_training[:, rows] * weight[rows]
            cell_total[:, cell] = train_weight.sum(axis=1)
            cell_count[:, cell] = train_weight @ Z[rows]
        for problem in batch.problems:
            total, count = (
                np.stack(
                    [
                        values[problem.full_split][:, cells].sum(axis=1)
                        for cells in problem.label_cells
                    ],
                    axis=1,
                )
                for values in (cell_total, cell_count)
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                coef, intercept = self.coefficients(count, total)
                split_joints = [
                    Z[test] @ coef[split].T + intercept[split]
                    for split, test in enumerate(problem.tests)
                ]
            joint = np.concatenate(split_joints).T
            yield problem, problem.scores_from_density(joint, _posterior(joint))

    @abstractmethod
    def indicators(self, batch: SplitBatch) -> Any | None:
        """Return the columns to count, or None if the estimator might reject the features."""

    @abstractmethod
    def coefficients(self, count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients and intercepts of the joint log densities.

        Parameters
        ----------
        count : ndarray of shape (n_splits, n_labels, n_columns)
            The weighted counts of the columns in the training rows.
        total : ndarray of shape (n_splits, n_labels)
            The total weights of the training rows.

        Returns
        -------
        coef : ndarray of shape (n_splits, n_labels, n_columns)
            The coefficients; NaN where rounding errors are too large.
        intercept : ndarray of shape (n_splits, n_labels)
            The intercepts; NaN where rounding errors are too large.
        """

    def log_prior(self, total: FloatArray) -> FloatArray:
        """Return the log prior probabilities of the labels."""
        if self.estimator.class_prior is not None:
            return np.log(np.broadcast_to(self.estimator.class_prior, total.shape))
        if self.estimator.fit_prior:
            return np.log(total / total.sum(axis=1, keepdims=True))
        return np.full(total.shape, -np.log(total.shape[1]))


class Multinomial(DiscreteNaiveBayes):
    r"""Joint log densities of `MultinomialNB`.

    Notes
    -----
    .. math::
        a_{kj} = \log \frac{c_{kj} + \alpha_j}{\sum_l (c_{kl} + \alpha_l)},
        \qquad b_k = \log \pi_k .
    """

    def indicators(self, batch: SplitBatch) -> Any | None:
        """Return the features, or None if a training row has a negative one."""
        return None if batch.X[np.any(batch.in_training, axis=0)].min() < 0 else batch.X

    def coefficients(self, count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log frequencies and log priors."""
        smoothed = count + self.alpha
        return np.log(smoothed / smoothed.sum(axis=2, keepdims=True)), self.log_prior(total)


class Complement(Multinomial):
    r"""Joint log densities of `ComplementNB`.

    Notes
    -----
    With the counts of the other labels, :math:`\bar c_{kj} = \sum_{m \ne k} c_{mj}`,

    .. math::
        a_{kj} = -\log \frac{\bar c_{kj} + \alpha_j}{\sum_l (\bar c_{kl} + \alpha_l)},
        \qquad b_k = 0 ,

    and ``norm=True`` divides :math:`a_{kj}` by :math:`\sum_j a_{kj}`.
    """

    def coefficients(self, count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return negative log frequencies in the other labels, and zeros."""
        all_labels = count.sum(axis=1, keepdims=True)
        others = all_labels + self.alpha - count
        others = np.where(others < MIN_RELATIVE_DIFFERENCE * all_labels, np.nan, others)
        log_frequency = np.log(others / others.sum(axis=2, keepdims=True))
        norm = log_frequency.sum(axis=2, keepdims=True) if self.estimator.norm else -1.0
        return log_frequency / norm, np.zeros(total.shape)


class Bernoulli(DiscreteNaiveBayes):
    r"""Joint log densities of `BernoulliNB`.

    Notes
    -----
    With the frequencies of presence :math:`q_{kj} = (c_{kj} + \alpha) / (n_k + 2 \alpha)`,

    .. math::
        a_{kj} = \log \frac{q_{kj}}{1 - q_{kj}},
        \qquad b_k = \log \pi_k + \sum_j \log (1 - q_{kj}) .
    """

    def indicators(self, batch: SplitBatch) -> Any | None:
        """Return whether each feature is present, or None if features differ in smoothing."""
        if self.alpha.ndim:
            return None
        threshold = self.estimator.binarize
        return batch.X if threshold is None else binarize(batch.X, threshold=threshold)

    def coefficients(self, count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log odds of presence and the log probability that no feature is present."""
        present = (count + self.alpha) / (total + 2.0 * self.alpha)[..., None]
        absent = 1.0 - present
        log_absent = np.log(np.where(absent < MIN_RELATIVE_DIFFERENCE, np.nan, absent))
        return np.log(present) - log_absent, log_absent.sum(axis=2) + self.log_prior(total)


class Categorical(DiscreteNaiveBayes):
    r"""Joint log densities of `CategoricalNB`, with one indicator per category.

    Notes
    -----
    For category :math:`t` of a feature with :math:`m` categories,

    .. math::
        a_{kt} = \log \frac{c_{kt} + \alpha}{n_k + \alpha m}, \qquad b_k = \log \pi_k .

    The estimator derives :math:`m` from the largest category in the training rows and from
    ``min_categories``; it has no density for larger categories in test rows.
    """

    first_column: IndexArray

    def indicators(self, batch: SplitBatch) -> Any | None:
        """Return one indicator per category, or None if some values are not categories."""
        category = batch.X.astype(np.intp)
        if category.min() < 0 or category.max() > MAX_CATEGORIES:
            return None
        n_categories = category.max(axis=0) + 1
        self.first_column = np.cumsum(n_categories) - n_categories
        columns = category + self.first_column
        rows = np.repeat(np.arange(len(category)), category.shape[1])
        shape = len(category), n_categories.sum()
        return csr_array((np.ones(columns.size), (rows, columns.ravel())), shape=shape)

    def coefficients(self, count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log frequencies, NaN for categories unknown in a split, and log priors."""
        n_columns = count.shape[2]
        size = np.diff(np.append(self.first_column, n_columns))
        category = np.arange(n_columns) - np.repeat(self.first_column, size)
        min_categories = self.estimator.min_categories
        n_categories = np.maximum(
            np.maximum.reduceat(
                np.where(count.sum(axis=1) > 0, category + 1, 0), self.first_column, axis=1
            ),
            0 if min_categories is None else min_categories,
        )
        is_known = category < np.repeat(n_categories, size, axis=1)
        smoothed = np.where(is_known[:, None], count + self.alpha, np.nan)
        smoothed_total = total[..., None] + self.alpha * n_categories[:, None]
        return np.log(smoothed / np.repeat(smoothed_total, size, axis=2)), self.log_prior(total)
