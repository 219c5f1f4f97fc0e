"""How certain a probability may be, given the number of rows behind it: one principle.

n rows cannot show that something is impossible. Had half a row more been seen, divided by
the overall shares, then an event that never occurred would have its share of that half
row: ``0.5 * share / (n + 0.5)``. No calibrated probability of a class is below this; half a
row of each kind is what Krichevsky and Trofimov [1]_ add. What lies above the limit is left
as it is, but for making room.

The n of a claim is the number of *distinct* rows behind it: all rows for a parametric map,
the rows of a group for a map that is constant in groups.

.. [1] R. Krichevsky and V. Trofimov, "The performance of universal encoding", IEEE
       Transactions on Information Theory 27(2), 1981.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant.rows import row_sums

FloatArray = NDArray[np.float64]

UNSEEN_ROWS = 0.5
# Classes with fewer rows than this are reported: whatever the method, their
# probabilities rest on next to nothing.
FEW_ROWS = 4


def limit_certainty(proba: ArrayLike, class_count: ArrayLike) -> FloatArray:
    """Raise class probabilities to what the number of rows can support.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Rows that sum to 1.
    class_count : array-like of shape (n_classes,)
        The number of rows of each class. A class without rows counts as half a row.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Rows that sum to 1, without zeros.

    Examples
    --------
    >>> from calibrant.certainty import limit_certainty
    >>> limit_certainty([[1.0, 0.0], [0.3, 0.7]], [6, 3]).round(4)
    array([[0.9825, 0.0175],
           [0.3   , 0.7   ]])
    """
    least = least_proba(class_count)
    above = np.asarray(proba, dtype=np.float64) - least
    np.maximum(above, 0.0, out=above)
    above *= (1.0 - least.sum()) / row_sums(above)
    above += least
    return above


def least_proba(class_count: ArrayLike) -> FloatArray:
    """Return the smallest probability that each class may have, given the numbers of rows."""
    count = np.asarray(class_count, dtype=np.float64)
    share = np.where(count > 0, count, UNSEEN_ROWS)
    return UNSEEN_ROWS * share / share.sum() / (count.sum() + UNSEEN_ROWS)


def limit_shares(share: ArrayLike, n_rows: ArrayLike, overall: float) -> FloatArray:
    """Move shares of a positive side away from 0 and 1, each by the rows behind it.

    Parameters
    ----------
    share : array-like of shape (n_groups,)
        Shares of the positive side.
    n_rows : array-like of shape (n_groups,)
        The number of rows behind each.
    overall : float
        The share among all rows.

    Returns
    -------
    ndarray of shape (n_groups,)
        The limited shares.
    """
    unseen = UNSEEN_ROWS / (np.asarray(n_rows, dtype=np.float64) + UNSEEN_ROWS)
    return np.clip(share, unseen * overall, 1.0 - unseen * (1.0 - overall))


def overall_share(target: FloatArray, weight: FloatArray) -> float:
    """Share of the positive side among all rows; half a row each way keeps it off 0 and 1."""
    return float((weight @ target + UNSEEN_ROWS) / (weight.sum() + 2.0 * UNSEEN_ROWS))
