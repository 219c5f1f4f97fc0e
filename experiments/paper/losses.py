"""Stored runs -> metrics by fold, and what the paper has for them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from calibrant.comparison import Comparison, corrected_t_test, paired_t_test, welch_t_test
from calibrant.metrics import brier_score, log_loss, published_log_loss, published_mse
from experiments.paper.experiment import CLASSIFIERS
from experiments.paper.methods import SCENARIOS
from experiments.store import Run

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
TESTS: dict[str, Callable[..., Comparison]] = {
    "welch": welch_t_test,
    "paired": paired_t_test,
    "corrected": corrected_t_test,
}
# Solving for coupled probabilities leaves this much of one that is 0.
ROUNDING = 1e-12
# All pairs raw is multi-class raw for naive Bayes: what differs is rounding, which a test
# would find significant.
SAME_LOSS = 1e-6


@dataclass(frozen=True)
class Published:
    """A value of the paper's tables; None for a dash."""

    value: float | None
    is_significant: bool


def fold_metric(run: Run, metric: str, form: str) -> float:
    """Metric of one run; NaN where its rows are no probabilities."""
    proba = run.proba
    if np.isnan(proba).any():
        return np.nan
    if form == "equations":
        if proba.min() < -ROUNDING:
            return np.nan
        proba = np.clip(proba, 0.0, 1.0)
    return METRICS[form][metric](run.true, proba, labels=np.arange(proba.shape[1]))


class Measures:
    """Metrics of the runs of one suite, by classifier, data set and scenario.

    Of a data set that is not finished, only those folds count on which all scenarios are
    done, so that their means compare.

    Parameters
    ----------
    runs : list of Run
        Runs of one protocol with one number of folds.
    form : {"published", "equations"}
        How the metrics are defined.
    """

    def __init__(self, runs: list[Run], form: str):
        suites = sorted({(run.protocol, run.n_folds) for run in runs})
        if len(suites) > 1:
            got = " and ".join(f"{protocol} with {n_folds} folds" for protocol, n_folds in suites)
            raise ValueError(
                "runs must be of one protocol and one number of folds. "
                f"Got {got}. Take them from a store by both."
            )
        self.protocol, self.n_folds = suites[0] if suites else ("", 0)
        self.form = form
        self._runs: dict[tuple[str, str, str], dict[int, Run]] = {}
        for run in runs:
            key = (run.classifier, run.data_set, run.scenario)
            self._runs.setdefault(key, {})[run.fold] = run
        self._values: dict[tuple[str, str, str, str], FloatArray] = {}

    @property
    def classifiers(self) -> list[str]:
        """Classifiers that have runs."""
        return sorted({classifier for classifier, _, _ in self._runs})

    def data_sets(self, classifier: str) -> list[str]:
        """Return the data sets on which a classifier has runs."""
        return sorted({name for own, name, _ in self._runs if own == classifier})

    @property
    def scenarios(self) -> list[str]:
        """The scenarios of the protocol, in the order of the paper."""
        as_published = self.protocol == "as-published"
        return [
            name
            for scenario in SCENARIOS.values()
            for name in (scenario.name, scenario.name + AS_PUBLISHED)
            if name == scenario.name or (as_published and scenario.approach == "all-pairs")
        ]

    def folds(self, classifier: str, data_set: str) -> list[int]:
        """Return the folds on which all scenarios are done."""
        first, *others = (
            self._runs.get((classifier, data_set, scenario), {}).keys()
            for scenario in self.scenarios
        )
        return sorted(set(first).intersection(*others))

    def finished_sets(self, classifier: str) -> list[str]:
        """Return the data sets on which a classifier is done in all folds and scenarios."""
        return [
            name
            for name in self.data_sets(classifier)
            if len(self.folds(classifier, name)) == self.n_folds
        ]

    def n_classes(self, classifier: str, data_set: str) -> int:
        """Return the number of classes of a data set on which a classifier has runs."""
        return next(
            run.proba.shape[1]
            for (own, name, _), by_fold in self._runs.items()
            if (own, name) == (classifier, data_set)
            for run in by_fold.values()
        )

    def by_fold(self, classifier: str, data_set: str, scenario: str, metric: str) -> FloatArray:
        """Metric on each fold on which all scenarios are done."""
        key = (classifier, data_set, scenario, metric)
        if key not in self._values:
            self._values[key] = np.array(
                [
                    fold_metric(self._runs[classifier, data_set, scenario][fold], metric, self.form)
                    for fold in self.folds(classifier, data_set)
                ]
            )
        return self._values[key]

    def mean(self, classifier: str, data_set: str, scenario: str, metric: str) -> float:
        """Mean over the folds; NaN without any, or where a fold has none."""
        values = self.by_fold(classifier, data_set, scenario, metric)
        return float(values.mean()) if len(values) else np.nan

    def compare(
        self, classifier: str, data_set: str, new: str, old: str, metric: str, test: str
    ) -> Comparison | None:
        """Test a scenario against another on the folds of a data set.

        Parameters
        ----------
        classifier, data_set : str
            Where.
        new, old : str
            The scenarios; the difference is new minus old.
        metric : {"MSE", "LL"}
            By what.
        test : {"welch", "paired", "corrected"}
            The test.

        Returns
        -------
        Comparison or None
            None unless all folds are done and have numbers.
        """
        first, second = (
            self.by_fold(classifier, data_set, scenario, metric) for scenario in (new, old)
        )
        if len(first) != self.n_folds or np.isnan([first, second]).any():
            return None
        if np.allclose(first, second, rtol=SAME_LOSS, atol=0.0):
            return Comparison(0.0, 0.0, 1.0)
        return TESTS[test](first, second)

    def unfinished(self) -> str:
        """Name the data sets that are not finished; empty without any."""
        parts = []
        for classifier in self.classifiers:
            finished = self.finished_sets(classifier)
            left = [
                f"{name} ({len(self.folds(classifier, name))} of {self.n_folds} folds)"
                for name in self.data_sets(classifier)
                if name not in finished
            ]
            if left:
                parts.append(f"{CLASSIFIERS[classifier]} on {', '.join(left)}")
        return "; ".join(parts)

    def finished_note(self) -> str:
        """Say on how many data sets a table rests, and which it leaves out."""
        finished = " and ".join(
            f"{len(self.finished_sets(classifier))} of {CLASSIFIERS[classifier]}"
            for classifier in self.classifiers
        )
        left = self.unfinished()
        return f"Data sets: {finished}." + (f" Left out, not finished: {left}." if left else "")

    def check_finished(self) -> None:
        """Refuse runs of which no data set is finished."""
        if not any(self.finished_sets(classifier) for classifier in self.classifiers):
            raise ValueError(
                "The table needs data sets of which all folds and scenarios are done. "
                f"Got {self.unfinished() or 'no runs'}. Go on with: python -m experiments run"
            )


def scenario_title(scenario: str) -> str:
    """Return what a scenario is called in tables."""
    base = SCENARIOS[scenario.removesuffix(AS_PUBLISHED)].title
    return f"{base} as published" if scenario.endswith(AS_PUBLISHED) else base


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
    text = files("experiments.paper").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
