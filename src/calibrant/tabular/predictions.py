"""Predictions as a table: the predicted class first, then decisions and probabilities."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from calibrant._core.typing import BoolArray, FloatArray
from calibrant.decisions import CostTable, decide

# Names of the columns before those of the classes.
PREDICTED_CLASS = "predicted_class"
PROBABILITY = "probability"
DECISION = "decision"
EXPECTED_COST = "expected_cost"
# Beginnings of the names of the columns after those of the classes.
LOW = "low"
HIGH = "high"
POSSIBLE = "possible"

DEFAULT_DIGITS = 6
# More digits than these are not all significant in double precision.
MOST_DIGITS = 15


def tabulate_predictions(
    proba: FloatArray,
    classes: Sequence[str],
    *,
    kept: Mapping[str, Sequence[Any]] | None = None,
    costs: CostTable | None = None,
    interval: FloatArray | None = None,
    possible: BoolArray | None = None,
    digits: int | None = DEFAULT_DIGITS,
) -> dict[str, Sequence[Any]]:
    """Arrange predictions in columns.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_classes)
        Class probabilities.
    classes : sequence of str
        The classes, which name the columns of their probabilities.
    kept : mapping of str to sequence, default=None
        Cells by column, for columns to put before the predictions.
    costs : CostTable, default=None
        Costs for the classes in the same order. If given, the decision with the lowest expected
        cost follows the predicted class.
    interval : ndarray of shape (n_rows, n_classes, 2), default=None
        The ends of an interval for each probability.
    possible : ndarray of shape (n_rows, n_classes), default=None
        Whether each class is in the prediction set.
    digits : int or None, default=6
        Number of digits after the decimal point. ``None`` means all digits.

    Returns
    -------
    dict of str to sequence
        Cells by column: the kept columns; the predicted class, which is the most probable one,
        and its probability; the decision and its expected cost; the probability of each class;
        the ends of the intervals of each class; 1 for classes in the set and 0 for others.
        Rounded probabilities of a row sum to 1, and rounded intervals contain them.

    Raises
    ------
    ValueError
        If a kept column has the name of another column of the result.
    """
    kept = kept or {}
    rounded = proba if digits is None else round_rows(proba, digits)
    predicted = proba.argmax(axis=1)
    columns: dict[str, Sequence[Any]] = {
        PREDICTED_CLASS: [classes[index] for index in predicted],
        PROBABILITY: rounded[np.arange(len(rounded)), predicted].tolist(),
    }
    if costs is not None:
        decisions = decide(proba, costs.costs)
        cost = decisions.expected_cost
        columns[DECISION] = [costs.decisions[index] for index in decisions.decision]
        columns[EXPECTED_COST] = (cost if digits is None else cost.round(digits)).tolist()
    columns = {_unlike(classes, name): cells for name, cells in columns.items()}
    columns |= zip(classes, rounded.T.tolist(), strict=True)
    for k, of_class in enumerate(classes):
        if interval is not None:
            low, high = _round_outward(interval[:, k], digits).T.tolist()
            columns[_unlike(columns, f"{LOW}_{of_class}")] = low
            columns[_unlike(columns, f"{HIGH}_{of_class}")] = high
        if possible is not None:
            columns[_unlike(columns, f"{POSSIBLE}_{of_class}")] = (
                possible[:, k].astype(int).tolist()
            )
    if clash := [name for name in kept if name in columns]:
        what = "also a class" if clash[0] in classes else "also a column of the predictions"
        raise ValueError(
            f"keep must not name a column that is {what}, got {clash[0]!r}. "
            "Rename the column, or leave it out."
        )
    return {**kept, **columns}


def round_rows(proba: FloatArray, digits: int) -> FloatArray:
    """Round probabilities such that those of a row still sum to 1.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_classes)
        Probabilities, each row summing to 1.
    digits : int
        Number of digits after the decimal point, from 1 to 15.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        The nearest numbers with so many digits. Written as decimals, those of a row sum to 1; none
        of them differs from its probability by a unit of the last digit or more, and the order of
        the classes is kept.

    Notes
    -----
    All probabilities are rounded down, and the classes with the largest remainders get one more
    unit of the last digit each, until the sum is 1.
    """
    if not 1 <= digits <= MOST_DIGITS:
        raise ValueError(
            f"digits must be between 1 and {MOST_DIGITS}, got {digits}. Leave out the rounding "
            "to get all digits."
        )
    scale = 10.0**digits
    units = np.floor(proba * scale)
    remainder = proba * scale - units
    n_left = np.rint(scale - units.sum(axis=1)).astype(int)
    rank = (-remainder).argsort(axis=1, kind="stable").argsort(axis=1)
    return (units + (rank < n_left[:, None])) / scale


def _round_outward(interval: FloatArray, digits: int | None) -> FloatArray:
    """Round lower ends down and upper ends up."""
    if digits is None:
        return interval
    scale = 10.0**digits
    low, high = interval.T * scale
    return np.column_stack([np.floor(low), np.ceil(high)]) / scale


def _unlike(taken: Container[str], name: str) -> str:
    """Return a column name that is not taken, by a class for example, by adding underscores."""
    while name in taken:
        name += "_"
    return name
