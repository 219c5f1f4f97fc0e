"""Coverage of extrapolated learning curves, by simulation.

Run with ``python -m experiments.planning``: it writes ``results/planning/README.md``.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from calibrant.metrics import log_loss
from calibrant.planning import LearningCurve, learning_curve
from experiments.rendering import Table, plain_rows, render

PILOTS = (100, 300)
FACTORS = (1, 2, 4, 8)
N_TEST = 3000
# Temperature scaling, because the default takes too long for thousands of fits.
MODELS = {
    "naive Bayes": GaussianNB(),
    "logistic regression": LogisticRegression(max_iter=1000),
}


def make_model(name: str) -> CalibratedClassifier:
    """Return an unfitted model with fast calibration."""
    return CalibratedClassifier(MODELS[name], method="temperature", cv=3, random_state=0)


def true_loss(name: str, n_rows: int, seed: int) -> float:
    """Return the log loss of many new rows after one fit."""
    X, y = make_waveform(n_rows + N_TEST, random_state=10_000 + seed)
    model = make_model(name).fit(X[:n_rows], y[:n_rows])
    return log_loss(y[n_rows:], model.predict_proba(X[n_rows:]))


def pilot_curve(name: str, n_rows: int, seed: int) -> LearningCurve:
    """Return the learning curve of one pilot."""
    X, y = make_waveform(n_rows, random_state=seed)
    return learning_curve(make_model(name), X, y, random_state=seed)


def run(function: Any, repeats: int, jobs: int) -> list[Any]:
    """Call a function with the seeds."""
    return list(Parallel(n_jobs=jobs)(delayed(function)(seed) for seed in range(repeats)))


def coverage_rows(name: str, repeats: int, jobs: int) -> list[list[str]]:
    """Return the rows of the table for one model."""
    sizes = sorted({factor * pilot for pilot in PILOTS for factor in FACTORS})
    truth = {
        size: float(np.mean(run(partial(true_loss, name, size), repeats, jobs))) for size in sizes
    }
    rows = []
    for pilot in PILOTS:
        curves = run(partial(pilot_curve, name, pilot), repeats, jobs)
        covered = [
            np.mean([each.expected[k].log_loss.low <= truth[factor * pilot] for each in curves])
            - np.mean([each.expected[k].log_loss.high < truth[factor * pilot] for each in curves])
            for k, factor in enumerate(FACTORS)
        ]
        gain = 1.0 - truth[2 * pilot] / truth[pilot]
        gains = [each.doubling_gain for each in curves]
        covered.append(np.mean([each.low <= gain <= each.high for each in gains]))
        medians = [np.median([each.estimate for each in gains]), gain]
        known = np.mean([each.is_known for each in curves])
        cells = [f"{each:.0%}" for each in covered] + [f"{each:.1%}" for each in medians]
        rows.append([name, str(pilot), *cells, f"{known:.0%}"])
    return rows


def page(rows: list[list[str]], repeats: int) -> str:
    """Return the page."""
    table = Table(
        "Coverage of 90% intervals of extrapolated learning curves",
        [
            *("model", "pilot rows", "log loss, as many rows", "2 times", "4 times", "8 times"),
            *("gain from doubling", "median estimate of it", "true gain", "rows needed are known"),
        ],
        plain_rows(rows),
        f"{repeats} pilots of waveforms (3 classes) per row; temperature scaling. True values are "
        f"means of as many fits with {N_TEST:,} test rows each.",
    )
    text = f"""# Learning curves

How often the intervals of `calibrant.planning.learning_curve` contain the log loss that models
reach with more rows. Rebuild this page with

```
.venv/bin/python -m experiments.planning --repeats {repeats}
```

"""
    return text + render(table, "markdown")


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m experiments.planning", description=__doc__)
    parser.add_argument("--repeats", type=int, default=20, help="pilots per case")
    parser.add_argument("--jobs", type=int, default=2, help="parallel processes")
    parser.add_argument("--output", type=Path, default=Path("results/planning/README.md"))
    arguments = parser.parse_args()
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    rows: list[list[str]] = []
    for name in MODELS:
        rows += coverage_rows(name, arguments.repeats, arguments.jobs)
        # An interrupted run leaves the models that are complete.
        arguments.output.write_text(page(rows, arguments.repeats), encoding="utf-8")


if __name__ == "__main__":
    main()
