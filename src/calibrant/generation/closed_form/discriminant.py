"""Discriminant analysis: scatter of every cell in every split, summed to that of the labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax

from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.generation.closed_form.blocks import (
    ROUNDING,
    Block,
    Share,
    ShareScores,
)

Flags = BoolArray

# What varies less than this beside its size may do so by rounding alone.
LEAST_SPREAD = 1e-10
# Smaller eigenvalues of a correlation matrix have too few digits left to divide by.
LEAST_EIGENVALUE = 1e-5
LAST_DIGIT = float(np.finfo(float).eps)
# Rounding in squared distances along the axes, once divided by the least eigenvalue.
DIVISION = 8 * LAST_DIGIT
# How much a refit itself may be off where features are far from the origin: it does not
# center them before it multiplies.
REFIT_NOISE = 1e-9
# Rounding may put what is this near to a threshold on either side of it.
NEAR = 1e-6
# How far LinearDiscriminantAnalysis lets priors be from a sum of 1 before it scales them.
PRIORS_TOLERANCE = 1e-5


class Scatter(NamedTuple):
    """Numbers of rows, means, and sums of the products of deviations from them."""

    total: FloatArray
    mean: FloatArray
    product: FloatArray

    def united(self, share: Share, cells: IndexArray) -> Scatter:
        """Scatter of a union of cells in the splits of some parts."""
        total, mean, product = (values[share.split][:, cells] for values in self)
        weight = (total / total.sum(axis=1, keepdims=True))[..., None]
        center = (weight * mean).sum(axis=1)
        shift = mean - center[:, None]
        between = np.einsum("pc,pci,pcj->pij", total, shift, shift)
        return Scatter(total.sum(axis=1), center, product.sum(axis=1) + between)

    def covariance(self, share: Share, shrinkage: float | None) -> FloatArray:
        """Covariance of the scaled features, shrunk toward a multiple of the identity."""
        scale = share.scale[:, :, None] * share.scale[:, None]
        covariance = self.product / scale / self.total[:, None, None]
        if shrinkage is None:
            return covariance
        variance = np.trace(covariance, axis1=1, axis2=2) / covariance.shape[1]
        return _blend(covariance, shrinkage, variance[:, None, None])


class Whitening(NamedTuple):
    """Axes of the features, unscaled, along which a covariance of scaled ones is the identity.

    Attributes
    ----------
    axes : ndarray of shape (n_parts, n_features, n_features)
        One axis a column; zero for those left out.
    log_det : ndarray of shape (n_parts,)
        The log determinant of the covariance, if no axis is left out.
    rounding : ndarray of shape (n_parts,)
        The relative error of squared distances along the axes.
    certain : ndarray of shape (n_parts,)
        Whether rounding can change neither what is left out nor much of the rest.
    """

    axes: FloatArray
    log_det: FloatArray
    rounding: FloatArray
    certain: Flags

    def distance(self, place: FloatArray) -> FloatArray:
        """Distances of places from the origin, along the axes."""
        return np.sqrt(np.square(np.einsum("pd,pda->pa", place, self.axes)).sum(axis=1))


def linear_scores(estimator: Any, block: Block) -> Iterator[ShareScores]:
    """Scores of `LinearDiscriminantAnalysis`; none where more than scatter decides."""
    if isinstance(estimator.shrinkage, str) or estimator.covariance_estimator is not None:
        return
    by_svd = estimator.solver == "svd"
    middle, size = np.median(block.X, axis=0), np.abs(block.X).max(axis=0)
    X = block.X - middle
    scatter = _scatter(X, block)
    for share in block.shares:
        labels = [scatter.united(share, cells) for cells in share.cells]
        mean = np.stack([label.mean for label in labels], axis=1)
        row_share, prior = _priors(labels, estimator.priors)
        if abs(prior[0].sum() - 1.0) > PRIORS_TOLERANCE:
            prior = prior / prior[0].sum()
        center = np.einsum("pl,pld->pd", prior, mean)
        # The svd solver weights labels by their rows, whatever the priors.
        covariances = [label.covariance(share, estimator.shrinkage) for label in labels]
        within = np.einsum("pl,lpij->pij", row_share if by_svd else prior, covariances)
        white = _whiten(within, size, share, estimator.tol**2 if by_svd else 0.0)
        place = (mean - center[:, None]) @ white.axes
        certain = white.certain & (np.abs(place).max(axis=(1, 2)) > LEAST_SPREAD)
        if by_svd:
            place, known = _along_main_axes(place, np.sqrt(prior), estimator.tol)
            certain = certain & known
            lever = np.sqrt(np.square(place).sum(axis=2)).max(axis=1)
        else:
            certain = certain & np.all([label.total > 1 for label in labels], axis=0)
            lever = white.distance(center + middle)
        certain &= LAST_DIGIT * white.distance(center + middle) * lever < REFIT_NOISE
        bias = _log(prior) - 0.5 * np.square(place).sum(axis=2)
        bias[~certain] = np.nan
        lines = [
            (X[block.parts[position].test] - center[part]) @ white.axes[part] @ place[part].T
            + bias[part]
            for part, position in enumerate(share.index)
        ]
        joint = np.concatenate(lines).T
        if len(labels) == 2:
            positive = expit(joint[1] - joint[0])
            proba = np.stack([1.0 - positive, positive])
        else:
            proba = softmax(joint, axis=0)
        yield share, share.judged(joint, proba, white.rounding[share.part])


def quadratic_scores(estimator: Any, block: Block) -> Iterator[ShareScores]:
    """Scores of `QuadraticDiscriminantAnalysis`; none where more than scatter decides."""
    shrinkage = getattr(estimator, "shrinkage", None)
    if isinstance(shrinkage, str) or getattr(estimator, "covariance_estimator", None) is not None:
        return
    by_svd = getattr(estimator, "solver", "svd") == "svd"
    middle, size = np.median(block.X, axis=0), np.abs(block.X).max(axis=0)
    X = block.X - middle
    scatter = _scatter(X, block)
    least_rows = max(2, X.shape[1]) if by_svd else 2
    for share in block.shares:
        labels = [scatter.united(share, cells) for cells in share.cells]
        _, prior = _priors(labels, estimator.priors)
        joint = _log(prior).T[:, share.part]
        rounding = np.zeros(len(share.index))
        for k, label in enumerate(labels):
            covariance = label.covariance(share, shrinkage)
            if by_svd:
                covariance = _blend(covariance, estimator.reg_param, 1.0)
            white = _whiten(covariance, size, share, 0.0)
            certain = white.certain & (label.total >= least_rows)
            certain &= _least_variance(covariance) > estimator.tol * (1.0 + NEAR)
            certain &= LAST_DIGIT * white.distance(label.mean + middle) < REFIT_NOISE
            square = [
                np.square((X[block.parts[position].test] - label.mean[part]) @ white.axes[part])
                for part, position in enumerate(share.index)
            ]
            log_det = np.where(certain, white.log_det, np.nan)[share.part]
            joint[k] -= 0.5 * (np.concatenate(square).sum(axis=1) + log_det)
            rounding = np.maximum(rounding, white.rounding)
        with np.errstate(invalid="ignore"):
            log_odds = joint - joint.max(axis=0)
            proba = np.exp(log_odds - np.log(np.exp(log_odds).sum(axis=0)))
        yield share, share.judged(joint, proba, rounding[share.part])


def _scatter(X: FloatArray, block: Block) -> Scatter:
    """Scatter of every cell in every split."""
    shape, d = (len(block.trained), block.cell.max() + 1), X.shape[1]
    scatter = Scatter(np.zeros(shape), np.zeros((*shape, d)), np.zeros((*shape, d, d)))
    for cell in range(shape[1]):
        members = np.flatnonzero(block.cell == cell)
        for split, trained in enumerate(block.trained[:, members]):
            rows = members[trained]
            if len(rows):
                mean = X[rows].mean(axis=0)
                deviation = X[rows] - mean
                scatter.total[split, cell] = len(rows)
                scatter.mean[split, cell] = mean
                scatter.product[split, cell] = deviation.T @ deviation
    return scatter


def _priors(labels: list[Scatter], given: Any) -> tuple[FloatArray, FloatArray]:
    """Shares of the labels in each part's rows, and their prior probabilities."""
    total = np.stack([label.total for label in labels], axis=1)
    share = total / total.sum(axis=1, keepdims=True)
    return share, share if given is None else np.broadcast_to(np.asarray(given, float), share.shape)


