"""Coverage of intervals for single probabilities and of prediction sets, by simulation.

Run with ``python -m experiments.intervals``: it writes the tables of ``results/intervals``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant._core.rowwise import softmax
from calibrant._core.typing import FloatArray, IndexArray
from experiments.rendering import Table, plain_rows, render

SIZES = (50, 100, 300, 1000)
CLASSES = (2, 3, 5)
N_FEATURES = 6
N_NEW = 500
LEVEL = 0.95
COVERAGE = 0.9

ESTIMATORS: dict[str, Callable[[], Any]] = {
    "logistic regression": lambda: LogisticRegression(max_iter=1000),
    "naive Bayes": GaussianNB,
    "random forest": lambda: RandomForestClassifier(100, random_state=0),
}

# Returns features and the true probabilities of so many rows.
Draw = Callable[[int], tuple[FloatArray, FloatArray]]


def linear_world(n_classes: int, rng: np.random.RandomState) -> Draw:
    """Return a world whose log odds are linear in the features."""
    return _logit_world(0.0, n_classes, rng)


def curved_world(n_classes: int, rng: np.random.RandomState) -> Draw:
    """Return a world whose log odds have squares and products of features as well."""
    return _logit_world(0.15, n_classes, rng)


def _logit_world(curvature: float, n_classes: int, rng: np.random.RandomState) -> Draw:
    linear, squares, products = rng.randn(3, N_FEATURES, n_classes)
    intercept = 0.3 * rng.randn(n_classes)

    def draw(n_rows: int) -> tuple[FloatArray, FloatArray]:
        X = rng.randn(n_rows, N_FEATURES)
        bend = (X**2 - 1.0) @ squares + (X * np.roll(X, 1, axis=1)) @ products
        return X, softmax(0.9 * X @ linear + curvature * bend + intercept)

    return draw


def gaussian_world(n_classes: int, rng: np.random.RandomState) -> Draw:
    """Return a world of Gaussian classes with independent features, of different sizes."""
    mean = 0.5 * rng.randn(n_classes, N_FEATURES)
    variance = rng.uniform(0.5, 1.5, size=mean.shape)
    share = 1.0 + np.arange(n_classes, 0, -1)
    share /= share.sum()

    def draw(n_rows: int) -> tuple[FloatArray, FloatArray]:
        y = rng.choice(n_classes, size=n_rows, p=share)
        X = mean[y] + np.sqrt(variance[y]) * rng.randn(n_rows, N_FEATURES)
        squares = (X[:, None] - mean) ** 2 / variance + np.log(variance)
        return X, softmax(np.log(share) - 0.5 * squares.sum(axis=2))

    return draw


WORLDS: dict[str, Callable[[int, np.random.RandomState], Draw]] = {
    "linear": linear_world,
    "Gaussian": gaussian_world,
    "curved": curved_world,
}
# Where the estimator has the right form.
RIGHT = {("logistic regression", "linear"), ("naive Bayes", "Gaussian")}
# The constants of the intervals were chosen on other worlds, with smaller seeds.
FIRST_SEED = 1000


class Found(NamedTuple):
    """What one data set shows.

    Attributes
    ----------
    covered : float
        The proportion of intervals that contain the true probability.
    width : float
        The mean width of the intervals.
    in_set : ndarray of shape (n_classes,)
        For each class, the proportion of its new rows whose set contains it.
    set_size : float
        The mean number of classes in a set.
    """

    covered: float
    width: float
    in_set: FloatArray
    set_size: float


def draw_labels(proba: FloatArray, rng: np.random.RandomState) -> IndexArray:
    """Draw the class of each row, with at least two rows of each class."""
    # The largest logarithm with Gumbel noise has the probabilities as its distribution.
    y = (np.log(proba + 1e-300) + rng.gumbel(size=proba.shape)).argmax(axis=1)
    n_classes = proba.shape[1]
    y[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    return y


def simulate(world: str, estimator: str, n_classes: int, n_rows: int, seed: int) -> Found:
    """Fit one data set and compare its intervals and sets with the truth."""
    rng = np.random.RandomState(seed)
    draw = WORLDS[world](n_classes, rng)
    X, proba = draw(n_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CalibratedClassifier(ESTIMATORS[estimator](), random_state=seed)
        model.fit(X, draw_labels(proba, rng))
    X_new, true = draw(N_NEW)
    interval = model.predict_interval(X_new, level=LEVEL)
    low, high = interval[:, :, 0], interval[:, :, 1]
    sets = model.predict_set(X_new, coverage=COVERAGE)
    # The expected proportion given the features has less noise than that of drawn labels.
    in_set = (true * sets).sum(axis=0) / true.sum(axis=0)
    return Found(
        float(np.mean((low <= true) & (true <= high))),
        float(np.mean(high - low)),
        in_set,
        float(sets.sum(axis=1).mean()),
    )


Results = dict[tuple[str, str, int, int], list[Found]]


def simulate_all(repeats: int, jobs: int) -> Results:
    """Simulate every case."""
    cases = [
        (world, estimator, n_classes, n_rows)
        for estimator in ESTIMATORS
        for world in WORLDS
        for n_classes in CLASSES
        for n_rows in SIZES
    ]
    found = Parallel(n_jobs=jobs)(
        delayed(simulate)(*case, seed)
        for case in cases
        for seed in range(FIRST_SEED, FIRST_SEED + repeats)
    )
    chunks = [found[start : start + repeats] for start in range(0, len(found), repeats)]
    return dict(zip(cases, chunks, strict=True))


def form_table(results: Results) -> Table:
    """Return the coverage of intervals by estimator and form of the truth."""
    rows = []
    for estimator in ESTIMATORS:
        for world in WORLDS:
            cells = []
            for n_rows in SIZES:
                found = [each for k in CLASSES for each in results[world, estimator, k, n_rows]]
                cells.append(_cell(found))
            is_right = (estimator, world) in RIGHT
            rows.append([estimator, world, "right" if is_right else "wrong", *cells])
    return Table(
        "Coverage and mean width of 95% intervals, by the form of the truth",
        ["estimator", "truth", "model", *(f"{n_rows:,} rows" for n_rows in SIZES)],
        plain_rows(rows),
        _note(results, f"Averages over {_list_classes()} classes."),
    )


def class_table(results: Results) -> Table:
    """Return the coverage of intervals by estimator and number of classes."""
    rows = []
    for estimator in (*ESTIMATORS, "all"):
        for n_classes in CLASSES:
            cells = []
            for n_rows in SIZES:
                found = [
                    each
                    for (_, name, k, n), of_case in results.items()
                    if estimator in (name, "all") and (k, n) == (n_classes, n_rows)
                    for each in of_case
                ]
                cells.append(_cell(found))
            rows.append([estimator, str(n_classes), *cells])
    return Table(
        "Coverage and mean width of 95% intervals, by the number of classes",
        ["estimator", "classes", *(f"{n_rows:,} rows" for n_rows in SIZES)],
        plain_rows(rows),
        _note(results, "Averages over the three forms of the truth."),
    )


def set_table(results: Results) -> Table:
    """Return the coverage of prediction sets by class."""
    rows = []
    for estimator in ESTIMATORS:
        for n_classes in CLASSES:
            cells = []
            for n_rows in SIZES:
                found = [
                    each
                    for world in WORLDS
                    for each in results[world, estimator, n_classes, n_rows]
                ]
                covered = np.mean([each.in_set for each in found], axis=0)
                size = np.mean([each.set_size for each in found])
                cells.append(f"{covered.mean():.1%}, {covered.min():.1%} ({size:.2f})")
            rows.append([estimator, str(n_classes), *cells])
    return Table(
        "Coverage of sets that are to contain 90% of the rows of each class",
        ["estimator", "classes", *(f"{n_rows:,} rows" for n_rows in SIZES)],
        plain_rows(rows),
        _note(
            results,
            "The mean over classes, the lowest class, and in brackets the mean number of classes "
            "in a set.",
        ),
    )


def _cell(found: list[Found]) -> str:
    covered = np.mean([each.covered for each in found])
    return f"{covered:.1%} ({np.mean([each.width for each in found]):.2f})"


def _list_classes() -> str:
    *first, last = map(str, CLASSES)
    return f"{', '.join(first)} and {last}"


def _note(results: Results, text: str) -> str:
    repeats = len(next(iter(results.values())))
    return (
        f"{text} {repeats} data sets per case, each from its own population, and {N_NEW} new rows "
        "each."
    )


README = f"""# Intervals for single probabilities, and prediction sets

