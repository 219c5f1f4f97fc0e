"""Naive Bayes: moments and counts of every cell in every split, summed to those of the labels.

Statistics of training rows are sums over these rows, never differences of sums, and squares
are taken around the cell's own mean in the split: nothing cancels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import binarize

from calibrant._core.typing import FloatArray, IndexArray
from calibrant.generation.closed_form.blocks import Block, Share, ShareScores

# A spread so small beside the size of a feature may be rounding alone.
LEAST_SPREAD = 1e-12
# Arrays of so many numbers stay in a processor's cache.
CACHED_NUMBERS = 2**14
# GaussianNB gives a class no moments where its weights sum to nearly nothing.
LEAST_WEIGHT = 1e-7
# What force_alpha=False raises alpha to.
LEAST_ALPHA = 1e-10
# Categories are the numbers up to the largest; who has more has no categories.
MOST_CATEGORIES = 10_000
# A chance so much smaller than what it is a difference of is lost in rounding.
LEAST_CHANCE = 1e-6


class Moments(NamedTuple):
    """Total weights, means and sums of squared deviations; the last axis is the features'."""

    total: FloatArray
    mean: FloatArray
    square: FloatArray

    def united(self, share: Share, cells: IndexArray) -> Moments:
        """Moments of a union of cells in the splits of some parts."""
        total, mean, square = (values[share.split][:, cells] for values in self)
        weight = (total / total.sum(axis=1, keepdims=True))[..., None]
        center = (weight * mean).sum(axis=1)
        between = total[..., None] * (mean - center[:, None]) ** 2
        return Moments(total.sum(axis=1), center, (square + between).sum(axis=1))

    def variance(self, share: Share) -> FloatArray:
        """Variances of the scaled features."""
        return self.square / self.total[:, None] / share.scale**2


def gaussian_scores(estimator: GaussianNB, block: Block) -> Iterator[ShareScores]:
    """Scores of `GaussianNB`."""
    X = block.X - np.median(block.X, axis=0)
    least = LEAST_SPREAD * np.abs(block.X).max(axis=0)
    plain = _moments(X, block, None)
    weighted = plain if block.weight is None else _moments(X, block, block.weight)
    for share in block.shares:
        labels = [weighted.united(share, cells) for cells in share.cells]
        # The smoothing is a share of the largest variance, whatever the weights.
        largest = plain.united(share, np.concatenate(share.cells)).variance(share).max(axis=1)
        smoothing = estimator.var_smoothing * largest[:, None]
        total = np.stack([label.total for label in labels], axis=1)
        shares = total / total.sum(axis=1, keepdims=True)
        prior = shares if estimator.priors is None else np.asarray(estimator.priors, float)
        joint = np.empty((len(labels), len(share.rows)))
        with np.errstate(divide="ignore", invalid="ignore"):
            bias = np.where(total > LEAST_WEIGHT, np.log(prior), np.nan)
            for k, label in enumerate(labels):
                variance = label.variance(share) + smoothing
                spread = share.scale * np.sqrt(variance)
                bias[:, k] -= 0.5 * np.log(2.0 * np.pi * variance).sum(axis=1)
                bias[(spread <= least).any(axis=1), k] = np.nan
                square = _square_distances(X, share, label.mean, 1.0 / spread)
                joint[k] = bias[share.part, k] - 0.5 * square
        yield share, share.judged(joint, _posterior(joint))


