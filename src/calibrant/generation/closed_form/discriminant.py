"""Discriminant analysis: class densities from the means and covariances of every split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax

from calibrant._core.typing import BoolArray, FloatArray
from calibrant.generation.closed_form.batches import (
    ROUNDING,
    ProblemBatch,
    ProblemScores,
    SplitBatch,
)
from calibrant.generation.closed_form.moments import FullMoments, label_priors, shrink

# A standard deviation smaller than this, relative to the feature, may be a rounding error.
MIN_RELATIVE_SPREAD = 1e-10
# Smaller eigenvalues of a correlation matrix have too few correct digits to divide by.
MIN_EIGENVALUE = 1e-5
EPSILON = float(np.finfo(float).eps)
# Relative rounding error of squared distances, times the smallest eigenvalue.
DISTANCE_ROUNDING = 8 * EPSILON
# The largest rounding error allowed in a refit. Refits multiply features before centering them,
# which loses digits if means are far from 0.
MAX_REFIT_ERROR = 1e-9
# Rounding can push a value across a threshold if its relative distance is below this.
THRESHOLD_MARGIN = 1e-6
# LinearDiscriminantAnalysis normalizes priors whose sum differs from 1 by more than this.
PRIORS_TOLERANCE = 1e-5


class Whitening(NamedTuple):
    """Linear maps that whiten covariance matrices.

    Attributes
    ----------
    axes : ndarray of shape (n_splits, n_features, n_features)
        One axis per column, for unscaled features; zero for dropped axes.
    log_det : ndarray of shape (n_splits,)
        The log determinants of the covariance matrices, if no axis is dropped.
    rounding : ndarray of shape (n_splits,)
        The relative rounding errors of squared distances along the axes.
    is_stable : ndarray of shape (n_splits,)
        Whether rounding errors leave the choice of axes unchanged and the axes themselves
        nearly so.
    """

    axes: FloatArray
    log_det: FloatArray
    rounding: FloatArray
    is_stable: BoolArray

    def norm(self, points: FloatArray) -> FloatArray:
        """Return the Euclidean norm, along the axes, of one point per split."""
        return np.sqrt(np.square(np.einsum("sd,sda->sa", points, self.axes)).sum(axis=1))


def linear_scores(estimator: Any, batch: SplitBatch) -> Iterator[ProblemScores]:
    r"""Compute the scores of `LinearDiscriminantAnalysis` as described in `ClosedForm`.

    Yields nothing if the covariance estimate needs more than means and scatter matrices.

    Notes
    -----
    With the means :math:`\mu_k` and scatter matrices :math:`S_k` of the labels in the training
    rows (see `Moments`), the within-class covariance :math:`\Sigma = \sum_k \omega_k S_k / n_k`,
    shrunk if the estimator shrinks it, has the weights :math:`\omega_k = n_k / \sum_l n_l` with
    the svd solver and :math:`\omega_k = \pi_k` with the others. A matrix :math:`W` that whitens
    it, :math:`W^\top \Sigma W = I`, gives

    .. math::
        \log p(x, k) = (x - \bar\mu)^\top W \, m_k - \tfrac{1}{2} \lVert m_k \rVert^2
            + \log \pi_k + c(x),
        \qquad m_k = W^\top (\mu_k - \bar\mu), \quad \bar\mu = \sum_k \pi_k \mu_k .

    The svd solver drops directions in which the data or the means :math:`m_k` hardly vary.
    Splits in which rounding could change what it drops are refitted. Earlier versions of
    scikit-learn divide by the degrees of freedom instead of :math:`n_k`; with these versions,
    the check in `closed_form_scores` causes all splits to be refitted.
    """
    if isinstance(estimator.shrinkage, str) or estimator.covariance_estimator is not None:
        return
    by_svd = estimator.solver == "svd"
    median, size = np.median(batch.X, axis=0), np.abs(batch.X).max(axis=0)
    X = batch.X - median
    cell_moments = FullMoments.of_cells(X, batch)
    for problem in batch.problems:
        labels = [cell_moments.pool(problem, cells) for cells in problem.label_cells]
        mean = np.stack([label.mean for label in labels], axis=1)
        frequency, prior = label_priors(labels, estimator.priors)
        if abs(prior[0].sum() - 1.0) > PRIORS_TOLERANCE:
            prior = prior / prior[0].sum()
        center = np.einsum("sl,sld->sd", prior, mean)
        covariances = [label.covariance(problem, estimator.shrinkage) for label in labels]
        within = np.einsum("sl,lsij->sij", frequency if by_svd else prior, covariances)
        whitening = _whiten(within, size, problem, estimator.tol**2 if by_svd else 0.0)
        place = (mean - center[:, None]) @ whitening.axes
        is_stable = whitening.is_stable & (np.abs(place).max(axis=(1, 2)) > MIN_RELATIVE_SPREAD)
        if by_svd:
            place, keeps_axes = _drop_minor_axes(place, np.sqrt(prior), estimator.tol)
            is_stable = is_stable & keeps_axes
            leverage = np.sqrt(np.square(place).sum(axis=2)).max(axis=1)
        else:
            is_stable = is_stable & np.all([label.total > 1 for label in labels], axis=0)
            leverage = whitening.norm(center + median)
        is_stable &= EPSILON * whitening.norm(center + median) * leverage < MAX_REFIT_ERROR
        intercept = _log(prior) - 0.5 * np.square(place).sum(axis=2)
        intercept[~is_stable] = np.nan
        split_joints = [
            (X[test] - center[split]) @ whitening.axes[split] @ place[split].T + intercept[split]
            for split, test in enumerate(problem.tests)
        ]
        joint = np.concatenate(split_joints).T
        if len(labels) == 2:
            positive = expit(joint[1] - joint[0])
            proba = np.stack([1.0 - positive, positive])
        else:
            proba = softmax(joint, axis=0)
        rounding = whitening.rounding[problem.test_split]
        yield problem, problem.scores_from_density(joint, proba, rounding)


def quadratic_scores(estimator: Any, batch: SplitBatch) -> Iterator[ProblemScores]:
    r"""Compute the scores of `QuadraticDiscriminantAnalysis` as described in `ClosedForm`.

    Yields nothing if the covariance estimates need more than means and scatter matrices.

    Notes
    -----
    With the mean :math:`\mu_k` and the covariance :math:`\Sigma_k = S_k / n_k` of each label
    (see `Moments`), regularized or shrunk as in the estimator,

    .. math::
        \log p(x, k) = \log \pi_k - \frac{1}{2} \left[ \log \det \Sigma_k
            + (x - \mu_k)^\top \Sigma_k^{-1} (x - \mu_k) \right] + c .
    """
    # Older versions of scikit-learn have neither solvers nor shrinkage.
    shrinkage = getattr(estimator, "shrinkage", None)
    if isinstance(shrinkage, str) or getattr(estimator, "covariance_estimator", None) is not None:
        return
    by_svd = getattr(estimator, "solver", "svd") == "svd"
    median, size = np.median(batch.X, axis=0), np.abs(batch.X).max(axis=0)
    X = batch.X - median
    cell_moments = FullMoments.of_cells(X, batch)
    min_rows = max(2, X.shape[1]) if by_svd else 2
    for problem in batch.problems:
        labels = [cell_moments.pool(problem, cells) for cells in problem.label_cells]
        _, prior = label_priors(labels, estimator.priors)
        joint = _log(prior).T[:, problem.test_split]
        rounding = np.zeros(len(problem.tests))
        for k, label in enumerate(labels):
            covariance = label.covariance(problem, shrinkage)
            if by_svd:
                covariance = shrink(covariance, estimator.reg_param, 1.0)
            whitening = _whiten(covariance, size, problem, 0.0)
            is_stable = whitening.is_stable & (label.total >= min_rows)
            is_stable &= _smallest_variance(covariance) > estimator.tol * (1.0 + THRESHOLD_MARGIN)
            is_stable &= EPSILON * whitening.norm(label.mean + median) < MAX_REFIT_ERROR
            squares = [
                np.square((X[test] - label.mean[split]) @ whitening.axes[split])
                for split, test in enumerate(problem.tests)
            ]
            log_det = np.where(is_stable, whitening.log_det, np.nan)[problem.test_split]
            joint[k] -= 0.5 * (np.concatenate(squares).sum(axis=1) + log_det)
            rounding = np.maximum(rounding, whitening.rounding)
        with np.errstate(invalid="ignore"):
            log_ratio = joint - joint.max(axis=0)
            proba = np.exp(log_ratio - np.log(np.exp(log_ratio).sum(axis=0)))
        yield problem, problem.scores_from_density(joint, proba, rounding[problem.test_split])


def _log(prior: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(prior)


def _smallest_variance(covariance: FloatArray) -> FloatArray:
    """Return a lower bound on the smallest variance in any direction."""
    variance = np.linalg.eigvalsh(covariance)
    return variance[:, 0] - ROUNDING * variance[:, -1]


def _whiten(
    covariance: FloatArray, size: FloatArray, problem: ProblemBatch, threshold: float
) -> Whitening:
    """Whiten covariance matrices using the eigenvectors of the correlation matrices.

    Parameters
    ----------
    covariance : ndarray of shape (n_splits, n_features, n_features)
        Covariances of the scaled features.
    size : ndarray of shape (n_features,)
        The largest absolute value of each feature.
    problem : ProblemBatch
        The splits of a problem.
    threshold : float
        Axes whose eigenvalue does not exceed this are dropped.

    Returns
    -------
    Whitening
        The axes.
    """
    std = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    varies = (std > MIN_RELATIVE_SPREAD * size / problem.scale) | (size == 0)
    std = np.where(std > 0, std, 1.0)
    eigenvalue, vector = np.linalg.eigh(covariance / (std[:, :, None] * std[:, None]))
    is_kept = eigenvalue > threshold
    rounding = ROUNDING * eigenvalue.shape[1]
    is_doubtful = (eigenvalue > threshold * (1.0 - THRESHOLD_MARGIN) - rounding) & (
        eigenvalue < max(MIN_EIGENVALUE, threshold * (1.0 + THRESHOLD_MARGIN))
    )
    eigenvalue = np.where(is_kept, eigenvalue, 1.0)
    return Whitening(
        axes=np.where(is_kept[:, None], vector, 0.0)
        / np.sqrt(eigenvalue)[:, None]
        / (std * problem.scale)[..., None],
        log_det=np.log(eigenvalue).sum(axis=1) + 2.0 * np.log(std).sum(axis=1),
        rounding=DISTANCE_ROUNDING / eigenvalue.min(axis=1),
        is_stable=varies.all(axis=1) & ~is_doubtful.any(axis=1),
    )


def _drop_minor_axes(
    place: FloatArray, weight: FloatArray, tol: float
) -> tuple[FloatArray, BoolArray]:
    """Project the whitened means onto the axes along which they vary, as the svd solver does.

    Parameters
    ----------
    place : ndarray of shape (n_splits, n_labels, n_features)
        The whitened means.
    weight : ndarray of shape (n_splits, n_labels)
        The weights of the means.
    tol : float
        Axes along which the means vary by at most this, relative to the first axis, are
        dropped.

    Returns
    -------
    place : ndarray of shape (n_splits, n_labels, n_features)
        The projected means.
    is_stable : ndarray of shape (n_splits,)
        Whether rounding errors leave the choice of dropped axes unchanged.
    """
    _, spread, axes = np.linalg.svd(weight[..., None] * place, full_matrices=False)
    threshold = tol * spread[:, :1]
    is_kept = spread > threshold
    margin = THRESHOLD_MARGIN * threshold + ROUNDING * spread[:, :1]
    is_doubtful: BoolArray = np.abs(spread - threshold) <= margin
    main_axes = np.where(is_kept[..., None], axes, 0.0)
    return place @ main_axes.swapaxes(1, 2) @ main_axes, ~np.any(is_doubtful, axis=1)
