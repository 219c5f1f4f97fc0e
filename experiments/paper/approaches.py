"""The paper's main claim as tables: one-vs-rest against all pairs."""

from __future__ import annotations

import numpy as np

from calibrant.comparison import wilcoxon_test
from experiments.paper.approach_comparison import ALL_PAIRS, ONE_VS_REST, WINNERS, Duel, find_duels
from experiments.paper.experiment import CLASSIFIERS
from experiments.paper.losses import (
    AS_PUBLISHED,
    METRICS,
    PUBLISHED_NAMES,
    Measures,
    read_published,
    scenario_title,
)
from experiments.rendering import NOTHING, Cell, Table

SUMMARY_TESTS = ("paired", "corrected")
NO_COUNTS = ("", "", "")
DIGITS = 4


def approaches_tables(measures: Measures, test: str) -> list[Table]:
    """Make a table a classifier, with a row a data set, and one that counts who wins.

    Parameters
    ----------
    measures : Measures
        The metrics of a suite.
    test : {"welch", "paired", "corrected"}
        The test of the tables by data set; the last table has two tests of its own.

    Returns
    -------
    list of Table
        The tables.
    """
    duels = find_duels(measures, (test,))
    by_data_set = [
        _data_sets_table(measures, [one for one in duels if one.classifier == classifier], test)
        for classifier in dict.fromkeys(one.classifier for one in duels)
    ]
    return [*by_data_set, summary_table(measures)]


def _data_sets_table(measures: Measures, duels: list[Duel], test: str) -> Table:
    classifier = duels[0].classifier
    metrics = list(METRICS[measures.form])
    kinds = [kind for kind in ALL_PAIRS if kind in measures.scenarios]
    groups = ["", *[scenario_title(ONE_VS_REST)] * len(metrics)]
    header = ["data set", *metrics]
    for kind in kinds:
        difference = "difference as published" if kind.endswith(AS_PUBLISHED) else "difference"
        groups += [scenario_title(kind)] * len(metrics) + [difference] * (len(metrics) + 1)
        header += [*metrics, *metrics, "better"]
    rows = []
    for data_set in measures.finished_sets(classifier):
        own = {duel.all_pairs: duel for duel in duels if duel.data_set == data_set}
        losses = {
            (scenario, metric): measures.mean(classifier, data_set, scenario, metric)
            for scenario in (ONE_VS_REST, *kinds)
            for metric in metrics
        }
        best = {
            metric: np.nanmin([losses[scenario, metric] for scenario in (ONE_VS_REST, *kinds)])
            for metric in metrics
        }
        row = [Cell(data_set.capitalize())]
        for scenario in (ONE_VS_REST, *kinds):
            for metric in metrics:
                loss = losses[scenario, metric]
                row.append(Cell(_number(loss), bold=bool(loss == best[metric])))
            if scenario != ONE_VS_REST:
                row += _difference_cells(own.get(scenario), metrics, test)
        rows.append(row)
    return Table(
        f"One-vs-rest and all pairs of {CLASSIFIERS[classifier]}",
        header,
        rows,
        f"Metrics: {measures.form} form, mean of {measures.n_folds} folds. Bold: best. "
        f"Difference: all pairs minus one-vs-rest; underlined: significant by {test} t-test. "
        "Better: significantly so by a metric, and not worse by the other. "
        + measures.finished_note(),
        groups=groups,
    )


def _difference_cells(duel: Duel | None, metrics: list[str], test: str) -> list[Cell]:
    if duel is None:
        return [Cell(NOTHING)] * (len(metrics) + 1)
    comparisons = [duel.comparisons[test, metric] for metric in metrics]
    return [
        *(
            Cell(f"{own.difference:+.{DIGITS}f}", underline=own.is_significant())
            for own in comparisons
        ),
        Cell(duel.winner(test)),
    ]


