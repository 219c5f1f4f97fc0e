"""The demonstration: the default and the paper's scenarios on Breiman's waveform data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from calibrant.bench.render import Cell, Table
from calibrant.bench.scenarios import SCENARIOS, Scenario
from calibrant.datasets import make_waveform
from calibrant.metrics import brier_score, expected_calibration_error, log_loss
from calibrant.report import Findings
from calibrant.report.build import report_on_table

N_TRAIN, N_TEST = 300, 5000
DEMO_SCENARIOS = [
    *SCENARIOS.values(),
    Scenario("auto", "auto, the default", "direct", {"method": "auto"}),
]


@dataclass(frozen=True, eq=False)
class DemoRun:
    """Naive Bayes in one scenario.

    Attributes
    ----------
    scenario : Scenario
        How.
    seconds : float
        The time of fitting and calibrating.
    true : ndarray of shape (n_test,)
        The true classes of the test rows.
    proba : ndarray of shape (n_test, 3)
        Their predicted probabilities.
    """

    scenario: Scenario
    seconds: float
    true: NDArray[np.intp]
    proba: NDArray[np.float64]

    def metrics(self) -> dict[str, float]:
        """Name and value of each metric."""
        return {
            "log loss": log_loss(self.true, self.proba),
            "Brier": brier_score(self.true, self.proba),
            "cal. error": expected_calibration_error(self.true, self.proba, kind="classwise"),
        }


def run_demo(n_jobs: int = 2, random_state: int = 0) -> Iterator[DemoRun]:
    """Fit naive Bayes in all scenarios, one after the other.

    Parameters
    ----------
    n_jobs : int, default=2
        The number of parallel fits.
    random_state : int, default=0
        The seed of data and fits.

    Yields
    ------
    DemoRun
        A finished run.
    """
    X, y = make_waveform(N_TRAIN, random_state=random_state)
    X_test, y_test = make_waveform(N_TEST, random_state=random_state + 1)
    # Worker processes start with the first parallel fit, which should not be timed.
    SCENARIOS["one_vs_rest_raw"].estimator(GaussianNB(), n_jobs=n_jobs).fit(X, y)
    for scenario in DEMO_SCENARIOS:
        model = scenario.estimator(GaussianNB(), n_jobs=n_jobs, random_state=random_state)
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
        yield DemoRun(scenario, seconds, y_test, model.predict_proba(X_test))


def demo_table(runs: list[DemoRun]) -> Table:
    """Metrics and seconds of all runs."""
    return Table(
        f"Naive Bayes on waveform data, {N_TRAIN} training rows, {N_TEST} test rows",
        ["scenario", *runs[0].metrics(), "seconds"],
        [
            [
                Cell(run.scenario.title),
                *(Cell(f"{value:.3f}") for value in run.metrics().values()),
                Cell(f"{run.seconds:.2f}"),
            ]
            for run in runs
        ],
        "Lower is better.",
    )


def report_demo(output: Path, n_jobs: int = 2, random_state: int = 0) -> Findings:
    """Write the report on the training rows: what a user sees of a file with these rows.

    Parameters
    ----------
    output : Path
        The HTML file to write.
    n_jobs : int, default=2
        The number of parallel fits.
    random_state : int, default=0
        The seed of data and fits.

    Returns
    -------
    Findings
        The numbers of the report.
    """
    X, y = make_waveform(N_TRAIN, random_state=random_state)
    table = pd.DataFrame(
        {f"x{column}": values for column, values in enumerate(X.T.round(2), start=1)}
        | {"wave": np.array(["first", "second", "third"])[y]},
        index=pd.RangeIndex(1, N_TRAIN + 1, name="row"),
    )
    return report_on_table(
        table,
        "wave",
        output,
        title="waveform data",
        command=["calibrant", "demo", "-o", str(output)],
        models=("naive-bayes", "random-forest"),
        seed=random_state,
        n_jobs=n_jobs,
    )
