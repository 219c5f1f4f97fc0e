"""The scores that a fitted model gives the classes, and checks of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from calibrant._core.phrases import count
from calibrant._core.typing import FloatArray
from calibrant.exceptions import CalibrationWarning

# Larger scores are clipped, so that sums and differences of scores stay finite.
LARGEST_MODEL_SCORE = 1e250
# The sum of a row may differ from 1 by this much, so that rounded probabilities are accepted.
SUM_TOLERANCE = 0.01


def class_scores(model: Any, X: Any) -> tuple[FloatArray, bool]:
    """Return the scores of a fitted model, one column per class.

    Parameters
    ----------
    model : classifier
        A classifier with ``predict_proba`` or ``decision_function``. The former is preferred.
    X : array-like
        The rows to score.

    Returns
    -------
    score : ndarray of shape (n_samples, n_classes)
        Probabilities, or decision values on any scale. NaN where the model returns NaN, as
        naive Bayes does if no feature varies.
    is_proba : bool
        Whether they are probabilities.
    """
    is_proba = hasattr(model, "predict_proba")
    if not is_proba and not hasattr(model, "decision_function"):
        raise ValueError(
            f"estimator must have predict_proba or decision_function. {type(model).__name__} has "
            "neither. Use another classifier."
        )
    if not is_proba:
        score = _check_shape(model, "decision_function", model.decision_function(X), X)
        return np.clip(score, -LARGEST_MODEL_SCORE, LARGEST_MODEL_SCORE), False
    proba = _check_shape(model, "predict_proba", model.predict_proba(X), X)
    return np.clip(_as_distributions(proba, type(model).__name__), 0.0, 1.0), True


def _check_shape(model: Any, method: str, returned: Any, X: Any) -> FloatArray:
    """Return scores as an array with one row per row of X and one column per class."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X if hasattr(X, "__len__") else np.array(X))
    n_classes = len(model.classes_)
    try:
        score = np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError):
        score = np.empty(0)  # refused below
    if score.ndim == 1 and method == "decision_function" and n_classes == 2:
        score = np.column_stack([-score, score])
    if score.shape == (n_rows, n_classes):
        return score
    got = f"shape {score.shape}" if score.ndim and score.size else type(returned).__name__
    raise ValueError(
        f"{type(model).__name__}.{method} must return {count(n_rows, 'row')} with one column for "
        f"each of the {n_classes} classes, got {got}. "
        + (
            "For SVC, use decision_function_shape='ovr'."
            if method == "decision_function" and score.ndim == 2 and len(score) == n_rows
            else "Correct the estimator or use another one."
        )
    )


def _as_distributions(proba: FloatArray, name: str) -> FloatArray:
    """Return rows that sum to 1, up to rounding, after a warning if they did not.

    Rows of zeros, which some classifiers return for outliers, and rows with NaN are left alone.
    """
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        total = proba.sum(axis=1)
    is_off = ~((np.abs(total - 1.0) <= SUM_TOLERANCE) | np.isnan(total) | (total == 0))
    is_negative = proba < -SUM_TOLERANCE
    is_infinite = np.asarray(np.isinf(proba).any(axis=1))
    found = [
        kind
        for kind, is_found in (
            ("negative values", is_negative.any()),
            ("infinite values", is_infinite.any()),
            ("sums other than 1", (is_off & ~is_infinite).any()),
        )
        if is_found
    ]
    if not found:
        return proba
    warnings.warn(
        f"{name}.predict_proba must return rows of probabilities that sum to 1, got "
        f"{' and '.join(found)}. Negative values are set to 0, rows are divided by their sums, "
        "and rows with infinite values have no score. Correct the estimator, or let it return "
        "decision_function instead.",
        CalibrationWarning,
        stacklevel=2,
    )
    proba = np.where(is_infinite[:, None], np.nan, np.maximum(proba, 0.0))
    # Dividing by the maximum first avoids overflow in the sum of very large values.
    changed = (is_off | is_negative.any(axis=1)) & ~is_infinite & ~np.isnan(total)
    rows = proba[changed] / np.maximum(proba[changed].max(axis=1, keepdims=True), 1.0)
    proba[changed] = rows / np.maximum(rows.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return proba
