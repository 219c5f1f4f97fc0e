"""Columns of predicted probabilities: which class each belongs to, and in what form it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import softmax

from calibrant._core.phrases import count
from calibrant._core.records import Record
from calibrant._core.typing import BoolArray, FloatArray
from calibrant.calibrators._validation import SUM_TOLERANCE
from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.columns import describe_missing, to_numbers
from calibrant.tabular.phrases import locate

PERCENT = 100.0
# Larger numbers can only be percentages: numbers a little above 1 may be mistakes.
LEAST_PERCENTAGE = 10.0
# The largest deviation of a sum from 1 that is put down to rounding.
LARGEST_TOLERANCE = 0.1
# Smaller deviations need no mention: sums in single precision have them, too.
SMALL_DEVIATION = 1e-6


class GivenProbabilities(NamedTuple):
    """Probabilities that a table gives, with sentences on how they were read.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_classes)
        Probabilities; each row sums to 1.
    notices : list of str
        What was changed: percentages, and rows that did not sum to 1.
    """

    values: FloatArray
    notices: list[str]


@dataclass(frozen=True)
class ProbabilityColumns(Record):
    """The columns of a table that hold the probabilities of classes.

    Attributes
    ----------
    classes : tuple of str
        The classes.
    columns : tuple of str or None
        The column of each class. ``None`` means that there is none: with two classes, the
        probability of one is 1 minus that of the other.
    logits : bool
        Whether the columns hold logits rather than probabilities.
    percentages : bool
        Whether a single column holds percentages. Those of several columns are recognized by
        their sums.
    """

    classes: tuple[str, ...]
    columns: tuple[str | None, ...]
    logits: bool = False
    percentages: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(name for name in self.columns if name is not None)

    @property
    def is_single(self) -> bool:
        """Whether a single column stands for two classes."""
        return None in self.columns

    @property
    def positive(self) -> str:
        """The class of the single column."""
        return next(
            name
            for name, column in zip(self.classes, self.columns, strict=True)
            if column is not None
        )

    def read(self, table: pd.DataFrame) -> GivenProbabilities:
        """Read the probabilities of the rows of a table.

        Parameters
        ----------
        table : DataFrame
            A table that `read_table` returned. Other columns are left out.

        Returns
        -------
        GivenProbabilities
            The probabilities, and notices.

        Raises
        ------
        ValueError
            If a column is missing, or if a row does not hold what the columns should hold.
        """
        self._check_names(table)
        values = np.column_stack([read_numbers(table[name]) for name in self.names])
        self._check_numbers(values, table)
        if self.logits:
            return GivenProbabilities(self._from_logits(values, table), [])
        if self.is_single:
            return self._from_single(values, table)
        return self._from_several(values, table)

    def _check_names(self, table: pd.DataFrame) -> None:
        available = [str(name) for name in table.columns]
        if missing := [name for name in self.names if name not in available]:
            free = [name for name in available if name not in self.names]
            raise ValueError(
                "The table must have a column of probabilities for each class. "
                f"{describe_missing(missing, free)}."
            )

    def _check_numbers(self, values: FloatArray, table: pd.DataFrame) -> None:
        if np.isfinite(values).all():
            return
        row, column = np.argwhere(~np.isfinite(values))[0]
        cell = table[self.names[column]].iloc[row]
        raise ValueError(
            f"The columns of the classes must hold {'logits' if self.logits else 'probabilities'}, "
            f"but {locate(table.index, row)} has "
            f"{repr(cell) if isinstance(cell, str) else 'no value'} for {self.names[column]!r}. "
            "Correct or remove the row."
        )

    def _from_logits(self, values: FloatArray, table: pd.DataFrame) -> FloatArray:
        scale = self._scale(values)
        off = np.abs(values.sum(axis=1) / scale - 1.0)
        if (
            not self.is_single
            and values.min() >= 0
            and (off <= self._tolerance(table, scale)).all()
        ):
            raise ValueError(
                "The columns must hold logits, but they hold probabilities: none is negative, and "
                f"each row sums to {scale:g}. Leave out --logits; a calibrator that was "
                "fitted to logits takes only logits."
            )
        return np.asarray(softmax(self._with_both(values, 0.0), axis=1))

    def _from_single(self, values: FloatArray, table: pd.DataFrame) -> GivenProbabilities:
        [name] = self.names
        scale = PERCENT if self.percentages or has_percent_signs(table[name]) else 1.0
        wrong = (values[:, 0] < 0) | (values[:, 0] > scale)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"Probabilities must lie between 0 and {scale:g}"
                f"{', as percentages' if scale > 1 else ''}, but {locate(table.index, row)} has "
                f"{values[row, 0]:g} for {name!r}. {_remedy(values)}"
            )
        notices = []
        if scale > 1:
            notices.append(
                f"{name!r} holds percentages, from {values.min():g} to {values.max():g}. They are "
                "divided by 100."
            )
        return GivenProbabilities(self._with_both(values / scale, None), notices)

    def _from_several(self, values: FloatArray, table: pd.DataFrame) -> GivenProbabilities:
        total = values.sum(axis=1)
        scale = self._scale(values)
        deviation = total / scale - 1.0
        wrong = (values < 0).any(axis=1) | (np.abs(deviation) > self._tolerance(table, scale))
        if wrong.any():
            raise self._wrong_row(values, wrong, table, scale)
        notices = []
        if scale > 1:
            notices.append(
                "The probabilities are percentages: each row sums to about 100. They are divided "
                "by 100."
            )
        values = values / scale
        off = np.abs(deviation) > SMALL_DEVIATION
        if off.any():
            n_off = int(off.sum())
            notices.append(
                f"The probabilities of {n_off:,} of {count(len(values), 'row')} do not sum to 1, "
                f"but to between {1 + deviation.min():.6g} and {1 + deviation.max():.6g}, as "
                "rounded numbers do. Those of each row are divided by their sum."
            )
            values = values / values.sum(axis=1, keepdims=True)
        return GivenProbabilities(values, notices)

    def _tolerance(self, table: pd.DataFrame, scale: float) -> float:
        """Return by how much the sum of a row may differ from 1."""
        decimals = max(_count_decimals(table[name]) for name in self.names)
        # Each of the numbers may be off by half a unit of its last digit.
        rounding = 0.5 * len(self.names) * 10.0**-decimals / scale
        return min(max(SUM_TOLERANCE, rounding), LARGEST_TOLERANCE) * (1 + 1e-9)

    @staticmethod
    def _scale(values: FloatArray) -> float:
        """Return 100 if the rows sum to 100 rather than 1."""
        return PERCENT if np.median(values.sum(axis=1)) > LEAST_PERCENTAGE else 1.0

    def _wrong_row(
        self, values: FloatArray, wrong: BoolArray, table: pd.DataFrame, scale: float
    ) -> ValueError:
        row = int(np.argmax(wrong))
        lowest = int(values[row].argmin())
        fault = (
            f"has {values[row, lowest]:g} for {self.names[lowest]!r}"
            if values[row, lowest] < 0
            else f"sums to {values[row].sum():.6g}"
        )
        return ValueError(
            f"Probabilities must not be negative, and those of a row must sum to {scale:g}"
            f"{', as percentages do' if scale > 1 else ''}, but {locate(table.index, row)} "
            f"{fault}. {_remedy(values)}"
        )

    def _with_both(self, values: FloatArray, other: float | None) -> FloatArray:
        """Return one column per class; ``other`` is None for 1 minus the single column."""
        if not self.is_single:
            return values
        rest = 1.0 - values if other is None else np.full_like(values, other)
        pair = [rest, values] if self.columns[0] is None else [values, rest]
        return np.hstack(pair)


def read_numbers(column: pd.Series) -> FloatArray:
    """Return the numbers of a column, with or without percent signs.

    NaN means missing, and infinity that the cell is not a number.
    """
    if not has_percent_signs(column):
        return to_numbers(column)
    numbers = pd.Series([cell.rstrip("% ") for cell in column], index=column.index, dtype=object)
    numbers.attrs = column.attrs  # which say whether the file has decimal commas
    return to_numbers(numbers)


def has_percent_signs(column: pd.Series) -> bool:
    """Whether every cell of a column is text that ends in a percent sign."""
    return all(isinstance(cell, str) and cell.endswith("%") for cell in column)


def _remedy(values: FloatArray) -> str:
    if values.min() < 0:
        return (
            "If they are logits, use calibrant calibrate --logits; a calibrator that was fitted to "
            "probabilities takes only probabilities."
        )
    return "Correct or remove the row; if they are logits, use calibrant calibrate --logits."


def _count_decimals(column: Sequence[object]) -> int:
    """Return the largest number of digits after the decimal mark; many if there is an exponent."""
    texts = ["" if is_missing(cell) else as_text(cell).rstrip("% ").lower() for cell in column]
    return max(
        (17 if "e" in text else len(text.replace(",", ".").partition(".")[2]) for text in texts),
        default=0,
    )
