"""The scores in the tables of the paper, which depart from its equations.

The paper defines LL and MSE as the log loss and the Brier score of the class probabilities. Its
tables contain other quantities:

- LL is the binary log loss of each class against the rest, summed over the classes, with
  probabilities clipped to the interval from 1e-15 to 1 - 1e-15.
- MSE is the Brier score divided by the number of classes.

Both are computed from the output of the model, whether or not it is normalized.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from calibrant.metrics._validation import check_predictions
from calibrant.metrics.scores import row_brier_scores

PUBLISHED_EPS = 1e-15


def published_log_loss(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""LL in the tables of the paper: binary log losses, summed over the classes.

    Use this function only for comparisons with the published tables, and `log_loss` otherwise.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`. Rows of ``proba`` need not sum to 1.

    Returns
    -------
    float
        The published LL. The best value is 0.

    Notes
    -----
    With :math:`q_{ik}` the value :math:`p_{ik}` clipped to
    :math:`[10^{-15}, 1 - 10^{-15}]`,

    .. math::

        - \frac{1}{\sum_i w_i} \sum_i w_i \sum_k \bigl(
            [y_i = k] \log q_{ik} + [y_i \ne k] \log (1 - q_{ik}) \bigr) .

    The paper's equation is that of `log_loss`.

    Examples
    --------
    >>> from calibrant.metrics import published_log_loss
    >>> round(published_log_loss(["a", "b"], [[0.9, 0.1], [0.2, 0.8]]), 3)
    0.329
    """
    data = check_predictions(y_true, proba, labels, sample_weight, normalized=False)
    clipped = np.clip(data.proba, PUBLISHED_EPS, 1.0 - PUBLISHED_EPS)
    loss = -xlogy(data.one_hot, clipped) - xlogy(1.0 - data.one_hot, 1.0 - clipped)
    return data.mean(loss.sum(axis=1))


def published_mse(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""MSE in the tables of the paper: the Brier score divided by the number of classes.

    Use this function only for comparisons with the published tables, and `brier_score`
    otherwise.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`. Rows of ``proba`` need not sum to 1.

    Returns
    -------
    float
        The published MSE. The best value is 0.

    Notes
    -----
    With :math:`K` classes,

    .. math:: \frac{1}{K \sum_i w_i} \sum_i w_i \sum_k (p_{ik} - [y_i = k])^2 .

    The paper's equation, that of `brier_score`, lacks the factor :math:`1 / K`.

    Examples
    --------
    >>> from calibrant.metrics import published_mse
    >>> round(published_mse(["a", "b"], [[0.9, 0.1], [0.2, 0.8]]), 3)
    0.025
    """
    data = check_predictions(y_true, proba, labels, sample_weight, normalized=False)
    return data.mean(row_brier_scores(data) / len(data.labels))
