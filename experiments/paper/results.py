"""Tables 4 and 5 of the paper: both metrics of all methods, with the published values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.classifiers import CLASSIFIERS
from experiments.experiment import TableOptions
from experiments.paper.losses import PaperLosses
from experiments.paper.methods import BASELINE, PaperMethod
from experiments.paper.published import published_value
from experiments.rendering import MISSING, Cell, Table, plain_rows
from experiments.store import Case

DIGITS = 3


@dataclass(frozen=True)
class Result:
    """A metric of a method in a case.

    Attributes
    ----------
    case : Case
        Classifier and data set.
    method : PaperMethod
        The method.
    metric : str
        The metric.
    value : float
        Mean over the folds; NaN if there is no value.
    published : float or None
        The published value; None if there is none for this definition of the metrics.
    is_best : bool
        Whether no method has a lower value, to the precision printed.
    is_significant : bool
        Whether the difference from multi-class raw is statistically significant.
    n_folds : int
        Number of folds behind the value.
    """

    case: Case
    method: PaperMethod
    metric: str
    value: float
    published: float | None
    is_best: bool
    is_significant: bool
    n_folds: int


def find_results(losses: PaperLosses, test: str) -> list[Result]:
    """Return all results, with marks in finished cases.

    Parameters
    ----------
    losses : PaperLosses
        Metrics of an experiment.
    test : {"welch", "paired", "corrected"}
        The test against multi-class raw.

    Returns
    -------
    list of Result
        Ordered by case, method and metric.
    """
    return [
        _find_result(losses, case, method, metric, test)
        for case in losses.cases
        for method in losses.methods
        for metric in losses.metrics
    ]


def _find_result(
    losses: PaperLosses, case: Case, method: PaperMethod, metric: str, test: str
) -> Result:
    mean = losses.mean(case, method, metric)
    means = [losses.mean(case, other, metric) for other in losses.methods]
    n_folds = len(losses.folds(case))
    best = min((round(other, DIGITS) for other in means if not np.isnan(other)), default=np.nan)
    comparison = (
        None if method == BASELINE else losses.compare(case, method, BASELINE, metric, test)
    )
    has_published = losses.definition == "published"
    return Result(
        case,
        method,
        metric,
        mean,
        published_value(case, method, metric).value if has_published else None,
        is_best=n_folds == losses.n_folds and round(mean, DIGITS) == best,
        is_significant=comparison is not None and comparison.is_significant(),
        n_folds=n_folds,
    )


def make_results_tables(losses: PaperLosses, options: TableOptions) -> list[Table]:
    """Return one table per classifier in the paper's layout, or all results as data."""
    results = find_results(losses, options.test)
    if options.as_data:
        return [_data_table(results)]
    return [
        _results_table(
            losses, [one for one in results if one.case.classifier == classifier], options.test
        )
        for classifier in losses.classifiers
    ]


def _results_table(losses: PaperLosses, results: list[Result], test: str) -> Table:
    by_case: dict[Case, list[Result]] = {}
    for result in results:
        by_case.setdefault(result.case, []).append(result)
    columns = next(iter(by_case.values()))
    has_published = losses.definition == "published"
    notes = [
        "In parentheses: the published value." if has_published else "",
        f"{losses.definition_note}, mean of {losses.n_folds} folds.",
        f"Bold: best. Underlined: significantly different from multi-class raw ({test} t-test).",
        "Data sets with fewer folds are unfinished and have no marks."
        if any(one.n_folds < losses.n_folds for one in results)
        else "",
    ]
    return Table(
        "Mean squared error and logarithmic loss of "
        + CLASSIFIERS[results[0].case.classifier].title,
        ["data set", *(one.metric for one in columns)],
        [
            [
                Cell(_row_name(case, row[0].n_folds, losses.n_folds)),
                *(_cell(one, has_published) for one in row),
            ]
            for case, row in by_case.items()
        ],
        " ".join(filter(None, notes)),
        groups=["", *(one.method.title for one in columns)],
    )


def _data_table(results: list[Result]) -> Table:
    return Table(
        "Results",
        [
            *("classifier", "data_set", "method", "metric", "value", "published"),
            *("best", "significant", "folds"),
        ],
        plain_rows(
            (
                *one.case,
                one.method.name,
                one.metric,
                _format(one.value, ".6g"),
                _format(one.published, "g"),
                int(one.is_best),
                int(one.is_significant),
                one.n_folds,
            )
            for one in results
        ),
    )


def _row_name(case: Case, n_folds: int, all_folds: int) -> str:
    name = case.data_set.capitalize()
    return name if n_folds == all_folds else f"{name}, {n_folds} of {all_folds} folds"


def _cell(result: Result, has_published: bool) -> Cell:
    return Cell(
        _format(result.value, f".{DIGITS}f"),
        bold=result.is_best,
        underline=result.is_significant,
        reference=_format(result.published, f".{DIGITS}f") if has_published else "",
    )


def _format(value: float | None, form: str) -> str:
    return MISSING if value is None or np.isnan(value) else format(value, form)
