"""Metrics of the runs of the paper's experiment by fold, and tests between methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from calibrant._core.typing import FloatArray
from calibrant.comparison import Comparison, corrected_t_test, paired_t_test, welch_t_test
from calibrant.metrics import brier_score, log_loss, published_log_loss, published_mse
from experiments.classifiers import CLASSIFIERS
from experiments.paper.methods import PaperMethod
from experiments.store import Case, Run

# Definitions of the metrics: those behind the published numbers, and the paper's equations.
METRICS = {
    "published": {"MSE": published_mse, "LL": published_log_loss},
    "equations": {"MSE": brier_score, "LL": log_loss},
}
DEFINITIONS = {
    "published": "Metrics as in the published tables",
    "equations": "Metrics by the paper's equations",
}
TESTS: dict[str, Callable[..., Comparison]] = {
    "welch": welch_t_test,
    "paired": paired_t_test,
    "corrected": corrected_t_test,
}
# The rounding error of the linear solver in coupled probabilities that should be 0.
ROUNDING = 1e-12
# All pairs raw equals multi-class raw with naive Bayes. A test would find the rounding error
# between them significant.
EQUAL_LOSS_TOLERANCE = 1e-6
RANKED_DIGITS = 6


def fold_metric(run: Run, metric: str, definition: str) -> float:
    """Return a metric of one run.

    Parameters
    ----------
    run : Run
        The run.
    metric : {"MSE", "LL"}
        The metric.
    definition : {"published", "equations"}
        Its definition.

    Returns
    -------
    float
        The metric. NaN if probabilities are missing, or if they are negative and the definition
        is that of the equations.
    """
    proba = run.proba
    if np.isnan(proba).any():
        return np.nan
    if definition == "equations":
        if proba.min() < -ROUNDING:
            return np.nan
        proba = np.clip(proba, 0.0, 1.0)
    return METRICS[definition][metric](run.y_true, proba, labels=np.arange(proba.shape[1]))


class PaperLosses:
    """Metrics of the runs of one experiment, by case, method and fold.

    In an unfinished case, only folds on which all methods have run are used, so that their means
    are comparable.

    Parameters
    ----------
    runs : sequence of Run
        Runs of one experiment.
    methods : sequence of PaperMethod
        All methods of the experiment.
    definition : {"published", "equations"}
        Definition of the metrics.
    """

    def __init__(self, runs: Sequence[Run], methods: Sequence[PaperMethod], definition: str):
        experiments = sorted({(run.experiment, run.n_folds) for run in runs})
        if len(experiments) > 1:
            got = " and ".join(f"{name} with {n_folds} folds" for name, n_folds in experiments)
            raise ValueError(
                f"runs must belong to one experiment, got {got}. Pass those of one experiment."
            )
        self.runs = runs
        self.methods = tuple(methods)
        self.definition = definition
        self.n_folds = experiments[0][1] if experiments else 0
        self._runs: dict[tuple[Case, str], dict[int, Run]] = {}
        for run in runs:
            self._runs.setdefault((run.case, run.method), {})[run.fold] = run
        self._values: dict[tuple[Case, str, str], FloatArray] = {}

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return list(METRICS[self.definition])

    @property
    def definition_note(self) -> str:
        """Definition of the metrics, to start the note of a table with."""
        return DEFINITIONS[self.definition]

    @property
    def has_published_values(self) -> bool:
        """Whether the published values are for the same methods and metrics."""
        return self.definition == "published" and any(
            method.has_faulty_coupling for method in self.methods
        )

    @property
    def cases(self) -> list[Case]:
        """Cases that have runs, ordered by classifier and data set."""
        return sorted({case for case, _ in self._runs})

    @property
    def classifiers(self) -> list[str]:
        """Names of the classifiers that have runs."""
        return sorted({case.classifier for case in self.cases})

    @property
    def finished_cases(self) -> list[Case]:
        """Cases in which all methods have run on all folds."""
        return [case for case in self.cases if len(self.folds(case)) == self.n_folds]

    def folds(self, case: Case) -> list[int]:
        """Return the folds on which all methods have run."""
        first, *others = (self._runs.get((case, method.name), {}) for method in self.methods)
        return sorted(set(first).intersection(*others))

    def n_classes(self, case: Case) -> int:
        """Return the number of classes in a case that has runs."""
        return next(
            run.proba.shape[1]
            for (other, _), by_fold in self._runs.items()
            if other == case
            for run in by_fold.values()
        )

    def by_fold(self, case: Case, method: PaperMethod, metric: str) -> FloatArray:
        """Return a metric on each of `folds`."""
        key = (case, method.name, metric)
        if key not in self._values:
            by_fold = self._runs.get((case, method.name), {})
            self._values[key] = np.array(
                [fold_metric(by_fold[fold], metric, self.definition) for fold in self.folds(case)]
            )
        return self._values[key]

    def mean(self, case: Case, method: PaperMethod, metric: str) -> float:
        """Return the mean over the folds; NaN if there are no folds or a fold has no value."""
        values = self.by_fold(case, method, metric)
        return float(values.mean()) if len(values) else np.nan

    def compare(
        self, case: Case, new: PaperMethod, old: PaperMethod, metric: str, test: str
    ) -> Comparison | None:
        """Test the difference between two methods on the folds of a case.

        Parameters
        ----------
        case : Case
            Classifier and data set.
        new, old : PaperMethod
            The methods. The difference is new minus old.
        metric : {"MSE", "LL"}
            The metric.
        test : {"welch", "paired", "corrected"}
            The test.

        Returns
        -------
        Comparison or None
            The result of the test; None if the case is unfinished or a fold has no value.
        """
        first, second = (self.by_fold(case, method, metric) for method in (new, old))
        if len(first) != self.n_folds or np.isnan([first, second]).any():
            return None
        if np.allclose(first, second, rtol=EQUAL_LOSS_TOLERANCE, atol=0.0):
            return Comparison(0.0, 0.0, 1.0)
        return TESTS[test](first, second)

    def ranked_losses(self) -> tuple[FloatArray, list[str]]:
        """Return the log losses of the finished cases and the titles of the methods.

        Returns
        -------
        losses : ndarray of shape (n_cases, n_methods)
            Mean log losses, rounded so that rounding errors do not affect ranks; NaN where a
            method has no value.
        titles : list of str
            Titles of the methods.
        """
        self.check_any_finished()
        losses = [
            [self.mean(case, method, "LL") for method in self.methods]
            for case in self.finished_cases
        ]
        return np.round(losses, RANKED_DIGITS), [method.title for method in self.methods]

    def describe_unfinished(self) -> str:
        """Describe the unfinished cases and their progress; empty if there are none."""
        finished = self.finished_cases
        parts = []
        for classifier in self.classifiers:
            unfinished = [
                f"{case.data_set} ({len(self.folds(case))} of {self.n_folds} folds)"
                for case in self.cases
                if case.classifier == classifier and case not in finished
            ]
            if unfinished:
                parts.append(f"{CLASSIFIERS[classifier].title} on {', '.join(unfinished)}")
        return "; ".join(parts)

    def describe_finished(self) -> str:
        """Describe how many data sets a table is based on and which cases it omits."""
        finished = [case.classifier for case in self.finished_cases]
        counts = " and ".join(
            f"{finished.count(classifier)} with {CLASSIFIERS[classifier].title}"
            for classifier in self.classifiers
        )
        unfinished = self.describe_unfinished()
        omitted = f" Omitted because unfinished: {unfinished}." if unfinished else ""
        return f"Data sets: {counts}.{omitted}"

    def check_any_finished(self) -> None:
        """Raise ValueError if no case is finished."""
        if not self.finished_cases:
            raise ValueError(
                "There must be a data set on which all methods have run on all folds, got "
                f"{self.describe_unfinished() or 'no runs'}. Continue with: "
                "python -m experiments run"
            )
