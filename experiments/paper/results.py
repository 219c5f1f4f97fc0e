"""Tables 4 and 5 of the paper: both metrics in all scenarios, beside the published values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.paper.experiment import CLASSIFIERS
from experiments.paper.losses import METRICS, Measures, published_value, scenario_title
from experiments.rendering import NOTHING, Cell, Table

RAW = "multiclass_raw"
DIGITS = 3


@dataclass(frozen=True)
class Result:
    """A metric of a scenario on a data set.

    Attributes
    ----------
    value : float
        The mean of the folds; NaN where there is none.
    published : float or None
        The paper's value, where metrics are of its form and it has one.
    is_best : bool
        Whether no scenario has a lower value, in the digits that are printed.
    is_significant : bool
        Whether it differs from multi-class raw.
    n_folds : int
        The folds behind it.
    """

    classifier: str
    data_set: str
    scenario: str
    metric: str
    value: float
    published: float | None
    is_best: bool
    is_significant: bool
    n_folds: int


def find_results(measures: Measures, test: str) -> list[Result]:
    """Return the mean of every metric, with marks where a data set is finished.

    Parameters
    ----------
    measures : Measures
        The metrics of a suite.
    test : {"welch", "paired", "corrected"}
        The test against multi-class raw.

    Returns
    -------
    list of Result
        By classifier, data set, scenario and metric.
    """
    return [
        _find_result(measures, classifier, data_set, scenario, metric, test)
        for classifier in measures.classifiers
        for data_set in measures.data_sets(classifier)
        for scenario in measures.scenarios
        for metric in METRICS[measures.form]
    ]


def _find_result(
    measures: Measures, classifier: str, data_set: str, scenario: str, metric: str, test: str
) -> Result:
    mean = measures.mean(classifier, data_set, scenario, metric)
    means = [measures.mean(classifier, data_set, other, metric) for other in measures.scenarios]
    n_folds = len(measures.folds(classifier, data_set))
    best = min((round(other, DIGITS) for other in means if not np.isnan(other)), default=np.nan)
    comparison = (
        None
        if scenario == RAW
        else measures.compare(classifier, data_set, scenario, RAW, metric, test)
    )
    return Result(
        classifier,
        data_set,
        scenario,
        metric,
        mean,
        published_value(classifier, data_set, scenario, metric).value
        if measures.form == "published"
        else None,
        is_best=n_folds == measures.n_folds and round(mean, DIGITS) == best,
        is_significant=comparison is not None and comparison.is_significant(),
        n_folds=n_folds,
    )


def results_tables(measures: Measures, test: str) -> list[Table]:
    """Make a table a classifier, in the paper's layout: a row a data set, a column a metric."""
    results = find_results(measures, test)
    return [
        _results_table(measures, [one for one in results if one.classifier == classifier], test)
        for classifier in measures.classifiers
    ]


def _results_table(measures: Measures, results: list[Result], test: str) -> Table:
    by_set: dict[str, list[Result]] = {}
    for result in results:
        by_set.setdefault(result.data_set, []).append(result)
    columns = next(iter(by_set.values()))
    notes = [
        "In brackets: the published value." if measures.form == "published" else "",
        f"Metrics: {measures.form} form, mean of {measures.n_folds} folds.",
        f"Bold: best. Underlined: {test} t-test against multi-class raw.",
        "Data sets with fewer folds are not finished, and bear no marks."
        if any(one.n_folds < measures.n_folds for one in results)
        else "",
    ]
    return Table(
        "Mean squared error and logarithmic loss of " + CLASSIFIERS[results[0].classifier],
        ["data set", *(one.metric for one in columns)],
        [
            [
                Cell(_row_name(data_set, own[0].n_folds, measures.n_folds)),
                *(_cell(one, measures.form) for one in own),
            ]
            for data_set, own in by_set.items()
        ],
        " ".join(filter(None, notes)),
        groups=["", *(scenario_title(one.scenario) for one in columns)],
    )


def results_data(measures: Measures, test: str) -> Table:
    """List all results, for those who compute further."""
    return Table(
        "Results",
        [
            *("classifier", "data_set", "scenario", "metric", "value", "published"),
            *("best", "significant", "folds"),
        ],
        [
            [
                Cell(text)
                for text in (
                    one.classifier,
                    one.data_set,
                    one.scenario,
                    one.metric,
                    _number(one.value, ".6g"),
                    _number(one.published, "g"),
                    str(int(one.is_best)),
                    str(int(one.is_significant)),
                    str(one.n_folds),
                )
            ]
            for one in find_results(measures, test)
        ],
    )


def _row_name(data_set: str, n_folds: int, all_folds: int) -> str:
    name = data_set.capitalize()
    return name if n_folds == all_folds else f"{name}, {n_folds} of {all_folds} folds"


def _cell(result: Result, form: str) -> Cell:
    return Cell(
        _number(result.value, f".{DIGITS}f"),
        bold=result.is_best,
        underline=result.is_significant,
        beside=_number(result.published, f".{DIGITS}f") if form == "published" else "",
    )


def _number(value: float | None, form: str) -> str:
    return NOTHING if value is None or np.isnan(value) else format(value, form)
