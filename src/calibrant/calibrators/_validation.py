"""Checks of the scores and targets passed to calibrators."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, check_consistent_length

from calibrant._core.rowwise import normalize_rows
from calibrant._core.typing import FloatArray

# The difference between larger scores could overflow.
LARGEST_SCORE = 1e300
# The sum of a row may differ from 1 by this much, so that rounded probabilities are accepted.
SUM_TOLERANCE = 0.01


def check_score(score: ArrayLike) -> FloatArray:
    """Return finite scores of shape (n,), given as (n,) or (n, 1)."""
    values = check_array(score, dtype=np.float64, ensure_2d=False, ensure_all_finite=False)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"score must have shape (n,) or (n, 1), got {values.shape}. "
            "Pass the scores of one binary problem."
        )
    largest = max(values.max(), -values.min())
    if not largest <= LARGEST_SCORE:  # true for NaN as well
        raise ValueError(
            f"score must be finite and within +-{LARGEST_SCORE:.0e}, got {largest:.3g}. "
            "Drop rows without a score and rescale large scores."
        )
    return values


def check_target(target: ArrayLike, score: FloatArray) -> FloatArray:
    """Return targets in [0, 1], one for each score."""
    values = check_array(target, dtype=np.float64, ensure_2d=False, input_name="target")
    check_consistent_length(score, values)
    if values.ndim != 1:
        raise ValueError(
            f"target must have shape (n,), got {values.shape}. Pass one target for each score."
        )
    if values.min() < 0 or values.max() > 1:
        raise ValueError(
            f"target must lie in [0, 1], got values from {values.min():g} to {values.max():g}. "
            "Encode the positive class as 1 and all others as 0."
        )
    return values


def check_class_scores(scores: ArrayLike) -> FloatArray:
    """Return rows of probabilities, one column per class, normalized to sum to 1."""
    # The memory order is fixed because the last bits of later sums depend on it.
    values = check_array(scores, dtype=np.float64, order="C", input_name="scores")
    if values.shape[1] < 2:
        raise ValueError(
            "scores must have one column per class, for at least two classes, got a single column. "
            "For the probability of a positive class, pass the columns (1 - score, score)."
        )
    total = values.sum(axis=1)
    if values.min() < 0 or np.abs(total - 1.0).max() > SUM_TOLERANCE:
        raise ValueError(
            f"scores must be probabilities, each row summing to 1, got values from "
            f"{values.min():g} to {values.max():g}, and row sums from {total.min():g} to "
            f"{total.max():g}. For logits or decision values, pass their scipy.special.softmax."
        )
    return normalize_rows(values)
