"""Formatting of percentages, differences, intervals and p-values."""

from __future__ import annotations

from math import ceil

import numpy as np

from calibrant._core.phrases import NBSP, count
from calibrant._core.phrases import percent as percent  # used as one of these
from calibrant._core.records import Interval

MINUS = "\N{MINUS SIGN}"


def number(value: float, digits: int = 3) -> str:
    """Format a number with a number of decimals."""
    text = f"{value:.{digits}f}"
    return text.replace("-", MINUS) if float(text) else f"{0:.{digits}f}"


def signed(value: float, *, is_percentage: bool = False) -> str:
    """Format a difference with its sign, in percentage points if it is a percentage."""
    text = f"{100 * value:+.1f}" if is_percentage else f"{value:+.3f}"
    return text.replace("-", MINUS) if float(text) else text[1:]


def points(value: float) -> str:
    """Format a difference of fractions in whole percentage points."""
    return count(round(100 * value), "percentage point")


def points_up(value: float) -> int:
    """Round a difference of fractions up to whole percentage points, except for rounding errors."""
    return ceil(round(100 * value, 6))


def p_value(value: float) -> str:
    """Format a p-value with two decimals, three below 0.1, and nothing smaller than 0.001."""
    if value <= 0.001:
        return f"p{NBSP}\N{LESS-THAN OR EQUAL TO}{NBSP}0.001"
    return f"p{NBSP}={NBSP}{value:.2f}" if value >= 0.0995 else f"p{NBSP}={NBSP}{value:.3f}"


def has_bounds(interval: Interval) -> bool:
    """Return whether an interval was computed."""
    return not np.isnan(interval.low)
