"""Checks of rows, classes, groups, weights and levels."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d, indexable

from calibrant._core.labels import check_labels, class_index, find_missing
from calibrant._core.phrases import count
from calibrant._core.probability_floor import RARE_CLASS_SIZE
from calibrant._core.training_data import TrainingData
from calibrant._core.typing import FloatArray
from calibrant.exceptions import CalibrationWarning

# Sums and reciprocals of weights outside this range could overflow.
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100
# Weights that are numbers of rows. Beyond the largest total, a double cannot count single rows;
# below the smallest, estimators such as naive Bayes take the total for 0.
SMALLEST_TOTAL, LARGEST_TOTAL = 1e-6, 2.0**53


class Rows(NamedTuple):
    """Rows, each with a label and, if given, a weight and a group."""

    X: Any
    labels: NDArray[Any]
    sample_weight: FloatArray | None
    groups: NDArray[Any] | None


def check_rows(
    X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, groups: ArrayLike | None
) -> Rows:
    """Check that there is one label, weight and group for each row."""
    labels = check_labels(y)
    if X is None:
        raise ValueError("X must hold one row for each label, got None. Pass the features.")
    X, labels, sample_weight, groups = indexable(X, labels, sample_weight, groups)
    weight = None if sample_weight is None else check_row_weight(sample_weight, labels)
    return Rows(X, labels, weight, None if groups is None else check_groups(groups))


def make_training_data(
    rows: Rows,
    fit_params: dict[str, Any],
    split_params: dict[str, Any],
    known_classes: NDArray[Any] | None = None,
) -> TrainingData:
    """Build the training data from checked rows, which must be enough for their classes."""
    weight = as_row_counts(rows.sample_weight, len(rows.labels))
    classes = check_classes(rows.labels[weight > 0], known_classes)
    y = class_index(rows.labels, classes)
    return TrainingData(rows.X, y, classes, weight, rows.groups, fit_params, split_params)


def check_classes(labels: NDArray[Any], known: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the sorted classes, after checking that there are enough classes and rows.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        The labels of rows with a positive weight.
    known : ndarray of shape (n_classes,), default=None
        The classes of a model that is already fitted, which must include the labels.

    Returns
    -------
    ndarray of shape (n_classes,)
        The classes, sorted.
    """
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes, got one class: {classes.tolist()}. "
            "Add rows of another class."
        )
    if known is not None:
        if not np.array_equal(known, np.unique(known)):
            raise ValueError(
                f"The classes of a frozen estimator must be sorted, got {known.tolist()}. "
                "Refit it with a scikit-learn classifier or sort its columns."
            )
        unknown = np.setdiff1d(classes, known)
        if len(unknown):
            raise ValueError(
                f"y must hold only classes of the frozen estimator, {known.tolist()}, "
                f"got {unknown.tolist()} as well. Drop those rows or refit the estimator."
            )
        classes = known
    if len(labels) <= len(classes):
        raise ValueError(
            "y must have more rows than classes, so that some can be held out, got "
            f"{count(len(labels), 'row')} and {count(len(classes), 'class', 'classes')}. Add rows "
            "or merge classes."
        )
    return classes


def check_groups(groups: ArrayLike) -> NDArray[Any]:
    """Check that there is one group per row, none missing."""
    names = column_or_1d(groups)
    missing = find_missing(names)
    if missing.any():
        raise ValueError(
            f"groups must hold a group for every row, got NaN or None in {missing.sum()} of "
            f"{len(names)} rows. Assign each independent row to a group of its own."
        )
    return names


def check_weight(sample_weight: ArrayLike | None, rows: Any) -> FloatArray:
    """Return one non-negative weight per row, not all 0; ``None`` means 1 for every row."""
    if sample_weight is None:
        return np.ones(len(rows))
    values = check_array(
        sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight"
    )
    check_consistent_length(rows, values)
    if values.ndim != 1:
        raise ValueError(
            f"sample_weight must have shape (n,), got {values.shape}. Pass one weight for each row."
        )
    if values.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative, got {values.min():g}. "
            "To ignore a row, set its weight to 0."
        )
    positive = values[values > 0]
    if len(positive) and not SMALLEST_WEIGHT <= positive.min() <= positive.max() <= LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight must be 0 or between {SMALLEST_WEIGHT:.0e} and {LARGEST_WEIGHT:.0e}, "
            f"got values from {positive.min():.3g} to {positive.max():.3g}. Rescale the weights."
        )
    if values.sum() == 0:
        raise ValueError(
            "sample_weight must be positive for at least one row, got only zeros. "
            "Omit it to weight all rows equally."
        )
    return values


def check_row_weight(sample_weight: ArrayLike | None, rows: Any) -> FloatArray:
    """Return weights that are numbers of rows, after checking that their total is one too."""
    weight = check_weight(sample_weight, rows)
    total = weight.sum()
    if not SMALLEST_TOTAL <= total <= LARGEST_TOTAL:
        raise ValueError(
            "sample_weight must hold numbers of rows, whose sum lies between "
            f"{SMALLEST_TOTAL:.0e} and {LARGEST_TOTAL:.0e}, got a sum of {total:.3g}. "
            "Rescale the weights, for example to a mean of 1."
        )
    return weight


def check_level(level: float) -> float:
    """Return a confidence level after checking that it lies strictly between 0 and 1."""
    return _check_inside_unit_interval("level", level, usual=0.95)


def check_coverage(coverage: float) -> float:
    """Return a coverage after checking that it lies strictly between 0 and 1."""
    return _check_inside_unit_interval("coverage", coverage, usual=0.9)


def check_alpha(alpha: float) -> float:
    """Return a significance level after checking that it lies strictly between 0 and 1."""
    return _check_inside_unit_interval("alpha", alpha, usual=0.05)


def _check_inside_unit_interval(name: str, value: float, usual: float) -> float:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}. Use {usual}.")
    return value


def as_row_counts(sample_weight: FloatArray | None, n_rows: int) -> FloatArray:
    """Return weights as numbers of rows; ``None`` means 1 for every row.

    Weights that sum to less than the number of rows with a positive weight, such as weights
    that sum to 1, are scaled up to that number, so that the amount of evidence does not depend
    on the scale of the weights.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    return sample_weight * max(1.0, np.count_nonzero(sample_weight) / sample_weight.sum())


def warn_about_rare_classes(
    data: TrainingData, n_substitutes: int, n_problems: int, *, keeps_scores: bool
) -> None:
    """Issue one warning about rare classes and about problems that could not be calibrated.

    Parameters
    ----------
    data : TrainingData
        The training data.
    n_substitutes : int
        The number of problems that could not be calibrated.
    n_problems : int
        The total number of problems.
    keeps_scores : bool
        Whether scores that could not be calibrated are kept.
    """
    sentences = []
    rare = np.flatnonzero(data.row_count < RARE_CLASS_SIZE)
    if len(rare):
        names = ", ".join(f"{data.classes[k]} ({data.row_count[k]})" for k in rare)
        sentences.append(
            f"Classes with fewer than {RARE_CLASS_SIZE} rows: {names}. Their probabilities are "
            "positive but have little support in the data. Merge these classes or add rows."
        )
    if n_substitutes:
        outcome = (
            "the estimator's probabilities are kept"
            if keeps_scores
            else "the frequency of each side is predicted"
        )
        sentences.append(
            f"{n_substitutes} of {n_problems} problems could not be calibrated, because no rows "
            "of both sides could be held out and scored. For these, " + outcome + "."
        )
    if sentences:
        warnings.warn(" ".join(sentences), CalibrationWarning, stacklevel=3)