def _log(prior: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(prior)


def _blend(covariance: FloatArray, share: float, variance: float | FloatArray) -> FloatArray:
    """Mix covariances with a multiple of the identity."""
    return (1.0 - share) * covariance + share * variance * np.eye(covariance.shape[1])


def _least_variance(covariance: FloatArray) -> FloatArray:
    """Least variance in any direction, less what rounding may add to it."""
    variance = np.linalg.eigvalsh(covariance)
    return variance[:, 0] - ROUNDING * variance[:, -1]


def _whiten(covariance: FloatArray, size: FloatArray, share: Share, least: float) -> Whitening:
    """Whiten covariances, leaving out the correlation's eigenvalues up to ``least``."""
    scale = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    varies = (scale > LEAST_SPREAD * size / share.scale) | (size == 0)
    scale = np.where(scale > 0, scale, 1.0)
    eigenvalue, vector = np.linalg.eigh(covariance / (scale[:, :, None] * scale[:, None]))
    kept = eigenvalue > least
    rounding = ROUNDING * eigenvalue.shape[1]
    doubtful = (eigenvalue > least * (1.0 - NEAR) - rounding) & (
        eigenvalue < max(LEAST_EIGENVALUE, least * (1.0 + NEAR))
    )
    eigenvalue = np.where(kept, eigenvalue, 1.0)
    return Whitening(
        np.where(kept[:, None], vector, 0.0)
        / np.sqrt(eigenvalue)[:, None]
        / (scale * share.scale)[..., None],
        np.log(eigenvalue).sum(axis=1) + 2.0 * np.log(scale).sum(axis=1),
        DIVISION / eigenvalue.min(axis=1),
        varies.all(axis=1) & ~doubtful.any(axis=1),
    )


def _along_main_axes(place: FloatArray, weight: FloatArray, tol: float) -> tuple[FloatArray, Flags]:
    """Leave out of the labels' places what they hardly differ in, and whether that is certain."""
    _, spread, axes = np.linalg.svd(weight[..., None] * place, full_matrices=False)
    least = tol * spread[:, :1]
    kept = spread > least
    doubtful: Flags = np.abs(spread - least) <= NEAR * least + ROUNDING * spread[:, :1]
    main = np.where(kept[..., None], axes, 0.0)
    return place @ main.swapaxes(1, 2) @ main, ~np.any(doubtful, axis=1)
