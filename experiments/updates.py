"""What updates choose and gain, and how often validation gives a false alarm, by simulation.

Run with ``python -m experiments.updates``: it prints the tables of ``results/updates``.
"""

from __future__ import annotations

import argparse
import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.special import softmax

from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators import AutoCalibrator, UpdateCalibrator, UpdateChoice
from calibrant.metrics import measure_performance
from calibrant.validation import validate_probabilities
from experiments.rendering import Table, plain_rows, render

CLASSES = (2, 5)
SIZES = (30, 100, 300)
N_TEST = 5000
N_RESAMPLES = 99
# The smallest update that is right for each change of the world.
CHANGES = {
    "nothing": UpdateChoice.NONE,
    "class frequencies": UpdateChoice.INTERCEPTS,
    "class frequencies and confidence": UpdateChoice.SLOPE,
    "each class differently": UpdateChoice.FULL,
}
TRAINING_ROWS = 300
NEW_ROWS = (30, 100, 300)


class Outcome(NamedTuple):
    """What was chosen, and the excess log losses of three policies on new rows."""

    choice: int
    left: float
    updated: float
    recalibrated: float


def change_world(proba: FloatArray, change: str) -> FloatArray:
    """Return the right probabilities of rows after a change."""
    n_classes = proba.shape[1]
    intercept, slope = np.zeros(n_classes), np.ones(n_classes)
    if change == "class frequencies":
        intercept[0] = 1.0
    elif change == "class frequencies and confidence":
        intercept[0], slope[:] = 0.5, 0.5
    elif change == "each class differently":
        intercept[0], slope = 0.5, np.where(np.arange(n_classes) % 2, 0.5, 1.8)
    return np.asarray(softmax(slope * np.log(proba) + intercept, axis=1))


def draw_classes(proba: FloatArray, rng: np.random.RandomState) -> IndexArray:
    """Draw one class per row."""
    uniform = rng.uniform(size=(len(proba), 1))
    return np.asarray((uniform >= proba.cumsum(axis=1)[:, :-1]).sum(axis=1))


def update_once(n_classes: int, change: str, n_rows: int, seed: int) -> Outcome:
    """Update on simulated rows and measure the excess log loss on others."""
    rng = np.random.RandomState(seed)
    proba, new = (rng.dirichlet(np.ones(n_classes), size=n) for n in (n_rows, N_TEST))
    y = draw_classes(change_world(proba, change), rng)
    right = change_world(new, change)

    def excess(given: FloatArray) -> float:
        return float(np.mean(np.sum(right * np.log(right / given), axis=1)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        update = UpdateCalibrator(n_resamples=N_RESAMPLES, random_state=seed).fit(proba, y)
        full = AutoCalibrator().fit(proba, y) if len(np.unique(y)) > 1 else None
    return Outcome(
        list(UpdateChoice).index(update.report_.choice),
        excess(new),
        excess(update.predict_proba(new)),
        excess(new if full is None else full.predict_proba(new)),
    )


def raise_alarms(n_rows: int, seed: int) -> list[bool]:
    """Validate right probabilities and return which of four findings are false alarms."""
    rng = np.random.RandomState(seed)
    old, new = (rng.dirichlet(np.ones(3), size=n) for n in (TRAINING_ROWS, n_rows))
    before = measure_performance(draw_classes(old, rng), old, labels=[0, 1, 2])
    found = validate_probabilities(
        new, draw_classes(new, rng), range(3), before=before, random_state=seed
    )
    return [
        found.is_significant,
        found.has_new_frequencies,
        any(score.is_significant for score in found.scores),
        any(each.is_significant for each in found.by_class),
    ]


def make_update_table(repeats: int, jobs: int) -> Table:
    """Simulate updates and return what they choose and gain."""
    cases = [
        (n_classes, change, n_rows)
        for n_classes in CLASSES
        for change in CHANGES
        for n_rows in SIZES
    ]
    found = Parallel(n_jobs=jobs)(
        delayed(update_once)(*case, seed) for case in cases for seed in range(repeats)
    )
    outcomes = np.array(found).reshape(len(cases), repeats, len(Outcome._fields))
    rows = []
    for (n_classes, change, n_rows), of_case in zip(cases, outcomes, strict=True):
        choices = np.bincount(of_case[:, 0].astype(int), minlength=len(UpdateChoice)) / repeats
        too_far = choices[list(UpdateChoice).index(CHANGES[change]) + 1 :].sum()
        losses = of_case[:, 1:].mean(axis=0)
        rows.append(
            [
                str(n_classes),
                change,
                str(n_rows),
                *(f"{value:.0%}" for value in choices),
                f"{too_far:.0%}",
                *(f"{abs(value):.4f}" for value in losses),
            ]
        )
    return Table(
        "What an update chooses, and its excess log loss",
        [
            *("classes", "what changed", "new rows"),
            *(choice.value for choice in UpdateChoice),
            *("too far", "loss if left", "updated", "always recalibrated"),
        ],
        plain_rows(rows),
        f"{repeats} simulated sets of new rows each, with {N_RESAMPLES} resamples per test. Excess "
        f"log loss over the right probabilities, on {N_TEST:,} further rows. Always recalibrated: "
        "AutoCalibrator, without a test.",
    )


def make_alarm_table(repeats: int, jobs: int) -> Table:
    """Simulate validations of right probabilities and return how often they give an alarm."""
    found = Parallel(n_jobs=jobs)(
        delayed(raise_alarms)(n_rows, seed) for n_rows in NEW_ROWS for seed in range(repeats)
    )
    rates = np.array(found).reshape(len(NEW_ROWS), repeats, -1).mean(axis=1)
    rows = [
        [str(n_rows), *(f"{rate:.1%}" for rate in of_size)]
        for n_rows, of_size in zip(NEW_ROWS, rates, strict=True)
    ]
    return Table(
        "False alarms of a validation if nothing has changed",
        ["new rows", "miscalibrated", "class frequencies", "scores", "rows of a class"],
        plain_rows(rows),
        f"{repeats} simulated sets of {TRAINING_ROWS} training rows and of new rows each, with "
        "three classes. All tests have a nominal level of 5%.",
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.updates", description=__doc__)
    parser.add_argument("--repeats", type=int, default=100, help="data sets per row")
    parser.add_argument("--jobs", type=int, default=2, help="parallel processes")
    arguments = parser.parse_args()
    for make in (make_update_table, make_alarm_table):
        print(render(make(arguments.repeats, arguments.jobs), "markdown"))


if __name__ == "__main__":
    main()
