"""What part of a loss is calibration, and what part is refinement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import log_softmax

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.metrics._validation import Predictions, check_predictions
from calibrant.metrics.scores import row_brier_score, row_log_loss

N_FOLDS = 5

SCORES: dict[str, Callable[[Predictions], FloatArray]] = {
    "log-loss": row_log_loss,
    "brier": row_brier_score,
}


@dataclass(frozen=True)
class Decomposition(Record):
    """A loss and its two parts.

    Attributes
    ----------
    total : float
        The loss: calibration plus refinement.
    calibration : float
        What recalibration takes away. Around 0 for calibrated probabilities, below as well as
        above.
    refinement : float
        What is left: how far the classes cannot be told apart by these probabilities.
    """

    total: float
    calibration: float
    refinement: float


def decompose(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    score: str = "log-loss",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Decomposition:
    """Decompose a loss into calibration, which can be mended, and refinement, which cannot.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.
    score : {"log-loss", "brier"}, default="log-loss"
        The loss to decompose.

    Returns
    -------
    Decomposition
        The loss and its parts.

    Notes
    -----
    A proper loss is the sum of a calibration and a refinement part; the refinement is what
    the loss would be with the true probability of each class given the predicted row [1]_.
    That probability is estimated, as in [2]_, by a parametric recalibration on other rows:
    softmax(t log p + b), with one trust t in all scores and an offset b for each class, fitted
    in five folds. A map with so few parameters costs next to nothing where there is
    nothing to mend, even with a hundred rows; what it cannot mend counts as refinement, so
    the calibration part is rather too small than too large. Parts of a binned or isotonic
    decomposition, which are fitted to the rows they are measured on, are never below 0, but a
    few hundredths above it for perfect probabilities.

    The folds depend on what the rows are, not on their order; nothing is random.

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
            f"score must be one of {list(SCORES)}. Got {score!r}. Leave it out for log loss."
        )
    data = check_predictions(y_true, proba, labels, sample_weight)
    total, refinement = (
        float(np.average(SCORES[score](each), weights=data.weight))
        for each in (data, _recalibrate(data))
    )
    return Decomposition(total, total - refinement, refinement)


def _recalibrate(data: Predictions) -> Predictions:
    """Recalibrate every row by a map fitted to other rows.

    Probabilities below that of half a row in all are noise to some classifiers, such as forests,
    and evidence to others, such as naive Bayes: of both readings, the better one is taken.
    """
    floors = (0.5 / data.proba.size, data.precision)
    found = [replace(data, proba=_cross_fit(data, floor)) for floor in floors]
    return min(found, key=lambda each: data.weight @ row_log_loss(each))


def _cross_fit(data: Predictions, floor: float) -> FloatArray:
    """Map the rows of each fold as is best for those of the others."""
    n_samples = len(data.true)
    # IndexArray of one class and alike are dealt to different folds.
    order = np.lexsort([*data.proba.T, data.true])
    fold = np.empty(n_samples, dtype=np.intp)
    fold[order] = np.arange(n_samples) % N_FOLDS
    weight = data.weight * n_samples / data.weight.sum()
    logit = np.log(np.maximum(data.proba, floor))
    proba = np.empty_like(logit)
    for held_out in range(min(N_FOLDS, n_samples)):
        other, own = fold != held_out, fold == held_out
        change = _fit_map(logit[other], data.true[other], weight[other])
        proba[own] = np.exp(_map(logit[own], change))
    return proba


def _map(logit: FloatArray, change: FloatArray) -> FloatArray:
    """Log probabilities, from the change of the trust and the offset of each class."""
    return np.asarray(log_softmax((1.0 + change[0]) * logit + change[1:], axis=1))


def _fit_map(logit: FloatArray, true: IndexArray, weight: FloatArray) -> FloatArray:
    """Find the change of least penalized log loss, which is convex.

    The penalty is that of a standard normal prior around no change, which weighs less than
    a row and keeps the map finite where classes are missing or told apart without error.
    """
    rows = np.arange(len(true))

    def loss(change: FloatArray) -> tuple[float, FloatArray]:
        log_p = _map(logit, change)
        residual = np.exp(log_p)
        residual[rows, true] -= 1.0
        residual *= weight[:, None]
        slope = np.concatenate([[np.sum(residual * logit)], residual.sum(axis=0)])
        return float(0.5 * change @ change - weight @ log_p[rows, true]), slope + change

    def curvature(change: FloatArray) -> FloatArray:
        proba = np.exp(_map(logit, change))
        # The derivative of the log odds by (trust, offset of class k) is (logit, 1 for k); the
        # curvature is its covariance over the classes of a row, summed over the rows.
        mean = np.hstack([np.sum(proba * logit, axis=1, keepdims=True), proba])
        weighted = weight[:, None] * proba
        second = np.diag(np.concatenate([[np.sum(weighted * logit**2)], weighted.sum(axis=0)]))
        second[0, 1:] = second[1:, 0] = np.sum(weighted * logit, axis=0)
        return second - mean.T @ (weight[:, None] * mean) + np.eye(len(change))

    start = np.zeros(1 + logit.shape[1])
    found = minimize(loss, start, jac=True, hess=curvature, method="trust-exact")
    return np.asarray(found.x)
