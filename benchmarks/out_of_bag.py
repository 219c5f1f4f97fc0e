"""A calibrated forest beside the forest alone."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks.timing import Row, Work, growth, measure
from calibrant import CalibratedClassifier


def rows() -> Iterator[Row]:
    """Time the fit with out-of-bag votes, and its growth with the number of rows."""
    X, y = make_classification(500, 20, n_informative=8, n_classes=5, random_state=0)
    for method, limit in (("enir", 1.1), ("auto", 1.3)):
        yield measure(
            f"fit a calibrated forest of 500 trees, n = 500, K = 5, {method} / the forest",
            lambda method=method: calibrated(method).fit(X, y),  # type: ignore[misc]
            lambda: forest(oob_score=True).fit(X, y),
            limit,
        )
    yield growth("growth with n: fit a calibrated forest, auto", fit_of, [500, 1000, 2000, 4000])


def forest(**options: bool) -> RandomForestClassifier:
    """Return a forest of 500 trees on two cores."""
    return RandomForestClassifier(500, random_state=0, n_jobs=2, **options)


def calibrated(method: str) -> CalibratedClassifier:
    """Return the same forest, calibrated from its out-of-bag votes."""
    return CalibratedClassifier(forest(), method=method, cv="oob", random_state=0)


def fit_of(n: int) -> Work:
    """Return the fit of n rows."""
    X, y = make_classification(n, 20, n_informative=8, n_classes=5, random_state=0)
    return lambda: calibrated("auto").fit(X, y)
