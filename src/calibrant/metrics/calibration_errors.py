"""How far off probabilities are on average."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calibrant.metrics.inputs import check_predictions
from calibrant.metrics.reliability import class_curve, top_label_curve


def expected_calibration_error(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    kind: str = "top-label",
    n_bins: int = 10,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean distance between predicted probability and observed frequency.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.
    kind : {"top-label", "classwise"}, default="top-label"
        Whether to look at the probability of the most probable class, or at every class
        by itself and to average over the classes.
    n_bins : int, default=10
        The number of bins of equal weight.

    Returns
    -------
    float
        The calibration error; 0 is best. It is biased upward when rows are few.

    Examples
    --------
    >>> from calibrant.metrics import expected_calibration_error
    >>> proba = [[0.75, 0.25]] * 4
    >>> expected_calibration_error([0, 0, 0, 1], proba)
    0.0
    >>> expected_calibration_error([0, 0, 1, 1], proba, kind="classwise")
    0.25
    """
    if kind not in ("top-label", "classwise"):
        raise ValueError(
            f"kind must be 'top-label' or 'classwise'. Got {kind!r}. "
            "Leave it out for the most probable class."
        )
    data = check_predictions(y_true, proba, labels, sample_weight)
    if kind == "top-label":
        return top_label_curve(data, n_bins).calibration_error
    curves = [class_curve(data, column, n_bins) for column in range(len(data.labels))]
    return float(np.mean([curve.calibration_error for curve in curves]))
