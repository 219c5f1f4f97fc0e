"""Tables 1, 2 and 6 of the paper, and the metrics of every fold."""

from __future__ import annotations

import numpy as np

from calibrant.datasets import dataset_names, load_dataset
from experiments.paper.experiment import CLASSIFIERS
from experiments.paper.losses import METRICS, PUBLISHED_NAMES, Measures, fold_metric, read_published
from experiments.rendering import NOTHING, Cell, Table
from experiments.store import Run

# The approaches of Table 6, and the scenarios that took their time.
TIMED = {
    "multiclass": "multiclass_raw",
    "one_vs_rest": "one_vs_rest_dgg_enir",
    "all_pairs": "all_pairs_dgg_enir",
}


def data_sets_table() -> Table:
    """Table 2: rows and classes of the data sets, and Table 1: their binary problems."""
    rows = []
    for name in dataset_names():
        count = np.bincount(load_dataset(name).target)
        n_classes = len(count)
        values = [
            count.sum(),
            n_classes,
            count.min(),
            count.max(),
            n_classes,
            n_classes * (n_classes - 1) // 2,
        ]
        rows.append([Cell(name.capitalize()), *(Cell(str(value)) for value in values)])
    return Table(
        "Data sets",
        ["data set", "samples", "classes", "smallest", "largest", "one-vs-rest", "all pairs"],
        rows,
        "Development has 225 rows; the 212 of the paper leave out its smallest class.",
    )


def times_table(runs: list[Run]) -> Table:
    """Table 6: seconds to fit and to calibrate, for each binary problem."""
    published = {(row["classifier"], row["scenario"]): row for row in read_published("times.csv")}
    rows = []
    seconds = 0.0
    for classifier in CLASSIFIERS:
        for approach, scenario in TIMED.items():
            own = [r for r in runs if (r.classifier, r.scenario) == (classifier, scenario)]
            if not own:
                continue
            # Before it is calibrated, a model is fitted and scored without calibration.
            seconds += sum(
                run.model_seconds
                if run.calibration_seconds is None
                else 2 * run.model_seconds + run.calibration_seconds
                for run in own
            )
            beside = published[PUBLISHED_NAMES[classifier], approach]
            model = _mean_by_data_set(own, [run.model_seconds / run.n_problems for run in own])
            calibration = _mean_by_data_set(
                own, [(run.calibration_seconds or 0.0) / run.n_problems for run in own]
            )
            rows.append(
                [
                    Cell(CLASSIFIERS[classifier]),
                    Cell(approach.replace("_", " ")),
                    Cell(f"{model:.4f}", beside=beside["model_seconds"]),
                    Cell(
                        f"{calibration:.3f}",
                        beside=beside["calibration_seconds_per_binary_problem"],
                    )
                    if approach != "multiclass"
                    else Cell(NOTHING),
                    Cell(", ".join(sorted({run.implementation for run in own}))),
                ]
            )
    unfinished = Measures(runs, "published").unfinished()
    return Table(
        "Seconds for each binary problem, mean of the data sets",
        ["classifier", "approach", "model", "calibration", "implementation"],
        rows,
        "In brackets: the published seconds, on another machine. "
        f"All fits together: {seconds / 3600:.2f} hours of one core."
        + (f" Not finished: {unfinished}." if unfinished else ""),
    )


def folds_table(runs: list[Run]) -> Table:
    """Every metric on every fold, for those who compute further."""
    header = ["protocol", "classifier", "data_set", "scenario", "fold"]
    forms = [(form, metric) for form in METRICS for metric in METRICS[form]]
    rows = []
    for run in runs:
        values = [fold_metric(run, metric, form) for form, metric in forms]
        identity = [run.protocol, run.classifier, run.data_set, run.scenario, str(run.fold)]
        rows.append([Cell(text) for text in identity] + [Cell(f"{value:.6g}") for value in values])
    return Table("Metrics by fold", header + [f"{form}_{metric}" for form, metric in forms], rows)


def _mean_by_data_set(runs: list[Run], values: list[float]) -> float:
    by_set: dict[str, list[float]] = {}
    for run, value in zip(runs, values, strict=True):
        by_set.setdefault(run.data_set, []).append(value)
    return float(np.mean([np.mean(own) for own in by_set.values()]))
