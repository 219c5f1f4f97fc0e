"""Predictions as a table: the predicted class first, then decisions and probabilities."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from calibrant._core.typing import FloatArray
from calibrant.decisions import decide
from calibrant.tabular.costs import CostTable

# Names of the columns before those of the classes.
PREDICTED_CLASS = "predicted_class"
PROBABILITY = "probability"
DECISION = "decision"
EXPECTED_COST = "expected_cost"

DEFAULT_DIGITS = 6
# More digits than these are not all significant in double precision.
MOST_DIGITS = 15


def tabulate_predictions(
    proba: FloatArray,
    classes: Sequence[str],
    *,
    kept: Mapping[str, Sequence[Any]] | None = None,
    costs: CostTable | None = None,
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
    digits : int or None, default=6
        Number of digits after the decimal point. ``None`` means all digits.

    Returns
    -------
    dict of str to sequence
        Cells by column: the kept columns; the predicted class, which is the most probable one,
        and its probability; the decision and its expected cost; the probability of each class.
        Rounded probabilities of a row sum to 1.

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


def _unlike(classes: Container[str], name: str) -> str:
    """Return a column name that is not also a class, by adding underscores."""
    while name in classes:
        name += "_"
    return name
