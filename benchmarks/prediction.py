"""Prediction with a calibrated forest compared with the forest alone."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.datasets import make_classification

from benchmarks.out_of_bag import make_calibrated_forest
from benchmarks.timing import Row, growth, measure


def rows() -> Iterator[Row]:
    """Time ``predict_proba`` and its growth with the number of rows."""
    X, y = make_classification(100_500, 20, n_informative=8, n_classes=5, random_state=0)
    X_new = X[500:10_500]
    for method in ("enir", "auto"):
        model = make_calibrated_forest(method).fit(X[:500], y[:500])
        forest = model.estimators_[0]
        yield measure(
            f"predict_proba of a calibrated forest, n = 10,000, K = 5, {method} / the forest",
            lambda model=model: model.predict_proba(X_new),  # type: ignore[misc]
            lambda forest=forest: forest.predict_proba(X_new),  # type: ignore[misc]
            1.1,
            repeats=11,
        )
    yield growth(
        "growth with n: predict_proba of a calibrated forest, auto",
        lambda n: lambda: model.predict_proba(X[500 : 500 + n]),
        [1000, 10_000, 100_000],
    )
