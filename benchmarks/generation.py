"""Held-out scores in closed form, beside the loop that refits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.timing import Row, compare, growth, measure
from calibrant import CalibratedClassifier
from calibrant._core.fitting import Fitter
from calibrant._core.problems import scoring_problems
from calibrant.generation import MonteCarloCV
from calibrant.strategies import OneVsRest

N_ROWS, N_CLASSES = 300, 4
PAPER_SECONDS = 4.36  # of naive Bayes, for a binary problem
MOST_SECONDS = 0.010
# The estimators, how much sooner they must be, and the sizes that show how they grow: beyond
# 16,667 rows a problem has a single split, and a problem's work is in proportion to its rows.
CASES: list[tuple[Any, float, tuple[int, ...]]] = [
    (GaussianNB(), 20.0, (20_000, 60_000, 200_000)),
    (KNeighborsClassifier(), 5.0, (20_000, 40_000, 80_000)),
    (LinearDiscriminantAnalysis(), 5.0, (20_000, 60_000, 200_000)),
]


def rows() -> Iterator[Row]:
    """Time generation in closed form and by refits, its growth, and whole fits."""
    size = f"n = {N_ROWS}, K = {N_CLASSES}"
    for estimator, least, sizes in CASES:
        name = type(estimator).__name__
        # What is not of a known type itself is refitted.
        refitted = type("Refitted", (type(estimator),), {})()
        yield measure(
            f"generation, {name}, {size}: refit loop / closed form",
            generation(estimator, N_ROWS),
            generation(refitted, N_ROWS),
            least,
            repeats=15,
            speedup=True,
        )
        yield growth(
            f"generation, {name}, closed form: exponent of n", partial(generation, estimator), sizes
        )
    for letter, work, numbers in (
        ("d", lambda d: generation(GaussianNB(), 2000, n_features=d), (8, 32, 128)),
        ("K", lambda k: generation(GaussianNB(), 2000, n_features=8, n_classes=k), (4, 16, 64)),
    ):
        yield growth(f"generation, GaussianNB, closed form: exponent of {letter}", work, numbers)
    yield compare(
        f"GaussianNB, one-vs-rest, DGG and ENIR, {size}: a binary problem / the paper's",
        seconds_a_problem(),
        lambda: PAPER_SECONDS,
        MOST_SECONDS / PAPER_SECONDS,
        repeats=15,
    )


def generation(
    estimator: Any, n_rows: int, n_features: int = 4, n_classes: int = N_CLASSES
) -> Callable[[], object]:
    """Return what generates the scores of one-vs-rest problems."""
    X, y = draw(n_rows, n_features, n_classes)
    weight = np.ones(n_rows)
    code = OneVsRest().code(n_classes, np.random.RandomState(0))
    problems = scoring_problems(code, y, np.arange(n_classes), weight > 0)

    def generate() -> object:
        fitter = Fitter(estimator, X, {}, np.random.RandomState(0))
        return MonteCarloCV().generate(fitter, problems, y, weight)

    return generate


def seconds_a_problem() -> Callable[[], float]:
    """Return what fits all problems, and tells the seconds of one."""
    X, y = draw(N_ROWS)
    model = CalibratedClassifier(
        GaussianNB(), strategy="one-vs-rest", method="enir", cv="monte-carlo", random_state=0
    )

    def seconds() -> float:
        began = time.perf_counter()
        model.fit(X, y)
        return (time.perf_counter() - began) / N_CLASSES

    return seconds


def draw(
    n_rows: int, n_features: int = 4, n_classes: int = N_CLASSES
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Draw rows of features, some of which tell something about the class."""
    X, y = make_classification(
        n_rows,
        n_features,
        n_informative=min(n_features, 8),
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        random_state=0,
    )
    return X, y
