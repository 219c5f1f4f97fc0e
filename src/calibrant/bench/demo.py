"""The demonstration: the default and the paper's scenarios on Breiman's waveform data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from calibrant.bench.render import Cell, Table
from calibrant.bench.scenarios import SCENARIOS, Scenario
from calibrant.datasets import make_waveform
from calibrant.metrics import (
    brier_score,
    expected_calibration_error,
    log_loss,
    reliability_curve,
)
from calibrant.plots import ReliabilityDisplay

N_TRAIN, N_TEST = 300, 5000
# Few trees, to keep the demonstration short: calibration refits the forest 336 times.
N_TREES = 50
DEMO_SCENARIOS = [
    *SCENARIOS.values(),
    Scenario("auto", "auto, the default", "direct", {"method": "auto"}),
]
# The raw scores of binary problems would only lie between these.
DRAWN_SCENARIOS = ("multiclass_raw", "one_vs_rest_dgg_enir", "all_pairs_dgg_enir", "auto")


@dataclass(frozen=True, eq=False)
class DemoRun:
    """One classifier in one scenario.

    Attributes
    ----------
    classifier : str
        The classifier that was calibrated.
    scenario : Scenario
        How.
    seconds : float
        The time of fitting and calibrating.
    true : ndarray of shape (n_test,)
        The true classes of the test rows.
    proba : ndarray of shape (n_test, 3)
        Their predicted probabilities.
    report : str or None
        What the default says about its choice.
    """

    classifier: str
    scenario: Scenario
    seconds: float
    true: NDArray[np.intp]
    proba: NDArray[np.float64]
    report: str | None = None

    def metrics(self) -> dict[str, float]:
        """Name and value of each metric."""
        return {
            "log loss": log_loss(self.true, self.proba),
            "Brier": brier_score(self.true, self.proba),
            "cal. error": expected_calibration_error(self.true, self.proba, kind="classwise"),
        }


def run_demo(n_jobs: int = 2, random_state: int = 0) -> Iterator[DemoRun]:
    """Fit both classifiers in all scenarios, one after the other.

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
    classifiers: dict[str, Any] = {
        "naive Bayes": GaussianNB(),
        "random forest": RandomForestClassifier(N_TREES, random_state=random_state),
    }
    # Worker processes start with the first parallel fit, which should not be timed.
    SCENARIOS["one_vs_rest_raw"].estimator(GaussianNB(), n_jobs=n_jobs).fit(X, y)
    for classifier, estimator in classifiers.items():
        for scenario in DEMO_SCENARIOS:
            model = scenario.estimator(estimator, n_jobs=n_jobs, random_state=random_state)
            began = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - began
            report = getattr(model, "calibration_report_", None)
            yield DemoRun(
                classifier,
                scenario,
                seconds,
                y_test,
                model.predict_proba(X_test),
                None if report is None else str(report),
            )


def demo_table(runs: list[DemoRun]) -> Table:
    """Metrics and seconds of all runs."""
    return Table(
        f"Waveform data, {N_TRAIN} training rows, {N_TEST} test rows",
        ["classifier", "scenario", *runs[0].metrics(), "seconds"],
        [
            [
                Cell(run.classifier),
                Cell(run.scenario.title),
                *(Cell(f"{value:.3f}") for value in run.metrics().values()),
                Cell(f"{run.seconds:.2f}"),
            ]
            for run in runs
        ],
        "Lower is better.",
    )


def draw_demo(runs: list[DemoRun], path: Path) -> None:
    """Write a reliability diagram, one panel a classifier.

    Parameters
    ----------
    runs : list of DemoRun
        What to draw: those of `DRAWN_SCENARIOS`.
    path : Path
        The PNG file to write.
    """
    from matplotlib.figure import Figure

    classifiers = list(dict.fromkeys(run.classifier for run in runs))
    figure = Figure(figsize=(5.0 * len(classifiers), 6.4), layout="constrained")
    axes = figure.subplots(1, len(classifiers), squeeze=False)[0]
    for ax, classifier in zip(axes, classifiers, strict=True):
        for run in runs:
            if run.classifier == classifier and run.scenario.name in DRAWN_SCENARIOS:
                curve = reliability_curve(run.true, run.proba)
                title = f"{classifier}: most probable class"
                ReliabilityDisplay({title: curve}, name=run.scenario.title).plot(ax)
    figure.savefig(path, dpi=150)
