"""Tests and intervals of calibration by subgroup, by simulation: a table of `measures`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import softmax

from calibrant._core.typing import FloatArray, IndexArray
from calibrant.metrics import SubgroupCalibration, subgroup_calibration
from experiments.rendering import Table, plain_rows

SIZES = (100, 300, 1000)
CLASSES = (2, 3, 5)
SUBGROUPS = (2, 4, 8)
# Rows from which data sets are drawn, and whose mean differences are the true ones.
N_POPULATION = 20_000
# Fewer than by default, which changes the level of no test and saves time.
N_RESAMPLES, LEAST_RESAMPLES = 99, 19
ALPHA = 0.05
# The standard deviation of the intercepts of subgroups that differ, per class.
SPREAD = 0.5


@dataclass(frozen=True, eq=False)
class Population:
    """Rows with predictions and subgroups of unequal sizes, which differ in their predictions.

    Attributes
    ----------
    ratio : ndarray of shape (n_rows, n_classes - 1)
        Predicted log ratios to the first class.
    by : ndarray of shape (n_rows,)
        The subgroup of each row.
    """

    ratio: FloatArray
    by: IndexArray

    @classmethod
    def draw(cls, n_classes: int, n_subgroups: int) -> Population:
        """Draw the rows: the first subgroup is the largest, and the last has the highest ratios."""
        rng = np.random.RandomState(2**31 - 1)
        share = 1.0 / (1.0 + np.arange(n_subgroups))
        by = rng.choice(n_subgroups, p=share / share.sum(), size=N_POPULATION)
        center = np.linspace(-0.7, 0.7, n_subgroups)[by, None] - 0.5
        return cls(1.3 * rng.standard_normal((N_POPULATION, n_classes - 1)) + center, by)

    def proba(self, intercept: FloatArray | float = 0.0, slope: float = 1.0) -> FloatArray:
        """Return probabilities with changed log ratios."""
        ratio = intercept + slope * self.ratio
        return np.asarray(softmax(np.hstack([np.zeros((len(ratio), 1)), ratio]), axis=1))


def true_differences(predicted: FloatArray, true: FloatArray, by: IndexArray) -> FloatArray:
    """Return the mean of true minus predicted probabilities, by subgroup and event."""
    top = predicted.argmax(axis=1)[:, None]
    change = true - predicted
    events = np.hstack([change, np.take_along_axis(change, top, axis=1)])
    return np.stack([events[by == each].mean(axis=0) for each in np.unique(by)])


def simulate_once(population: Population, n_rows: int, seed: int) -> list[float]:
    """Return rejections without differences, and the errors of estimates with differences."""
    rng = np.random.RandomState(seed)
    n_classes = population.ratio.shape[1] + 1
    predicted = population.proba()
    rows = rng.choice(N_POPULATION, size=n_rows, replace=False)

    def estimate(true: FloatArray, n_resamples: int = N_RESAMPLES) -> SubgroupCalibration:
        uniform = rng.uniform(size=(n_rows, 1))
        y = (uniform > true[rows].cumsum(axis=1)[:, :-1]).sum(axis=1)
        return subgroup_calibration(
            y,
            predicted[rows],
            population.by[rows],
            labels=np.arange(n_classes),
            n_resamples=n_resamples,
            random_state=seed,
        )

    right, overconfident = estimate(predicted), estimate(population.proba(0.3, 0.6))
    effects = SPREAD * rng.standard_normal((population.by.max() + 1, n_classes - 1))
    true = population.proba(effects[population.by])
    found = estimate(true, LEAST_RESAMPLES)  # whose tests are not used
    names = [each.name for each in found.subgroups]
    truth = true_differences(predicted, true, population.by)[names]
    results: list[Any] = [
        right.p_value <= ALPHA,
        right.difference_p_value <= ALPHA,
        overconfident.difference_p_value <= ALPHA,
    ]
    squares = []
    for kind in ("difference", "shrunken"):
        intervals = [getattr(each, kind) for each in found.subgroups]
        estimates, low, high = (
            np.array([[getattr(each, end) for each in row] for row in intervals])
            for end in ("estimate", "low", "high")
        )
        results.append(np.mean((low <= truth) & (truth <= high)))
        squares.append(np.mean((estimates - truth) ** 2))
    return [*map(float, results), *map(float, squares)]


def subgroup_table(repeats: int, jobs: int) -> Table:
    """Return the level of the tests, and coverage and error of differences."""
    rows = []
    for n_classes, n_subgroups in product(CLASSES, SUBGROUPS):
        population = Population.draw(n_classes, n_subgroups)
        for n_rows in SIZES:
            found = np.mean(
                Parallel(n_jobs=jobs)(
                    delayed(simulate_once)(population, n_rows, seed) for seed in range(repeats)
                ),
                axis=0,
            )
            errors = 100.0 * np.sqrt(found[5:])
            cells = [f"{each:.1%}" for each in found[:5]] + [f"{each:.1f}" for each in errors]
            rows.append([str(n_classes), str(n_subgroups), str(n_rows), *cells])
    return Table(
        "Calibration by subgroup",
        [
            "classes",
            "subgroups",
            "rows",
            "rejections, calibrated",
            "rejections, no difference",
            "rejections, all overconfident",
            "coverage",
            "coverage, shrunken",
            "error",
            "error, shrunken",
        ],
        plain_rows(rows),
        f"{repeats} data sets per row and column. Rejections are those of 5% tests: that the "
        "probabilities are right in every subgroup, for calibrated probabilities; and that "
        "subgroups do not differ, for calibrated and for overconfident probabilities (true slope "
        "0.6). Their standard error is about "
        f"{100 * np.sqrt(ALPHA * (1 - ALPHA) / repeats):.1f} percentage points. Coverage of 95% "
        "intervals and root mean squared errors, in percentage points, are averages over classes "
        f"and subgroups that differ: their intercepts have a standard deviation of {SPREAD}. The "
        "largest of four subgroups has about half of the rows, the smallest an eighth.",
    )
