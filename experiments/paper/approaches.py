"""Tables of the paper's main claim: one-vs-rest against all pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibrant.comparison import wilcoxon_test
from experiments.classifiers import CLASSIFIERS
from experiments.experiment import TableOptions
from experiments.paper.approach_comparison import (
    ALL_PAIRS,
    ONE_VS_REST,
    WINNERS,
    ApproachComparison,
    compare_approaches,
)
from experiments.paper.losses import PaperLosses
from experiments.paper.methods import PaperMethod
from experiments.paper.published import CLASSIFIER_NAMES, read_published
from experiments.rendering import MISSING, Cell, Table, plain_rows
from experiments.store import Case

SUMMARY_TESTS = ("paired", "corrected")
NO_COUNTS = ("", "", "")
DIGITS = 4


def make_approaches_tables(losses: PaperLosses, options: TableOptions) -> list[Table]:
    """Return one table per classifier and one that counts data sets, or all comparisons as data.

    Parameters
    ----------
    losses : PaperLosses
        Metrics of an experiment.
    options : TableOptions
        ``test`` is used in the tables by data set. The last table always has two tests.

    Returns
    -------
    list of Table
        The tables.
    """
    if options.as_data:
        return [_data_table(losses)]
    comparisons = compare_approaches(losses, (options.test,))
    by_classifier: dict[str, list[ApproachComparison]] = {}
    for comparison in comparisons:
        by_classifier.setdefault(comparison.case.classifier, []).append(comparison)
    return [
        *(
            _data_sets_table(losses, classifier, items, options.test)
            for classifier, items in by_classifier.items()
        ),
        make_summary_table(losses),
    ]


def _data_sets_table(
    losses: PaperLosses, classifier: str, comparisons: list[ApproachComparison], test: str
) -> Table:
    metrics = losses.metrics
    versions = [method for method in ALL_PAIRS if method in losses.methods]
    groups = ["", *[ONE_VS_REST.title] * len(metrics)]
    header = ["data set", *metrics]
    for method in versions:
        difference = "difference as published" if method.has_faulty_coupling else "difference"
        groups += [method.title] * len(metrics) + [difference] * (len(metrics) + 1)
        header += [*metrics, *metrics, "better"]
    by_case = {(item.case, item.all_pairs): item for item in comparisons}
    rows = []
    for case in (case for case in losses.finished_cases if case.classifier == classifier):
        row = [Cell(case.data_set.capitalize())]
        row += _loss_cells(losses, case, ONE_VS_REST, versions)
        for method in versions:
            row += _loss_cells(losses, case, method, versions)
            row += _difference_cells(by_case.get((case, method)), metrics, test)
        rows.append(row)
    return Table(
        f"One-vs-rest and all pairs with {CLASSIFIERS[classifier].title}",
        header,
        rows,
        f"{losses.definition_note}, mean of {losses.n_folds} folds. Bold: best. "
        f"Difference: all pairs minus one-vs-rest; underlined if significant ({test} t-test). "
        "Better: significantly better by one metric and not worse by the other. "
        + losses.describe_finished(),
        groups=groups,
    )


def _loss_cells(
    losses: PaperLosses, case: Case, method: PaperMethod, versions: Sequence[PaperMethod]
) -> list[Cell]:
    cells = []
    for metric in losses.metrics:
        loss = losses.mean(case, method, metric)
        best = np.nanmin([losses.mean(case, other, metric) for other in (ONE_VS_REST, *versions)])
        text = MISSING if np.isnan(loss) else f"{loss:.{DIGITS}f}"
        cells.append(Cell(text, bold=bool(loss == best)))
    return cells


def _difference_cells(
    comparison: ApproachComparison | None, metrics: list[str], test: str
) -> list[Cell]:
    if comparison is None:
        return [Cell(MISSING)] * (len(metrics) + 1)
    tested = [comparison.comparisons[test, metric] for metric in metrics]
    return [
        *(Cell(f"{one.difference:+.{DIGITS}f}", underline=one.is_significant()) for one in tested),
        Cell(comparison.winner(test)),
    ]


def make_summary_table(losses: PaperLosses) -> Table:
    """Count the data sets on which either approach is better, with the published counts."""
    by_row: dict[tuple[str, PaperMethod], list[ApproachComparison]] = {}
    for comparison in compare_approaches(losses, SUMMARY_TESTS):
        key = (comparison.case.classifier, comparison.all_pairs)
        by_row.setdefault(key, []).append(comparison)
    rows = []
    for (classifier, method), comparisons in by_row.items():
        coupling = "as published" if method.has_faulty_coupling else "correct"
        wilcoxon = [_wilcoxon_cell(comparisons, metric) for metric in losses.metrics]
        for test in SUMMARY_TESTS:
            # The published counts are based on the paired test.
            published = _published_counts(losses, classifier) if test == "paired" else NO_COUNTS
            winners = [item.winner(test) for item in comparisons]
            adjusted = [item.winner(test, adjusted=True) for item in comparisons]
            rows.append(
                [
                    *(Cell(text) for text in (CLASSIFIERS[classifier].title, coupling, test)),
                    *_count_cells(winners, published),
                    *_count_cells(adjusted, NO_COUNTS),
                    *wilcoxon,
                ]
            )
    notes = [
        f"{losses.definition_note}.",
        "A data set counts for the approach that is significantly better by one metric and not "
        "worse by the other.",
        "In parentheses: the published count."
        if any(cell.reference for row in rows for cell in row)
        else "",
        "Holm: p-values adjusted for the number of data sets.",
        "Wilcoxon: p-value of the signed-rank test over the data sets.",
        losses.describe_finished(),
    ]
    return Table(
        "One-vs-rest against all pairs, both DGG+ENIR: number of data sets",
        ["classifier", "coupling", "t-test", *WINNERS.values(), *WINNERS.values(), "MSE", "LL"],
        rows,
        " ".join(filter(None, notes)),
        groups=[
            *[""] * 3,
            *["better"] * len(WINNERS),
            *["better after Holm"] * len(WINNERS),
            *["Wilcoxon p"] * len(losses.metrics),
        ],
    )


def _published_counts(losses: PaperLosses, classifier: str) -> tuple[str, ...]:
    """Return the published counts if they are comparable."""
    if not losses.has_published_values:
        return NO_COUNTS
    name = CLASSIFIER_NAMES[classifier]
    (row,) = (row for row in read_published("approaches.csv") if row["classifier"] == name)
    return (row["one_vs_rest_better"], row["even"], row["all_pairs_better"])


def _count_cells(winners: list[str], published: tuple[str, ...]) -> list[Cell]:
    return [
        Cell(str(winners.count(winner)), reference=count)
        for winner, count in zip(WINNERS.values(), published, strict=True)
    ]


def _wilcoxon_cell(comparisons: list[ApproachComparison], metric: str) -> Cell:
    if len(comparisons) < 2:
        return Cell(MISSING)
    one_vs_rest, all_pairs = zip(*(item.losses[metric] for item in comparisons), strict=True)
    return Cell(f"{wilcoxon_test(all_pairs, one_vs_rest).p_value:.3f}")


def _data_table(losses: PaperLosses) -> Table:
    return Table(
        "One-vs-rest against all pairs",
        [
            *("classifier", "data_set", "method", "metric"),
            *("one_vs_rest", "all_pairs", "difference"),
            *(f"{test}_{kind}" for test in SUMMARY_TESTS for kind in ("p", "holm_p")),
        ],
        plain_rows(
            (
                *item.case,
                item.all_pairs.name,
                metric,
                *(f"{loss:.6g}" for loss in item.losses[metric]),
                f"{item.comparisons[SUMMARY_TESTS[0], metric].difference:.6g}",
                *(
                    f"{tested[test, metric].p_value:.6g}"
                    for test in SUMMARY_TESTS
                    for tested in (item.comparisons, item.adjusted)
                ),
            )
            for item in compare_approaches(losses, SUMMARY_TESTS)
            for metric in losses.metrics
        ),
    )
