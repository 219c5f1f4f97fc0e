"""The scores in the tables of the paper, which are not those of its equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from calibrant.metrics._validation import check_predictions

# Logarithms of probabilities below this are taken at this, in the paper's tables. The log
# loss itself takes scikit-learn's limit, the precision of the given numbers.
PUBLISHED_SMALLEST_PROBABILITY = 1e-15


def published_log_loss(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """LL as in the tables of the paper: binary log losses, summed over the classes.

    The published numbers do not follow the published equation, which is `log_loss`. IndexArray
    need not be probabilities: some behind the published tables are not.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.

    Returns
    -------
    float
        The sum over classes of the mean binary log loss; 0 is best.

    Examples
    --------
    >>> from calibrant.metrics import published_log_loss
    >>> round(published_log_loss(["a", "b"], [[0.9, 0.1], [0.2, 0.8]]), 3)
    0.329
    """
    data = check_predictions(y_true, proba, labels, sample_weight, proper=False)
    smallest = PUBLISHED_SMALLEST_PROBABILITY
    clipped = np.clip(data.proba, smallest, 1.0 - smallest)
    loss = -xlogy(data.one_hot, clipped) - xlogy(1.0 - data.one_hot, 1.0 - clipped)
    return float(np.average(loss.sum(axis=1), weights=data.weight))


def published_mse(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """MSE as in the tables of the paper: `brier_score` divided by the number of classes.

    IndexArray need not be probabilities: some behind the published tables are not.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.

    Returns
    -------
    float
        The mean squared error; 0 is best.
    """
    data = check_predictions(y_true, proba, labels, sample_weight, proper=False)
    return float(np.average(((data.proba - data.one_hot) ** 2).mean(axis=1), weights=data.weight))
