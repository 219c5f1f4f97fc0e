"""What must hold for every result."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SUM_TOLERANCE = 1e-12


def check_distributions(proba: NDArray[np.float64], shape: tuple[int, int]) -> None:
    """Assert that rows are finite, in [0, 1], and sum to 1."""
    assert proba.shape == shape, f"shape {proba.shape} instead of {shape}"
    assert proba.dtype == np.float64, f"{proba.dtype}"
    assert np.isfinite(proba).all(), "not finite"
    assert proba.min(initial=0.0) >= 0.0, f"{proba.min()} is below 0"
    assert proba.max(initial=0.0) <= 1.0, f"{proba.max()} is above 1"
    excess = np.abs(proba.sum(axis=1) - 1.0).max(initial=0.0)
    assert excess <= SUM_TOLERANCE, f"sums differ from 1 by {excess}"


def check_probabilities(proba: NDArray[np.float64], n_rows: int) -> None:
    """Assert that values are finite and in [0, 1]."""
    assert proba.shape == (n_rows,), f"shape {proba.shape}"
    assert np.isfinite(proba).all(), "not finite"
    assert proba.min(initial=0.0) >= 0.0, f"{proba.min()} is below 0"
    assert proba.max(initial=0.0) <= 1.0, f"{proba.max()} is above 1"


def check_close(found: object, expected: object, what: str, tolerance: float = 1e-7) -> None:
    """Assert that two results agree up to a tolerance."""
    np.testing.assert_allclose(
        np.asarray(found, dtype=float),
        np.asarray(expected, dtype=float),
        rtol=tolerance,
        atol=tolerance,
        err_msg=what,
    )
