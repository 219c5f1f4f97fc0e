"""Decomposition of a loss into calibration and refinement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax

from calibrant._core.cross_fitting import cross_fit
from calibrant._core.newton import minimize_strictly_convex
from calibrant._core.records import Record
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.metrics._validation import Predictions, check_predictions
from calibrant.metrics.scores import row_brier_scores, row_log_losses

N_FOLDS = 5
# The norm of the gradient of the penalized total log loss at which a fit has converged. The
# curvature is at least 1, so that the parameters are as close to the minimum.
TOLERANCE = 1e-9
# Losses that differ by less than this proportion are tied. Converged fits differ less.
ROUNDING = 1e-6

SCORES: dict[str, Callable[[Predictions], FloatArray]] = {
    "log-loss": row_log_losses,
    "brier": row_brier_scores,
}


@dataclass(frozen=True)
class Decomposition(Record):
    """A loss as the sum of calibration and refinement.

    Attributes
    ----------
    total : float
        The loss.
    calibration : float
        The part of the loss that recalibration removes. It is close to 0 for calibrated
        probabilities and can be negative.
    refinement : float
        The remaining part, which only a model that better separates the classes can reduce.
    """

    total: float
    calibration: float
    refinement: float

    def __str__(self) -> str:
        return (
            f"{self.total:.4g} = {self.calibration:.4g} (calibration) "
            f"+ {self.refinement:.4g} (refinement)"
        )


def decompose(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    score: str = "log-loss",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Decomposition:
    r"""Decompose a loss into calibration and refinement.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    score : {"log-loss", "brier"}, default="log-loss"
        The loss to decompose.

    Returns
    -------
    Decomposition
        The loss and its two parts.

    Notes
    -----
    With :math:`c(p)` the conditional class probabilities given the predicted probabilities
    :math:`p`, the expectation of a proper loss :math:`\ell` is the sum of two non-negative
    terms [1]_,

    .. math::

        E\,\ell(p, y) = \left( E\,\ell(p, y) - E\,\ell(c(p), y) \right) + E\,\ell(c(p), y) ,

    calibration and refinement. As in [2]_, :math:`c` is estimated by held-out recalibration. For
    each of five folds, the map

    .. math:: c(p) = \mathrm{softmax}(t \log p + b) ,

    with one inverse temperature :math:`t` and one offset :math:`b_k` per class, is fitted to the
    rows of the other folds by minimizing the penalized log loss. With so few parameters, the map
    adds hardly any loss to calibrated probabilities, even with 100 rows. Miscalibration that the
    map cannot express counts as refinement, so the calibration part tends to be too small rather
    than too large. Binned and isotonic decompositions are fitted to the same rows that they
    assess, so they attribute a few hundredths to calibration even if the probabilities are
    perfectly calibrated.

    The folds depend on the rows themselves, not on their order or on the names of the classes, so
    the result is deterministic. A row of weight 2 is in one fold, so it is not quite the same as
    two rows.

    References
    ----------
    .. [1] J. Brocker, "Reliability, sufficiency, and the decomposition of proper scores",
           Quarterly Journal of the Royal Meteorological Society 135, 2009.
    .. [2] E. Berta, D. Holzmuller, M. I. Jordan and F. Bach, "Rethinking early stopping:
           Refine, then calibrate", 2025.

    Examples
    --------
    >>> from calibrant.metrics import decompose
    >>> y = [0, 0, 0, 1] * 25 + [1, 1, 1, 0] * 25
    >>> overconfident = [[0.99, 0.01]] * 100 + [[0.01, 0.99]] * 100
    >>> parts = decompose(y, overconfident)
    >>> f"{parts.total:.2f} = {parts.calibration:.2f} + {parts.refinement:.2f}"
    '1.16 = 0.60 + 0.56'
    """
    if score not in SCORES:
        raise ValueError(
            f"score must be one of {list(SCORES)}, got {score!r}. Omit it to use 'log-loss'."
        )
    data = check_predictions(y_true, proba, labels, sample_weight)
    return decompose_scores(data)[score]


def decompose_scores(data: Predictions) -> dict[str, Decomposition]:
    """Decompose all scores at once, with one recalibration, which takes nearly all of the time.

    Parameters
    ----------
    data : Predictions
        Checked predictions.

    Returns
    -------
    dict of str to Decomposition
        The parts of each score in ``SCORES``.
    """
    recalibrated = _recalibrate(data)
    parts = {}
    for name, losses in SCORES.items():
        total, refinement = data.mean(losses(data)), data.mean(losses(recalibrated))
        parts[name] = Decomposition(total, total - refinement, refinement)
    return parts


def _recalibrate(data: Predictions) -> Predictions:
    """Return held-out recalibrated probabilities.

    Tiny probabilities are noise in some classifiers, such as forests, and evidence in others,
    such as naive Bayes. Of the two floors that suit these cases, the one with the lower held-out
    log loss is used; the first one if the difference may be due to rounding.
    """
    floors = (0.5 / data.proba.size, data.eps)
    fold = _assign_folds(data)
    first, second = (replace(data, proba=_cross_fit(data, fold, floor)) for floor in floors)
    loss, other_loss = (data.mean(row_log_losses(each)) for each in (first, second))
    return second if other_loss < (1.0 - ROUNDING) * loss else first


def _assign_folds(data: Predictions) -> IndexArray:
    """Assign sorted rows to folds in turn, so that similar rows are in different folds.

    Rows are sorted by class and by their probabilities and weights. Neither their order nor the
    names of the classes matter.
    """
    classes = np.argsort(_rank_classes(data), kind="stable")
    place = np.argsort(classes)[data.y_index]
    order = np.lexsort([data.weight, *data.proba[:, classes].T[::-1], place])
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = np.arange(len(order)) % N_FOLDS
    return fold


def _rank_classes(data: Predictions) -> IndexArray:
    """Rank the classes by the predictions alone; classes with equal ranks are alike.

    Classes are told apart by their probabilities in rows of each kind, and rows by the classes
    that are already told apart, until no more classes are.
    """
    n_classes = data.proba.shape[1]
    true = data.proba[np.arange(len(data.proba)), data.y_index]
    rank = np.zeros(n_classes, dtype=np.intp)
    n_ranks = 0
    while n_ranks < len(np.unique(rank)):
        n_ranks = len(np.unique(rank))
        by_rank = np.lexsort((data.proba, np.broadcast_to(rank, data.proba.shape)))
        in_order = np.take_along_axis(data.proba, by_rank, axis=1)
        rows = np.column_stack([true, rank[data.y_index], in_order, data.weight])
        kind = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        signatures = []
        for k in range(n_classes):
            parts = np.column_stack([kind, data.proba[:, k], data.y_index == k])
            signatures.append(parts[np.lexsort(parts.T[::-1])].tolist())
        rank = np.array([sum(other < own for other in signatures) for own in signatures])
    return rank


def _cross_fit(data: Predictions, fold: IndexArray, floor: float) -> FloatArray:
    """Recalibrate the rows of each fold with a map fitted to the other folds."""
    weight = data.weight * len(fold) / data.weight.sum()
    log_proba = np.log(np.maximum(data.proba, floor))

    def predict(train: BoolArray, test: BoolArray) -> FloatArray:
        change = _fit_map(log_proba[train], data.y_index[train], weight[train])
        return np.exp(_apply_map(log_proba[test], change))

    return cross_fit(fold, predict, log_proba.shape[1])


def _apply_map(log_proba: FloatArray, change: FloatArray) -> FloatArray:
    """Return log softmax(t log p + b) for the change (t - 1, b)."""
    return np.asarray(log_softmax((1.0 + change[0]) * log_proba + change[1:], axis=1))


def _fit_map(log_proba: FloatArray, y_index: IndexArray, weight: FloatArray) -> FloatArray:
    """Fit the change (t - 1, b) by minimizing the penalized log loss, a convex problem.

    The penalty, half the squared norm of the change, corresponds to a standard normal prior. It
    counts less than one row and keeps the map finite if classes are missing or separable.
    """
    # The calibrators use the same solver but other objectives. The affine maps of the scaling
    # family have independent entries, whereas a single parameter scales the whole diagonal here;
    # the logistic fits of binary calibrators have fractional targets instead of classes.
    rows = np.arange(len(y_index))

    def loss(change: FloatArray) -> tuple[float, FloatArray]:
        mapped = _apply_map(log_proba, change)
        residual = np.exp(mapped)
        residual[rows, y_index] -= 1.0
        residual *= weight[:, None]
        gradient = np.concatenate([[np.sum(residual * log_proba)], residual.sum(axis=0)])
        return float(0.5 * change @ change - weight @ mapped[rows, y_index]), gradient + change

    def hessian(change: FloatArray) -> FloatArray:
        proba = np.exp(_apply_map(log_proba, change))
        # The logit of class k has derivative (log p_k, e_k) with respect to (t, b). The Hessian
        # of a row is the covariance of this derivative over the classes.
        mean = np.hstack([np.sum(proba * log_proba, axis=1, keepdims=True), proba])
        weighted = weight[:, None] * proba
        second = np.diag(np.concatenate([[np.sum(weighted * log_proba**2)], weighted.sum(axis=0)]))
        second[0, 1:] = second[1:, 0] = np.sum(weighted * log_proba, axis=0)
        return second - mean.T @ (weight[:, None] * mean) + np.eye(len(change))

    return minimize_strictly_convex(loss, hessian, 1 + log_proba.shape[1], TOLERANCE)
