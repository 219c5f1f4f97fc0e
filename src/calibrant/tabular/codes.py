"""Numbers that may be codes for missing values, such as -999."""

from __future__ import annotations

import numpy as np

from calibrant._core.typing import FloatArray

NINES = tuple(float("9" * length) for length in (2, 3, 4, 5))
CODES = (*NINES, *(number / 9 * 8 for number in NINES[1:]), -9.0, *(-number for number in NINES))
# With fewer other values, nothing is far from the rest.
LEAST_VALUES = 5
# A code is farther from the other values than this fraction of their range.
FAR = 0.5


def find_codes(numbers: FloatArray) -> dict[float, int]:
    """Find numbers that may be codes for missing values.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,)
        The values of a column; NaN where a value is missing.

    Returns
    -------
    dict of float to int
        Codes that lie far outside the range of the other values, with their numbers of rows.

    Notes
    -----
    A code consists of nines or, if positive, of eights. It lies farther from the other values than
    half of their range, is negative where no other value is, or lies above all other values, not
    next to them, and is more frequent than any of them.
    """
    known = numbers[np.isfinite(numbers)]
    is_code = np.isin(known, CODES)
    rest = known[~is_code]
    if len(np.unique(rest)) < LEAST_VALUES:
        return {}
    low, high = float(rest.min()), float(rest.max())
    most_frequent = np.unique(rest, return_counts=True)[1].max()
    distance = FAR * (high - low)
    return {
        float(code): int(n_rows)
        for code, n_rows in zip(*np.unique(known[is_code], return_counts=True), strict=True)
        if code > high + distance
        or code < low - distance
        or (code < 0 <= low)
        or (code > high + 1 and n_rows > most_frequent)
    }
