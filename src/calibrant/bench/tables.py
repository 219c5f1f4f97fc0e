"""The paper's tables from stored runs, with the published values beside ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from calibrant.bench.measures import (
    AS_PUBLISHED,
    METRICS,
    PUBLISHED_NAMES,
    Measures,
    fold_metric,
    published_value,
    read_published,
)
from calibrant.bench.protocols import CLASSIFIERS
from calibrant.bench.render import Cell, Table
from calibrant.bench.scenarios import SCENARIOS
from calibrant.bench.store import Run
from calibrant.comparison import (
    Comparison,
    corrected_t_test,
    effect,
    paired_t_test,
    welch_t_test,
)
from calibrant.datasets import dataset_names, load_dataset

RAW = "multiclass_raw"
# Problems with three to five classes have a low number of classes, as in the paper.
MOST_LOW_CLASSES = 5
# All pairs raw is multi-class raw for naive Bayes: what differs is rounding, which a test
# would find significant.
SAME_LOSS = 1e-6
TESTS: dict[str, Callable[..., Comparison]] = {
    "welch": welch_t_test,
    "paired": paired_t_test,
    "corrected": corrected_t_test,
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


def results_tables(runs: list[Run], form: str, test: str) -> list[Table]:
    """Tables 4 and 5: both metrics in all scenarios, a table a classifier."""
    measures = Measures(runs, form)
    return [_results_table(measures, classifier, test) for classifier in measures.classifiers]


def _results_table(measures: Measures, classifier: str, test: str) -> Table:
    scenarios = _scenarios(measures, classifier)
    rows = []
    for data_set in measures.data_sets(classifier):
        means = {
            (scenario, metric): measures.mean(classifier, data_set, scenario, metric)
            for scenario in scenarios
            for metric in METRICS[measures.form]
        }
        row = [Cell(data_set.capitalize())]
        for (scenario, metric), mean in means.items():
            best = min(
                (round(means[other, metric], 3) for other in scenarios if means[other, metric] > 0),
                default=np.nan,
            )
            comparison = _compare(measures, classifier, data_set, scenario, metric, test)
            text = _number(mean)
            if measures.form == "published":
                text += (
                    f" ({_number(published_value(classifier, data_set, scenario, metric).value)})"
                )
            row.append(
                Cell(
                    text,
                    bold=round(mean, 3) == best,
                    underline=comparison is not None and comparison.is_significant(),
                )
            )
        rows.append(row)
    header = [f"{_title(scenario)} {metric}" for scenario in scenarios for metric in ("MSE", "LL")]
    note = "In brackets: the published value. " if measures.form == "published" else ""
    return Table(
        f"Mean squared error and logarithmic loss of {CLASSIFIERS[classifier]}",
        ["data set", *header],
        rows,
        f"{note}Metrics: {measures.form} form. Underlined: {test} t-test against multi-class raw.",
    )


def effects_table(runs: list[Run], test: str) -> Table:
    """Table 3: data sets improved, neutral and impaired by calibration."""
    measures = Measures(runs, "published")
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for classifier in measures.classifiers:
        for data_set in measures.data_sets(classifier):
            for scenario in _scenarios(measures, classifier):
                if "dgg_enir" not in scenario:
                    continue
                comparisons = [
                    _compare(measures, classifier, data_set, scenario, metric, test)
                    for metric in ("MSE", "LL")
                ]
                known = [comparison for comparison in comparisons if comparison is not None]
                group = _class_group(measures.runs[classifier, data_set, scenario][0])
                counts[classifier, scenario, group, effect(known)] += 1
    published = {
        (row["classifier"], row["approach"], row["class_count_group"]): row
        for row in read_published("effects.csv")
    }
    rows = []
    for classifier, scenario, group in dict.fromkeys(key[:3] for key in counts):
        approach = scenario.removesuffix(AS_PUBLISHED).removesuffix("_dgg_enir")
        beside = published[PUBLISHED_NAMES[classifier], approach, group]
        rows.append(
            [
                Cell(f"{CLASSIFIERS[classifier]}, {_title(scenario)}"),
                Cell(group),
                *(
                    Cell(f"{counts[classifier, scenario, group, kind]} ({beside[kind]})")
                    for kind in ("improved", "neutral", "impaired")
                ),
            ]
        )
    return Table(
        "Effect of calibration on the data sets, against multi-class raw",
        ["scenario", "classes", "improved", "neutral", "impaired"],
        rows,
        f"In brackets: the published count. Low: up to {MOST_LOW_CLASSES} classes. "
        f"Significance by {test} t-test, published form of the metrics.",
    )


def times_table(runs: list[Run]) -> Table:
    """Table 6: seconds to fit and to calibrate, for each binary problem."""
    published = {(row["classifier"], row["scenario"]): row for row in read_published("times.csv")}
    rows = []
    seconds = 0.0
    for classifier in CLASSIFIERS:
        for approach, scenario in (
            ("multiclass", RAW),
            ("one_vs_rest", "one_vs_rest_dgg_enir"),
            ("all_pairs", "all_pairs_dgg_enir"),
        ):
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
                    Cell(f"{CLASSIFIERS[classifier]}, {approach.replace('_', ' ')}"),
                    Cell(f"{model:.4f} ({beside['model_seconds']})"),
                    Cell(
                        f"{calibration:.3f} ({beside['calibration_seconds_per_binary_problem']})"
                        if approach != "multiclass"
                        else "-"
                    ),
                    Cell(", ".join(sorted({run.implementation for run in own}))),
                ]
            )
    return Table(
        "Seconds for each binary problem, mean of the data sets",
        ["scenario", "model", "calibration", "implementation"],
        rows,
        "In brackets: the published seconds, on another machine. "
        f"All fits together: {seconds / 3600:.2f} hours of one core.",
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


def _scenarios(measures: Measures, classifier: str) -> list[str]:
    present = {scenario for key, _, scenario in measures.runs if key == classifier}
    known = [name for base in SCENARIOS for name in (base, base + AS_PUBLISHED)]
    return [name for name in known if name in present]


def _title(scenario: str) -> str:
    base = SCENARIOS[scenario.removesuffix(AS_PUBLISHED)].title
    return f"{base} as published" if scenario.endswith(AS_PUBLISHED) else base


def _compare(
    measures: Measures, classifier: str, data_set: str, scenario: str, metric: str, test: str
) -> Comparison | None:
    """Compare a scenario with multi-class raw; None where folds are missing."""
    new = measures.by_fold(classifier, data_set, scenario, metric)
    old = measures.by_fold(classifier, data_set, RAW, metric)
    if scenario == RAW or len(new) < 2 or len(new) != len(old) or np.isnan([*new, *old]).any():
        return None
    if np.allclose(new, old, rtol=SAME_LOSS, atol=0.0):
        return Comparison(0.0, 0.0, 1.0)
    return TESTS[test](new, old)


def _class_group(run: Run) -> str:
    return "low" if run.proba.shape[1] <= MOST_LOW_CLASSES else "high"


def _mean_by_data_set(runs: list[Run], values: list[float]) -> float:
    by_set: dict[str, list[float]] = {}
    for run, value in zip(runs, values, strict=True):
        by_set.setdefault(run.data_set, []).append(value)
    return float(np.mean([np.mean(own) for own in by_set.values()]))


def _number(value: float | None) -> str:
    return "-" if value is None or np.isnan(value) else f"{value:.3f}"