def _square_distances(
    X: FloatArray, share: Share, mean: FloatArray, scale: FloatArray
) -> FloatArray:
    """Squared distances of all rows to score from the mean in their part, scaled."""
    square = np.empty(len(share.rows))
    step = max(1, CACHED_NUMBERS // X.shape[1])
    for first in range(0, len(square), step):
        some = slice(first, first + step)
        distance = X.take(share.rows[some], axis=0)
        distance -= mean.take(share.part[some], axis=0)
        distance *= scale.take(share.part[some], axis=0)
        square[some] = np.einsum("pd,pd->p", distance, distance)
    return square


def _moments(X: FloatArray, block: Block, weight: FloatArray | None) -> Moments:
    """Moments of every cell in every split."""
    shape = len(block.trained), block.cell.max() + 1
    moments = Moments(np.zeros(shape), *np.zeros((2, *shape, X.shape[1])))
    for cell in range(shape[1]):
        rows = np.flatnonzero(block.cell == cell)
        trained = block.trained[:, rows] * (1.0 if weight is None else weight[rows])
        total = trained.sum(axis=1)
        mean = trained @ X[rows] / np.where(total > 0, total, 1.0)[:, None]
        square = X[rows] - mean[:, None]
        square *= square
        moments.total[:, cell] = total
        moments.mean[:, cell] = mean
        moments.square[:, cell] = np.matmul(trained[:, None], square)[:, 0]
    return moments


def _posterior(joint: FloatArray) -> FloatArray:
    """Probabilities of the labels from joint log densities."""
    top = joint.max(axis=0)
    at_top = joint == top
    n_top = np.count_nonzero(at_top, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.exp(np.where(at_top, -np.inf, joint) - top).sum(axis=0) / n_top
        return np.exp(joint - (np.log1p(rest) + np.log(n_top) + top))


class LogLinear(ABC):
    """A naive Bayes whose log densities are linear in a table of counted features.

    Parameters
    ----------
    estimator : classifier
        One of scikit-learn's discrete naive Bayes classifiers.
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator
        alpha = np.asarray(estimator.alpha, dtype=float)
        self.alpha = alpha if estimator.force_alpha else np.maximum(alpha, LEAST_ALPHA)

    @classmethod
    def scores(cls, estimator: Any, block: Block) -> Iterator[ShareScores]:
        """Scores of the estimator; none for features that it refuses."""
        yield from cls(estimator)._scores(block)

    def _scores(self, block: Block) -> Iterator[ShareScores]:
        table = self.table(block)
        if table is None:
            return
        weight = np.ones(block.X.shape[0]) if block.weight is None else block.weight
        shape = len(block.trained), block.cell.max() + 1
        total, count = np.zeros(shape), np.zeros((*shape, table.shape[1]))
        for cell in range(shape[1]):
            rows = np.flatnonzero(block.cell == cell)
            trained = block.trained[:, rows] * weight[rows]
            total[:, cell] = trained.sum(axis=1)
            count[:, cell] = trained @ table[rows]
        for share in block.shares:
            own_total, own_count = (
                np.stack([values[share.split][:, cells].sum(axis=1) for cells in share.cells], 1)
                for values in (total, count)
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                slope, bias = self.line(own_count, own_total)
                lines = [
                    table[block.parts[position].test] @ slope[part].T + bias[part]
                    for part, position in enumerate(share.index)
                ]
            joint = np.concatenate(lines).T
            yield share, share.judged(joint, _posterior(joint))

    @abstractmethod
    def table(self, block: Block) -> Any | None:
        """Return the features that are counted; None if the estimator may refuse some."""

    @abstractmethod
    def line(self, count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Slopes and biases of the log densities; NaN where rounding decides them.

        Parameters
        ----------
        count : ndarray of shape (n_parts, n_labels, n_features)
            Weighted counts of the features in the training rows.
        total : ndarray of shape (n_parts, n_labels)
            The weights of the training rows.

        Returns
        -------
        slope : ndarray of shape (n_parts, n_labels, n_features)
            Slopes.
        bias : ndarray of shape (n_parts, n_labels)
            Biases.
        """

    def log_prior(self, total: FloatArray) -> FloatArray:
        """Log probabilities of the labels."""
        if self.estimator.class_prior is not None:
            return np.log(np.broadcast_to(self.estimator.class_prior, total.shape))
        if self.estimator.fit_prior:
            return np.log(total / total.sum(axis=1, keepdims=True))
        return np.full(total.shape, -np.log(total.shape[1]))


class Multinomial(LogLinear):
    """Log densities of `MultinomialNB`."""

    def table(self, block: Block) -> Any | None:
        """Return the features themselves, which must not be negative in training rows."""
        return None if block.X[np.any(block.trained, axis=0)].min() < 0 else block.X

    def line(self, count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log shares of the counts."""
        smooth = count + self.alpha
        return np.log(smooth / smooth.sum(axis=2, keepdims=True)), self.log_prior(total)


class Complement(Multinomial):
    """Scores of `ComplementNB`: what speaks against the other labels."""

    def line(self, count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log shares of the counts in the other labels."""
        everything = count.sum(axis=1, keepdims=True)
        others = everything + self.alpha - count
        others = np.where(others < LEAST_CHANCE * everything, np.nan, others)
        log_share = np.log(others / others.sum(axis=2, keepdims=True))
        norm = log_share.sum(axis=2, keepdims=True) if self.estimator.norm else -1.0
        return log_share / norm, np.zeros(total.shape)


class Bernoulli(LogLinear):
    """Log densities of `BernoulliNB`."""

    def table(self, block: Block) -> Any | None:
        """Return whether each feature is present."""
        if self.alpha.ndim:
            return None
        threshold = self.estimator.binarize
        return block.X if threshold is None else binarize(block.X, threshold=threshold)

    def line(self, count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log odds of presence, and the log chance that nothing is present."""
        chance = (count + self.alpha) / (total + 2.0 * self.alpha)[..., None]
        absent = np.log(np.where(1.0 - chance < LEAST_CHANCE, np.nan, 1.0 - chance))
        return np.log(chance) - absent, absent.sum(axis=2) + self.log_prior(total)


class Categorical(LogLinear):
    """Log densities of `CategoricalNB`, on indicators of the categories."""

    first: IndexArray

    def table(self, block: Block) -> Any | None:
        """Return one indicator for each category of each feature."""
        category = block.X.astype(np.intp)
        if category.min() < 0 or category.max() > MOST_CATEGORIES:
            return None
        n_categories = category.max(axis=0) + 1
        self.first = np.cumsum(n_categories) - n_categories
        columns = category + self.first
        rows = np.repeat(np.arange(len(category)), category.shape[1])
        shape = len(category), n_categories.sum()
        return csr_array((np.ones(columns.size), (rows, columns.ravel())), shape=shape)

    def line(self, count: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log shares of the categories; none for those beyond the training part's."""
        n_columns = count.shape[2]
        size = np.diff(np.append(self.first, n_columns))
        number = np.arange(n_columns) - np.repeat(self.first, size)
        seen = np.where(count.sum(axis=1) > 0, number + 1, 0)
        least = 0 if self.estimator.min_categories is None else self.estimator.min_categories
        known = np.maximum(np.maximum.reduceat(seen, self.first, axis=1), least)
        smooth = np.where(
            (number < np.repeat(known, size, axis=1))[:, None], count + self.alpha, np.nan
        )
        everything = total[..., None] + self.alpha * known[:, None]
        return (
            np.log(smooth / np.repeat(everything, size, axis=2)),
            self.log_prior(total),
        )