def summary_table(measures: Measures) -> Table:
    """Count the data sets on which either approach is better, beside the published counts."""
    duels = find_duels(measures, SUMMARY_TESTS)
    rows = []
    for classifier, kind in dict.fromkeys((one.classifier, one.all_pairs) for one in duels):
        own = [one for one in duels if (one.classifier, one.all_pairs) == (classifier, kind)]
        coupling = "as published" if kind.endswith(AS_PUBLISHED) else "correct"
        wilcoxon = [_wilcoxon_cell(own, metric) for metric in METRICS[measures.form]]
        for test in SUMMARY_TESTS:
            # The paper's test is the paired one, by its results.
            beside = _published_counts(measures, classifier) if test == "paired" else NO_COUNTS
            rows.append(
                [
                    *(Cell(text) for text in (CLASSIFIERS[classifier], coupling, test)),
                    *_count_cells([duel.winner(test) for duel in own], beside),
                    *_count_cells([duel.winner(test, adjusted=True) for duel in own], NO_COUNTS),
                    *wilcoxon,
                ]
            )
    notes = [
        f"Metrics: {measures.form} form.",
        "A data set with numbers of both goes to the approach that is significantly better by a "
        "metric and not worse by the other.",
        "In brackets: the paper's count."
        if any(cell.beside for row in rows for cell in row)
        else "",
        "Holm: p-values adjusted for the number of data sets.",
        "Wilcoxon: p of the signed-rank test over the data sets.",
        measures.finished_note(),
    ]
    return Table(
        "One-vs-rest against all pairs, both DGG+ENIR: the number of data sets",
        ["classifier", "coupling", "t-test", *WINNERS.values(), *WINNERS.values(), "MSE", "LL"],
        rows,
        " ".join(filter(None, notes)),
        groups=[
            *[""] * 3,
            *["better"] * len(WINNERS),
            *["better after Holm"] * len(WINNERS),
            *["Wilcoxon p"] * len(METRICS[measures.form]),
        ],
    )


def _published_counts(measures: Measures, classifier: str) -> tuple[str, ...]:
    """Return the paper's counts, if the runs are to be held against them."""
    if (measures.protocol, measures.form) != ("as-published", "published"):
        return NO_COUNTS
    name = PUBLISHED_NAMES[classifier]
    (row,) = (row for row in read_published("approaches.csv") if row["classifier"] == name)
    return (row["one_vs_rest_better"], row["even"], row["all_pairs_better"])


def _count_cells(winners: list[str], beside: tuple[str, ...]) -> list[Cell]:
    return [
        Cell(str(winners.count(winner)), beside=published)
        for winner, published in zip(WINNERS.values(), beside, strict=True)
    ]


def _wilcoxon_cell(duels: list[Duel], metric: str) -> Cell:
    if len(duels) < 2:
        return Cell(NOTHING)
    one_vs_rest, all_pairs = zip(*(duel.losses[metric] for duel in duels), strict=True)
    return Cell(f"{wilcoxon_test(all_pairs, one_vs_rest).p_value:.3f}")


def approaches_data(measures: Measures) -> Table:
    """List all comparisons of the approaches, for those who compute further."""
    return Table(
        "One-vs-rest against all pairs",
        [
            *("classifier", "data_set", "scenario", "metric"),
            *("one_vs_rest", "all_pairs", "difference"),
            *(f"{test}_{kind}" for test in SUMMARY_TESTS for kind in ("p", "holm_p")),
        ],
        [
            [
                Cell(text)
                for text in (
                    duel.classifier,
                    duel.data_set,
                    duel.all_pairs,
                    metric,
                    *(f"{loss:.6g}" for loss in duel.losses[metric]),
                    f"{duel.comparisons[SUMMARY_TESTS[0], metric].difference:.6g}",
                    *(
                        f"{own[test, metric].p_value:.6g}"
                        for test in SUMMARY_TESTS
                        for own in (duel.comparisons, duel.adjusted)
                    ),
                )
            ]
            for duel in find_duels(measures, SUMMARY_TESTS)
            for metric in METRICS[measures.form]
        ],
    )


def _number(value: float) -> str:
    return NOTHING if np.isnan(value) else f"{value:.{DIGITS}f}"
