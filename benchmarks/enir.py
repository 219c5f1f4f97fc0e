"""ENIR compared with netcal, isotonic regression and plain interpolation."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.util import find_spec

import numpy as np
from sklearn.isotonic import IsotonicRegression

from benchmarks.timing import Row, Work, fit_exponent, growth, measure
from calibrant._core.merging import KERNEL
from calibrant._core.typing import FloatArray
from calibrant.calibrators import ENIR


def rows() -> Iterator[Row]:
    """Time fits and predictions, and their growth in time and memory."""
    yield measure_against_netcal()
    score, target = draw_scores(1_000_000)
    yield measure(
        f"fit ENIR ({KERNEL} kernel), n = 1,000,000, binary / IsotonicRegression",
        lambda: ENIR().fit(score, target),
        lambda: IsotonicRegression(out_of_bounds="clip").fit(score, target),
        5.0,
    )
    enir = ENIR().fit(score, target)
    yield measure(
        "predict ENIR, n = 1,000,000 / numpy.interp over the same knots",
        lambda: enir.predict(score),
        lambda: np.interp(score, enir.X_thresholds_, enir.y_thresholds_),
        1.3,
    )
    sizes = [10_000, 100_000, 1_000_000]
    yield growth("growth with n: fit ENIR, binary", make_fit, sizes)
    yield growth("growth with n: predict ENIR", make_prediction, sizes)
    exponent = fit_exponent(sizes, [measure_peak_memory(size) for size in sizes])
    yield Row("growth with n: memory of fitting ENIR, binary", None, None, exponent, 1.05)


def measure_against_netcal() -> Row:
    """Time the largest fit that netcal completes in about a second."""
    title, limit = "fit ENIR, n = 4,000 / netcal ENIR", 100.0
    if find_spec("netcal") is None:
        return Row(f"{title}: not installed", None, None, float("nan"), limit, speedup=True)
    from netcal import binning

    score, target = draw_scores(4_000)

    def fit_netcal() -> None:
        with redirect_stdout(io.StringIO()):
            binning.ENIR().fit(score, target.astype(int))

    return measure(title, lambda: ENIR().fit(score, target), fit_netcal, limit, speedup=True)


def draw_scores(n: int) -> tuple[FloatArray, FloatArray]:
    """Draw miscalibrated scores and binary targets."""
    rng = np.random.default_rng(0)
    score = rng.uniform(size=n)
    return score, (rng.uniform(size=n) < score**2).astype(float)


def make_fit(n: int) -> Work:
    """Return a function that fits n points."""
    score, target = draw_scores(n)
    return lambda: ENIR().fit(score, target)


def make_prediction(n: int) -> Work:
    """Return a function that predicts n scores."""
    enir, score = ENIR().fit(*draw_scores(4_000)), draw_scores(n)[0]
    return lambda: enir.predict(score)


def measure_peak_memory(n: int) -> int:
    """Return the peak memory of fitting n points, in bytes."""
    fit = make_fit(n)
    tracemalloc.start()
    fit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
