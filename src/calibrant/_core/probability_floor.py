"""How certain a probability may be, given the number of rows behind it: one principle.

n rows cannot show that something is impossible. Had a part of a row more been seen, divided by
the overall shares, then an event that never occurred would have its share of that part: with
half a row, ``0.5 * share / (n + 0.5)``. No calibrated probability of a class is below such a
limit. What lies above it is left as it is, but for making room.

How large the part is depends on what the rows do. Where they are all there is, as for a share
counted in a group, it is half a row, which is what Krichevsky and Trofimov [1]_ add. Where a model
speaks and rows only check it, it is a tenth of a row: half a row harms models that are right.

The n of a claim is the number of *distinct* rows behind it: all rows for a parametric map,
the rows of a group for a map that is constant in groups.

.. [1] R. Krichevsky and V. Trofimov, "The performance of universal encoding", IEEE
       Transactions on Information Theory 27(2), 1981.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calibrant._core.rowwise import row_sums
from calibrant._core.typing import FloatArray

# Rows added to those that a share is counted in.
PSEUDO_COUNT = 0.5
# Rows added to those that check a model. On Seeds, where no calibration is best, a half made the
# default 0.4 to 1.2 % worse than that with 50 and 100 rows, a tenth at most 0.2 %.
MODEL_PSEUDO_COUNT = 0.1
# Classes with fewer rows than this are reported: whatever the method, their
# probabilities rest on next to nothing.
RARE_CLASS_SIZE = 4


def apply_probability_floor(
    proba: ArrayLike, class_count: ArrayLike, unseen_rows: float = MODEL_PSEUDO_COUNT
) -> FloatArray:
    """Raise class probabilities to what the number of rows can support.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Rows that sum to 1.
    class_count : array-like of shape (n_classes,)
        The number of rows of each class. A class without rows counts as the unseen rows.
    unseen_rows : float, default=0.1
        The part of a row that was not seen.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Rows that sum to 1, without zeros.

    Examples
    --------
    >>> from calibrant._core.probability_floor import apply_probability_floor
    >>> apply_probability_floor([[1.0, 0.0], [0.3, 0.7]], [6, 3]).round(4)
    array([[0.9963, 0.0037],
           [0.3   , 0.7   ]])
    """
    least = probability_floor(class_count, unseen_rows)
    above = np.asarray(proba, dtype=np.float64) - least
    np.maximum(above, 0.0, out=above)
    above *= (1.0 - least.sum()) / row_sums(above)
    above += least
    return above


def probability_floor(class_count: ArrayLike, unseen_rows: float) -> FloatArray:
    """Return the smallest probability that each class may have, given the numbers of rows."""
    count = np.asarray(class_count, dtype=np.float64)
    share = np.where(count > 0, count, unseen_rows)
    return unseen_rows * share / share.sum() / (count.sum() + unseen_rows)


def floor_frequencies(share: ArrayLike, n_rows: ArrayLike, overall: float) -> FloatArray:
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
    unseen = PSEUDO_COUNT / (np.asarray(n_rows, dtype=np.float64) + PSEUDO_COUNT)
    return np.clip(share, unseen * overall, 1.0 - unseen * (1.0 - overall))


def overall_frequency(target: FloatArray, weight: FloatArray) -> float:
    """Share of the positive side among all rows; half a row each way keeps it off 0 and 1."""
    return float((weight @ target + PSEUDO_COUNT) / (weight.sum() + 2.0 * PSEUDO_COUNT))
