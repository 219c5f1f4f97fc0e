"""ENIR: fits beside netcal and isotonic regression, predictions beside bare interpolation."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from benchmarks.timing import Row, Work, growth, measure
from calibrant._core.merging import KERNEL
from calibrant.calibrators import ENIR

FloatArray = NDArray[np.float64]


def rows() -> Iterator[Row]:
    """Time fits and predictions, and their growth in time and memory."""
    yield beside_netcal()
    score, target = scores(1_000_000)
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
    yield growth("growth with n: fit ENIR, binary", fit_of, sizes)
    yield growth("growth with n: predict ENIR", predict_of, sizes)
    peaks = [peak_memory(size) for size in sizes]
    exponent = float(np.polyfit(np.log(sizes), np.log(peaks), 1)[0])
    yield Row("growth with n: memory of fitting ENIR, binary", None, None, exponent, 1.05)


def beside_netcal() -> Row:
    """Time the fit that netcal can still do."""
    name, limit = "fit ENIR, n = 4,000 / netcal ENIR", 100.0
    if find_spec("netcal") is None:
        return Row(f"{name}: not installed", None, None, float("nan"), limit, speedup=True)
    from netcal import binning

    score, target = scores(4_000)

    def netcal() -> None:
        with redirect_stdout(io.StringIO()):
            binning.ENIR().fit(score, target.astype(int))

    return measure(name, lambda: ENIR().fit(score, target), netcal, limit, speedup=True)


def scores(n: int) -> tuple[FloatArray, FloatArray]:
    """Return scores that are not calibrated, and binary targets."""
    rng = np.random.default_rng(0)
    score = rng.uniform(size=n)
    return score, (rng.uniform(size=n) < score**2).astype(float)


def fit_of(n: int) -> Work:
    """Return the fit of n points."""
    score, target = scores(n)
    return lambda: ENIR().fit(score, target)


def predict_of(n: int) -> Work:
    """Return the prediction of n scores."""
    enir, score = ENIR().fit(*scores(4_000)), scores(n)[0]
    return lambda: enir.predict(score)


def peak_memory(n: int) -> int:
    """Return the bytes of arrays that a fit of n points holds at most."""
    fit = fit_of(n)
    tracemalloc.start()
    fit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
