"""Fitting a calibrated forest compared with fitting the forest alone."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks.timing import Row, Work, growth, measure
from calibrant import CalibratedClassifier


def rows() -> Iterator[Row]:
    """Time the fit with out-of-bag votes and its growth with the number of rows."""
    X, y = make_classification(500, 20, n_informative=8, n_classes=5, random_state=0)
    for method, limit in (("enir", 1.1), ("auto", 1.3)):
        yield measure(
            f"fit a calibrated forest of 500 trees, n = 500, K = 5, {method} / the forest",
            lambda method=method: make_calibrated_forest(method).fit(X, y),  # type: ignore[misc]
            lambda: make_forest(oob_score=True).fit(X, y),
            limit,
        )
    yield growth("growth with n: fit a calibrated forest, auto", make_fit, [500, 1000, 2000, 4000])


def make_forest(**options: bool) -> RandomForestClassifier:
    """Return an unfitted forest of 500 trees that uses two cores."""
    return RandomForestClassifier(500, random_state=0, n_jobs=2, **options)


def make_calibrated_forest(method: str) -> CalibratedClassifier:
    """Return the same unfitted forest, to be calibrated with its out-of-bag votes."""
    return CalibratedClassifier(make_forest(), method=method, cv="oob", random_state=0)


def make_fit(n: int) -> Work:
    """Return a function that fits n rows."""
    X, y = make_classification(n, 20, n_informative=8, n_classes=5, random_state=0)
    return lambda: make_calibrated_forest("auto").fit(X, y)
