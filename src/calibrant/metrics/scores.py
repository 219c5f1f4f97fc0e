"""Proper scores of class probabilities."""

from __future__ import annotations

from numpy.typing import ArrayLike

from calibrant._core import losses
from calibrant._core.typing import FloatArray
from calibrant.metrics._validation import Predictions, check_predictions


def log_loss(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Log loss, also called cross-entropy.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        Predicted probabilities, one column per class in the order of the sorted labels. A
        one-dimensional array contains the probabilities of the second of two classes.
    labels : array-like of shape (n_classes,), default=None
        The sorted labels of the columns. ``None`` means the labels that occur in ``y_true``.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. ``None`` means equal weights.

    Returns
    -------
    float
        The log loss. The best value is 0.

    See Also
    --------
    brier_score : A bounded proper score.
    decompose : The parts of the loss due to calibration and refinement.
    bootstrap_interval : A confidence interval for this or another metric.

    Notes
    -----
    With :math:`p_{ik}` the predicted probability of class :math:`k` in row :math:`i` and
    :math:`w_i` the weight of the row,

    .. math:: \mathrm{LL} = - \frac{\sum_i w_i \log p_{i y_i}}{\sum_i w_i} .

    As in scikit-learn, probabilities are clipped from below at the machine epsilon of their
    floating-point type.

    Examples
    --------
    >>> from calibrant.metrics import log_loss
    >>> round(log_loss(["a", "b"], [[0.9, 0.1], [0.2, 0.8]]), 3)
    0.164
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    return data.mean(row_log_losses(data))


def brier_score(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Brier score, summed over the classes.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.

    Returns
    -------
    float
        The Brier score, between 0 and 2. The best value is 0.

    See Also
    --------
    log_loss : The score that penalizes confident errors most.

    Notes
    -----
    With :math:`p_{ik}` the predicted probability of class :math:`k` in row :math:`i` and
    :math:`w_i` the weight of the row,

    .. math::

        \mathrm{BS} = \frac{\sum_i w_i \sum_k (p_{ik} - [y_i = k])^2}{\sum_i w_i} .

    For two classes, this is twice the Brier score of the second class alone.

    Examples
    --------
    >>> from calibrant.metrics import brier_score
    >>> round(brier_score(["a", "b"], [[0.9, 0.1], [0.2, 0.8]]), 3)
    0.05
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    return data.mean(row_brier_scores(data))


def row_log_losses(data: Predictions) -> FloatArray:
    """Return the log loss of each row, clipped at the precision of the input."""
    return losses.row_log_loss(data.y_index, data.proba, data.eps)


def row_brier_scores(data: Predictions) -> FloatArray:
    """Return the Brier score of each row."""
    return losses.row_brier_score(data.y_index, data.proba)
