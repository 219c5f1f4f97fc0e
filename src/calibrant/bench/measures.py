"""Stored runs -> metrics by fold, and what the paper has for them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from calibrant.bench.store import Run
from calibrant.metrics import brier_score, log_loss, published_log_loss, published_mse

FloatArray = NDArray[np.float64]

# By form and name: the paper's equations, and what its tables hold.
METRICS = {
    "published": {"MSE": published_mse, "LL": published_log_loss},
    "equations": {"MSE": brier_score, "LL": log_loss},
}
PUBLISHED_NAMES = {
    "nb": "naive_bayes",
    "rf": "random_forest",
    "MSE": "mse",
    "LL": "log_loss",
}
AS_PUBLISHED = "_as_published"


@dataclass(frozen=True)
class Published:
    """A value of the paper's tables; None for a dash."""

    value: float | None
    is_significant: bool


def fold_metric(run: Run, metric: str, form: str) -> float:
    """Metric of one run; NaN where its rows are no probabilities."""
    if np.isnan(run.proba).any():
        return np.nan
    if form == "equations" and run.proba.min() < 0:
        return np.nan
    labels = np.arange(run.proba.shape[1])
    return METRICS[form][metric](run.true, run.proba, labels=labels)


class Measures:
    """Metrics of all runs of one protocol, by classifier, data set and scenario.

    Parameters
    ----------
    runs : list of Run
        Runs of one protocol.
    form : {"published", "equations"}
        How the metrics are defined.
    """

    def __init__(self, runs: list[Run], form: str):
        self.form = form
        self.runs: dict[tuple[str, str, str], list[Run]] = {}
        for run in sorted(runs, key=lambda run: run.fold):
            self.runs.setdefault((run.classifier, run.data_set, run.scenario), []).append(run)

    @property
    def classifiers(self) -> list[str]:
        """Classifiers that have runs."""
        return list(dict.fromkeys(classifier for classifier, _, _ in sorted(self.runs)))

    def data_sets(self, classifier: str) -> list[str]:
        """Return the data sets on which a classifier has runs."""
        return list(dict.fromkeys(name for key, name, _ in sorted(self.runs) if key == classifier))

    def by_fold(self, classifier: str, data_set: str, scenario: str, metric: str) -> FloatArray:
        """Metric on each fold; empty without runs."""
        runs = self.runs.get((classifier, data_set, scenario), [])
        return np.array([fold_metric(run, metric, self.form) for run in runs])

    def mean(self, classifier: str, data_set: str, scenario: str, metric: str) -> float:
        """Mean over the folds; NaN without runs, or where a fold has none."""
        values = self.by_fold(classifier, data_set, scenario, metric)
        return float(values.mean()) if len(values) else np.nan


def published_value(classifier: str, data_set: str, scenario: str, metric: str) -> Published:
    """Value of the paper's tables for a scenario, or for its variant as published."""
    key = (
        PUBLISHED_NAMES[classifier],
        data_set,
        scenario.removesuffix(AS_PUBLISHED),
        PUBLISHED_NAMES[metric],
    )
    return _published_results()[key]


@lru_cache
def _published_results() -> dict[tuple[str, str, str, str], Published]:
    return {
        (row["classifier"], row["data_set"], row["scenario"], row["metric"]): Published(
            float(row["value"]) if row["value"] not in ("", "-") else None,
            row["differs_from_multiclass_raw"] == "1",
        )
        for row in read_published("results.csv")
    }


def read_published(name: str) -> list[dict[str, str]]:
    """Rows of a file of published numbers."""
    text = files("calibrant.bench.published").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
