"""Coverage of the confidence interval for the expected gain, by simulation.

Run with ``python -m experiments.coverage``: it prints the table of ``results/coverage``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from calibrant import CalibratedClassifier
from calibrant._core.losses import row_log_loss
from calibrant._core.probability_floor import apply_probability_floor
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.datasets import make_waveform
from experiments.rendering import Table, plain_rows, render

Draw = Callable[[int, int], tuple[FloatArray, IndexArray]]

SIZES = (50, 100, 200, 1000)
N_TEST = 10_000
# If a model is left uncalibrated, its gain and both ends of the interval are 0 up to rounding.
ROUNDING = 1e-9
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "naive Bayes": GaussianNB,
    "logistic regression": lambda: LogisticRegression(max_iter=1000),
    "nearest neighbors": KNeighborsClassifier,
    "random forest": lambda: RandomForestClassifier(100, random_state=0),
}


def draw_waveform(n_rows: int, seed: int) -> tuple[FloatArray, IndexArray]:
    """Draw rows of the waveform data: three classes of equal size."""
    return make_waveform(n_rows, random_state=seed)


def draw_mixture(n_rows: int, seed: int) -> tuple[FloatArray, IndexArray]:
    """Draw rows of four Gaussian classes of different sizes and covariances."""
    fixed = np.random.RandomState(7)
    means = 0.7 * fixed.randn(4, 10)
    factors = [np.linalg.cholesky(np.cov(fixed.randn(10, 14)) + 0.1 * np.eye(10)) for _ in means]
    rng = np.random.RandomState(seed)
    y = rng.choice(4, size=n_rows, p=[0.4, 0.3, 0.2, 0.1])
    y[:8] = np.tile(np.arange(4), 2)  # no class is missing
    X = np.array([means[k] + factors[k] @ rng.randn(10) for k in y])
    return X, y


def draw_logistic(n_rows: int, seed: int) -> tuple[FloatArray, IndexArray]:
    """Draw rows of three classes whose log odds are linear in six features."""
    coefficients = np.random.RandomState(11).randn(6, 3)
    rng = np.random.RandomState(seed)
    X = rng.randn(n_rows, 6)
    # The largest of the log odds with Gumbel noise has the softmax as its distribution.
    y = (X @ coefficients + rng.gumbel(size=(n_rows, 3))).argmax(axis=1)
    y[:6] = np.tile(np.arange(3), 2)  # no class is missing
    return X, y


POPULATIONS: dict[str, Draw] = {
    "waveform": draw_waveform,
    "mixture": draw_mixture,
    "logistic": draw_logistic,
}
# The constants of the interval were chosen on data sets with smaller seeds.
FIRST_SEED = 1000


def is_covered(population: str, estimator: str, n_rows: int, seed: int) -> bool:
    """Return whether the interval of one fit contains the gain on new rows."""
    draw = POPULATIONS[population]
    X_new, y_new = draw(N_TEST, 2**31 - 1 - seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CalibratedClassifier(ESTIMATORS[estimator](), random_state=seed)
        model.fit(*draw(n_rows, seed))
    # Like the estimated gain, the true one is over the probabilities with their floor.
    uncalibrated = apply_probability_floor(
        model.predict_uncalibrated_proba(X_new), model.class_count_
    )
    losses = (row_log_loss(y_new, p) for p in (uncalibrated, model.predict_proba(X_new)))
    before, after = (float(loss.mean()) for loss in losses)
    low, high = model.calibration_report_.interval
    return bool(low - ROUNDING <= before - after <= high + ROUNDING)


def make_table(repeats: int, jobs: int) -> Table:
    """Simulate and return the coverage by number of rows and estimator."""
    cases = [
        (population, estimator, n_rows, seed)
        for n_rows in SIZES
        for estimator in ESTIMATORS
        for population in POPULATIONS
        for seed in range(FIRST_SEED, FIRST_SEED + repeats)
    ]
    covered = np.array(Parallel(n_jobs=jobs)(delayed(is_covered)(*case) for case in cases))
    shape = (len(SIZES), len(ESTIMATORS), len(POPULATIONS) * repeats)
    by_case = covered.reshape(shape).mean(axis=2)
    rows = [
        [str(n_rows), *(f"{value:.0%}" for value in of_size), f"{of_size.mean():.1%}"]
        for n_rows, of_size in zip(SIZES, by_case, strict=True)
    ]
    return Table(
        "Coverage of the 95% interval for the expected gain",
        ["training rows", *ESTIMATORS, "all"],
        plain_rows(rows),
        f"{repeats} simulated data sets per estimator, number of rows and population (waveform "
        "data, a mixture of four Gaussian classes of different sizes, and three classes with "
        f"linear log odds). The gain is measured on {N_TEST:,} new rows.",
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.coverage", description=__doc__)
    parser.add_argument("--repeats", type=int, default=100, help="data sets per case")
    parser.add_argument("--jobs", type=int, default=2, help="parallel processes")
    arguments = parser.parse_args()
    print(render(make_table(arguments.repeats, arguments.jobs), "markdown"), end="")


if __name__ == "__main__":
    main()
