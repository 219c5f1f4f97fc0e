"""The smaller tables of the paper's experiment, and all of its tables by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibrant.datasets import dataset_names, load_dataset
from experiments.classifiers import CLASSIFIERS
from experiments.experiment import TableOptions, TableType
from experiments.paper.approaches import make_approaches_tables
from experiments.paper.effects import make_effects_tables
from experiments.paper.losses import METRICS, PaperLosses, fold_metric
from experiments.paper.methods import METHODS
from experiments.paper.published import CLASSIFIER_NAMES, read_published
from experiments.paper.results import make_results_tables
from experiments.rendering import MISSING, Cell, Table, plain_rows
from experiments.store import Run

SECONDS_PER_HOUR = 3600
# Rows of Table 6, with the method that is timed in each row.
TIMED_METHODS = {
    "multiclass": METHODS["multiclass_raw"],
    "one_vs_rest": METHODS["one_vs_rest_dgg_enir"],
    "all_pairs": METHODS["all_pairs_dgg_enir"],
}


def make_data_sets_table() -> Table:
    """Return Table 2, the rows and classes of the data sets, with the counts of Table 1."""
    rows = []
    for name in dataset_names():
        count = np.bincount(load_dataset(name).target)
        n_classes = len(count)
        n_pairs = n_classes * (n_classes - 1) // 2
        rows.append(
            (
                name.capitalize(),
                count.sum(),
                n_classes,
                count.min(),
                count.max(),
                n_classes,
                n_pairs,
            )
        )
    return Table(
        "Data sets",
        ["data set", "samples", "classes", "smallest", "largest", "one-vs-rest", "all pairs"],
        plain_rows(rows),
        "Smallest and largest: number of samples of a class. One-vs-rest and all pairs: number of "
        "binary problems. Development has 225 rows; the paper's 212 omit the smallest class.",
    )


def make_times_table(losses: PaperLosses, options: TableOptions) -> list[Table]:  # noqa: ARG001 (a table's signature)
    """Return Table 6, the seconds to fit and to calibrate per binary problem."""
    published = {(row["classifier"], row["scenario"]): row for row in read_published("times.csv")}
    rows = []
    total_seconds = 0.0
    for classifier in losses.classifiers:
        for approach, method in TIMED_METHODS.items():
            runs = [
                run
                for run in losses.runs
                if (run.classifier, run.method) == (classifier, method.name)
            ]
            if not runs:
                continue
            total_seconds += sum(map(_all_seconds, runs))
            row = published[CLASSIFIER_NAMES[classifier], approach]
            model = _mean_by_data_set(runs, [run.model_seconds / run.n_problems for run in runs])
            calibration = _mean_by_data_set(
                runs, [(run.calibration_seconds or 0.0) / run.n_problems for run in runs]
            )
            rows.append(
                [
                    Cell(CLASSIFIERS[classifier].title),
                    Cell(approach.replace("_", " ")),
                    Cell(f"{model:.4f}", reference=row["model_seconds"]),
                    Cell(
                        f"{calibration:.3f}",
                        reference=row["calibration_seconds_per_binary_problem"],
                    )
                    if method.is_calibrated
                    else Cell(MISSING),
                    Cell(", ".join(sorted({run.implementation for run in runs}))),
                ]
            )
    unfinished = losses.describe_unfinished()
    return [
        Table(
            "Seconds per binary problem, mean of the data sets",
            ["classifier", "approach", "model", "calibration", "implementation"],
            rows,
            "In parentheses: the published seconds, on another machine. "
            f"All fits together: {total_seconds / SECONDS_PER_HOUR:.2f} hours on one core."
            + (f" Unfinished: {unfinished}." if unfinished else ""),
        )
    ]


def make_folds_table(losses: PaperLosses, options: TableOptions) -> list[Table]:  # noqa: ARG001 (a table's signature)
    """Return the metrics of every fold, by both definitions, as data."""
    metrics = [(definition, metric) for definition in METRICS for metric in METRICS[definition]]
    return [
        Table(
            "Metrics by fold",
            [
                *("experiment", "classifier", "data_set", "method", "fold"),
                *(f"{definition}_{metric}" for definition, metric in metrics),
            ],
            plain_rows(
                (
                    *(run.experiment, run.classifier, run.data_set, run.method, run.fold),
                    *(
                        f"{fold_metric(run, metric, definition):.6g}"
                        for definition, metric in metrics
                    ),
                )
                for run in losses.runs
            ),
        )
    ]


def _all_seconds(run: Run) -> float:
    """Return the time of all fits behind a run."""
    if run.calibration_seconds is None:
        return run.model_seconds
    # A calibrated model is also fitted and timed without calibration.
    return 2 * run.model_seconds + run.calibration_seconds


def _mean_by_data_set(runs: Sequence[Run], values: Sequence[float]) -> float:
    by_data_set: dict[str, list[float]] = {}
    for run, value in zip(runs, values, strict=True):
        by_data_set.setdefault(run.data_set, []).append(value)
    return float(np.mean([np.mean(group) for group in by_data_set.values()]))


DATA_SETS = TableType(
    "rows, classes and binary problems of each data set (Tables 1 and 2)", make_data_sets_table
)
TABLES = {
    "results": TableType("both metrics of all methods (Tables 4 and 5)", make_results_tables),
    "effects": TableType(
        "data sets that calibration improves or impairs (Table 3)", make_effects_tables
    ),
    "approaches": TableType("one-vs-rest against all pairs", make_approaches_tables),
    "times": TableType("seconds to fit and calibrate (Table 6)", make_times_table),
    "folds": TableType("metrics of every fold", make_folds_table),
}
