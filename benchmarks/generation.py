"""Held-out scores in closed form compared with refitting the estimator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.timing import Row, Timer, Work, compare, growth, make_timer, measure
from calibrant import CalibratedClassifier
from calibrant._core.fitting import Fitter
from calibrant._core.problems import make_problems
from calibrant._core.training_data import TrainingData
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.generation import MonteCarloCV
from calibrant.strategies import OneVsRest

N_ROWS, N_CLASSES = 300, 4
# The published time of naive Bayes per binary problem, and the largest acceptable time.
PAPER_SECONDS, MAX_SECONDS = 4.36, 0.010
# The estimators with their minimum speedups and the sizes that show their growth. Beyond 16,667
# rows, a problem has a single split, and its time is proportional to the number of rows.
CASES: list[tuple[Any, float, tuple[int, ...]]] = [
    (GaussianNB(), 20.0, (20_000, 60_000, 200_000)),
    (KNeighborsClassifier(), 5.0, (20_000, 40_000, 80_000)),
    (LinearDiscriminantAnalysis(), 5.0, (20_000, 60_000, 200_000)),
]


def rows() -> Iterator[Row]:
    """Time closed forms against refits, their growth, and whole fits against the paper."""
    size = f"n = {N_ROWS}, K = {N_CLASSES}"
    for estimator, min_speedup, sizes in CASES:
        name = type(estimator).__name__
        # Closed forms apply to known types only, not to their subclasses.
        refitted = type("Refitted", (type(estimator),), {})()
        yield measure(
            f"generation, {name}, {size}: refit loop / closed form",
            make_generation(estimator, N_ROWS),
            make_generation(refitted, N_ROWS),
            min_speedup,
            repeats=15,
            speedup=True,
        )
        yield growth(
            f"growth with n: generation, {name}, closed form",
            partial(make_generation, estimator),
            sizes,
        )
    for letter, work, numbers in (
        ("d", lambda d: make_generation(GaussianNB(), 2000, n_features=d), (8, 32, 128)),
        (
            "K",
            lambda k: make_generation(GaussianNB(), 2000, n_features=8, n_classes=k),
            (4, 16, 64),
        ),
    ):
        yield growth(f"growth with {letter}: generation, GaussianNB, closed form", work, numbers)
    yield compare(
        f"GaussianNB, one-vs-rest, DGG and ENIR, {size}, per binary problem / the paper",
        make_problem_timer(),
        lambda: PAPER_SECONDS,
        MAX_SECONDS / PAPER_SECONDS,
        repeats=15,
    )


def make_generation(
    estimator: Any, n_rows: int, n_features: int = 4, n_classes: int = N_CLASSES
) -> Work:
    """Return a function that generates the held-out scores of one-vs-rest problems."""
    X, y = draw_rows(n_rows, n_features, n_classes)
    data = TrainingData(X, y, np.arange(n_classes), np.ones(n_rows))
    problems = make_problems(OneVsRest().code(n_classes, np.random.RandomState(0)), data)

    def generate() -> object:
        fitter = Fitter(estimator, data, np.random.RandomState(0))
        return MonteCarloCV().generate(fitter, problems, models=[])

    return generate


def make_problem_timer() -> Timer:
    """Return a function that fits all problems and returns the seconds per problem."""
    X, y = draw_rows(N_ROWS)
    model = CalibratedClassifier(
        GaussianNB(), strategy="one-vs-rest", method="enir", cv="monte-carlo", random_state=0
    )

    fit_timer = make_timer(lambda: model.fit(X, y))
    return lambda: fit_timer() / N_CLASSES


def draw_rows(
    n_rows: int, n_features: int = 4, n_classes: int = N_CLASSES
) -> tuple[FloatArray, IndexArray]:
    """Draw rows with at most eight informative features."""
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
