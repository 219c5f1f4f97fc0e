"""Out-of-bag votes and grouped votes where rows are repeated, by simulation.

Run with ``python -m experiments.repeated_rows``: it prints the table of
``results/out-of-bag/repeated-rows.md``.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier

from calibrant import CalibratedClassifier
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.datasets import make_waveform
from calibrant.generation import GroupedVotes, OutOfBag
from calibrant.metrics import log_loss
from experiments.rendering import Table, plain_rows, render

N_ROWS = 200
N_TEST = 3000
# Numbers of features with two categories each.
N_FEATURES = (2, 3, 4, 5, 6, 7, 8, 10)
# Proportions of rows that were recorded twice.
COPIED = (0.1, 0.2, 0.3, 0.5)


def draw_categories(
    n_features: int, n_rows: int, rng: np.random.RandomState
) -> tuple[FloatArray, IndexArray]:
    """Draw rows of categorical features, many of which are the same but for their class."""
    X = rng.randint(2, size=(n_rows, n_features)).astype(np.float64)
    event = rng.uniform(size=n_rows) < expit(X @ np.linspace(2.0, -2.0, n_features))
    return X, event.astype(int) + (rng.uniform(size=n_rows) < 0.3)


def copy_rows(copied: float, rng: np.random.RandomState) -> tuple[FloatArray, IndexArray]:
    """Draw waveform rows, some of which are copies of others, class included."""
    n_distinct = round(N_ROWS * (1.0 - copied))
    X, y = make_waveform(n_distinct, random_state=rng)
    rows = np.concatenate([np.arange(n_distinct), rng.choice(n_distinct, N_ROWS - n_distinct)])
    return X[rows], y[rows]


def measure_losses(
    train: tuple[FloatArray, IndexArray], test: tuple[FloatArray, IndexArray]
) -> list[float]:
    """Return the log losses of a forest that is calibrated on either kind of votes."""
    forest = RandomForestClassifier(100, random_state=0)
    losses = []
    for cv in (OutOfBag(), GroupedVotes()):
        model = CalibratedClassifier(forest, cv=cv, random_state=0).fit(*train)
        losses.append(log_loss(test[1], model.predict_proba(test[0])))
    return losses


def summarize(kind: str, distinct: list[float], losses: list[list[float]]) -> list[str]:
    """Return a row of the table."""
    votes, grouped = np.array(losses).T
    difference = votes - grouped
    error = difference.std(ddof=1) / len(difference) ** 0.5
    return [
        kind,
        f"{np.mean(distinct):.0%}",
        f"{votes.mean():.4f}",
        f"{grouped.mean():.4f}",
        f"{difference.mean():+.4f} ± {error:.4f}",
    ]


def make_table(repeats: int) -> Table:
    """Simulate and return the losses by kind and proportion of repeated rows."""
    rows = []
    for n_features in N_FEATURES:
        losses, distinct = [], []
        for seed in range(repeats):
            X, y = draw_categories(n_features, N_ROWS, np.random.RandomState(seed))
            test = draw_categories(n_features, N_TEST, np.random.RandomState(1000 + seed))
            losses.append(measure_losses((X, y), test))
            distinct.append(len(np.unique(X, axis=0)) / N_ROWS)
        rows.append(summarize("categories", distinct, losses))
    for copied in reversed(COPIED):
        losses, distinct = [], []
        for seed in range(repeats):
            X, y = copy_rows(copied, np.random.RandomState(seed))
            losses.append(measure_losses((X, y), make_waveform(N_TEST, random_state=1000 + seed)))
            distinct.append(len(np.unique(X, axis=0)) / N_ROWS)
        rows.append(summarize("copies", distinct, losses))
    return Table(
        "Log loss of a calibrated forest by the proportion of distinct rows",
        ["repeated rows", "distinct", "out-of-bag votes", "grouped votes", "difference"],
        plain_rows(rows),
        f"Means of {repeats} simulated data sets with {N_ROWS} rows; the difference with its "
        "standard error. Categories: features with two values each, and classes that vary among "
        "rows with the same features. Copies: waveform rows that were recorded several times.",
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.repeated_rows", description=__doc__
    )
    parser.add_argument("--repeats", type=int, default=20, help="data sets per row of the table")
    print(render(make_table(parser.parse_args().repeats), "markdown"), end="")


if __name__ == "__main__":
    main()