How often the intervals of `CalibratedClassifier.predict_interval` contain the true probability, and
the sets of `predict_set` the class, in simulations. Each data set comes from its own simulated
population with {N_FEATURES} features: log odds that are linear in the features, Gaussian classes
with independent features, or log odds with squares and products of features. Logistic regression
has the right form in the first, naive Bayes in the second, and a forest in none.

[by-truth.md](by-truth.md), [by-classes.md](by-classes.md) and [sets.md](sets.md) are written by

```
.venv/bin/python -m experiments.intervals --repeats {{repeats}}
```
"""
TABLES: dict[str, Callable[[Results], Table]] = {
    "by-truth.md": form_table,
    "by-classes.md": class_table,
    "sets.md": set_table,
}


def write_tables(results: Results, folder: Path) -> None:
    """Write a page on the simulation, and its tables."""
    folder.mkdir(parents=True, exist_ok=True)
    repeats = len(next(iter(results.values())))
    (folder / "README.md").write_text(README.format(repeats=repeats), encoding="utf-8")
    for name, make in TABLES.items():
        (folder / name).write_text(render(make(results), "markdown"), encoding="utf-8")


def main() -> None:
    """Simulate, and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.intervals", description=__doc__)
    parser.add_argument("--repeats", type=int, default=20, help="data sets per case")
    parser.add_argument("--jobs", type=int, default=2, help="parallel processes")
    parser.add_argument("--output", type=Path, default=Path("results/intervals"))
    arguments = parser.parse_args()
    write_tables(simulate_all(arguments.repeats, arguments.jobs), arguments.output)


if __name__ == "__main__":
    main()
