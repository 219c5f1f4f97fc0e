"""The demo: the scenarios of the paper and the default on Breiman's waveform data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from calibrant._core.records import Record
from calibrant._core.workers import Progress
from calibrant.classifier import CalibratedClassifier
from calibrant.datasets import make_waveform
from calibrant.metrics import brier_score, expected_calibration_error, log_loss
from calibrant.report.cross_validation import EvaluationSettings
from calibrant.report.records import Analysis
from calibrant.report.source import Commands
from calibrant.report.tables import report_on_table
from calibrant.tabular import describe_table

N_TRAIN, N_TEST = 300, 5000

# Parameters of CalibratedClassifier by title; None means the classifier alone.
SCENARIOS: dict[str, Any] = {
    "uncalibrated": None,
    "one-vs-rest": {"method": None, "strategy": "one-vs-rest", "cv": "monte-carlo"},
    "one-vs-rest, DGG+ENIR": {"method": "enir", "strategy": "one-vs-rest", "cv": "monte-carlo"},
    "all pairs": {"method": None, "strategy": "all-pairs", "cv": "monte-carlo"},
    "all pairs, DGG+ENIR": {"method": "enir", "strategy": "all-pairs", "cv": "monte-carlo"},
    "auto (the default)": {},
}


@dataclass(frozen=True, eq=False)
class DemoRun(Record):
    """Test predictions of naive Bayes in one scenario.

    Attributes
    ----------
    scenario : str
        Title of the scenario, a key of ``SCENARIOS``.
    seconds : float
        Time taken by fitting, including calibration.
    y_true : ndarray of shape (n_test,)
        True classes of the test rows.
    proba : ndarray of shape (n_test, 3)
        Predicted probabilities of the test rows.
    """

    scenario: str
    seconds: float
    y_true: NDArray[np.intp]
    proba: NDArray[np.float64]

    def metrics(self) -> dict[str, float]:
        """Return the value of each metric by name."""
        return {
            "log loss": log_loss(self.y_true, self.proba),
            "Brier score": brier_score(self.y_true, self.proba),
            "calibration error": expected_calibration_error(
                self.y_true, self.proba, kind="classwise"
            ),
        }


def run_demo(n_jobs: int = 2, random_state: int = 0) -> Iterator[DemoRun]:
    """Fit naive Bayes in each scenario in turn.

    Parameters
    ----------
    n_jobs : int, default=2
        Number of parallel fits.
    random_state : int, default=0
        Seed of the data and the fits.

    Yields
    ------
    DemoRun
        The finished run of one scenario.
    """
    X, y = make_waveform(N_TRAIN, random_state=random_state)
    X_test, y_test = make_waveform(N_TEST, random_state=random_state + 1)
    # The first parallel fit starts the worker processes, which should not be timed.
    CalibratedClassifier(GaussianNB(), **SCENARIOS["one-vs-rest"], n_jobs=n_jobs).fit(X, y)
    for scenario, parameters in SCENARIOS.items():
        model = GaussianNB()
        if parameters is not None:
            model = CalibratedClassifier(
                model, **parameters, n_jobs=n_jobs, random_state=random_state
            )
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        yield DemoRun(scenario, seconds, y_test, model.predict_proba(X_test))


def format_demo(runs: list[DemoRun]) -> str:
    """Return the metrics and times of the runs as a plain-text table."""
    names = [*runs[0].metrics(), "seconds"]
    width = max(len(run.scenario) for run in runs)
    header = "  ".join(["scenario".ljust(width), *names])
    rows = [
        "  ".join(
            [
                run.scenario.ljust(width),
                *(f"{value:{len(name)}.3f}" for name, value in run.metrics().items()),
                f"{run.seconds:7.2f}",
            ]
        )
        for run in runs
    ]
    title = f"Naive Bayes on waveform data, {N_TRAIN} training rows, {N_TEST} test rows"
    return "\n".join([title, "", header, "-" * len(header), *rows, "Lower is better.", ""])


def make_demo_table(n_rows: int, random_state: int) -> pd.DataFrame:
    """Return waveform data as a table, with the classes in the column "wave"."""
    X, y = make_waveform(n_rows, random_state=random_state)
    return pd.DataFrame(
        {f"x{column}": values for column, values in enumerate(X.T.round(2), start=1)}
        | {"wave": np.array(["first", "second", "third"])[y]},
        index=pd.RangeIndex(1, n_rows + 1, name="row"),
    )


def report_demo(
    output: Path,
    settings: EvaluationSettings,
    commands: Commands | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Write the report that a user would get for a file with the training rows.

    Parameters
    ----------
    output : Path
        HTML file to write.
    settings : EvaluationSettings
        Settings of the cross-validation. The seed ``random_state`` is also used for the data.
    commands : Commands, default=None
        Commands that the page suggests. ``None`` means none.
    progress : callable, default=None
        Wraps the iterator of finished fits, as in `evaluate_models`.

    Returns
    -------
    Analysis
        The numbers of the report.
    """
    table = make_demo_table(N_TRAIN, settings.random_state)
    return report_on_table(
        table,
        describe_table(table, "wave"),
        output,
        title="waveform data",
        models=("naive-bayes", "random-forest"),
        settings=settings,
        commands=commands,
        progress=progress,
    )
