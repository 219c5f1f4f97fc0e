import csv
import io

import numpy as np
import pytest
from scipy import stats

from experiments.experiment import TableOptions
from experiments.paper.approaches import make_approaches_tables, make_summary_table
from experiments.paper.methods import METHODS
from experiments.rendering import render
from experiments.store import Case

ONE_VS_REST, ALL_PAIRS = METHODS["one_vs_rest_dgg_enir"], METHODS["all_pairs_dgg_enir"]
# One-vs-rest is far better on Seeds, all pairs on Ecoli, and they are alike on Heart.
SHARPNESS = {
    "seeds": {ONE_VS_REST.name: 0.8},
    "ecoli": {ALL_PAIRS.name: 0.8},
    "heart": {},
}


@pytest.fixture
def runs(make_paper_runs):
    return [
        run
        for seed, (data_set, sharpness) in enumerate(SHARPNESS.items())
        for run in make_paper_runs(
            sharpness, data_set=data_set, experiment="as-published", seed=seed
        )
    ]


@pytest.fixture
def losses(runs, paper_losses):
    return paper_losses(runs)


def by_fold(losses, data_set):
    """Log losses of one-vs-rest and of correctly coupled all pairs."""
    case = Case("nb", data_set)
    return [losses.by_fold(case, method, "LL") for method in (ONE_VS_REST, ALL_PAIRS)]


def test_the_summary_counts_winners_next_to_the_published_counts(losses):
    table = make_summary_table(losses)
    rows = {
        tuple(cell.text for cell in row[:3]): [(cell.text, cell.reference) for cell in row[3:9]]
        for row in table.rows
    }
    assert len(rows) == 4
    one_each = [("1", "")] * 3
    assert rows["naive Bayes", "correct", "paired"] == [
        *[("1", "5"), ("1", "6"), ("1", "1")],
        *one_each,
    ]
    assert rows["naive Bayes", "correct", "corrected"] == [*one_each, *one_each]
    # With the faulty coupling, all pairs are no better on Ecoli.
    assert rows["naive Bayes", "as published", "paired"] == [
        *[("1", "5"), ("2", "6"), ("0", "1")],
        *[("1", ""), ("2", ""), ("0", "")],
    ]
    assert table.spans[1:] == [("better", 3), ("better after Holm", 3), ("Wilcoxon p", 2)]


def test_the_summary_has_wilcoxons_test_over_the_data_sets(losses):
    (row, *_) = make_summary_table(losses).rows
    means = np.array([[values.mean() for values in by_fold(losses, name)] for name in SHARPNESS])
    assert row[-1].text == f"{stats.wilcoxon(*means.T).pvalue:.3f}"


def test_one_data_set_has_no_test_over_data_sets(make_paper_runs, paper_losses):
    table = make_summary_table(paper_losses(make_paper_runs()))
    assert [cell.text for cell in table.rows[0][-2:]] == ["-", "-"]


@pytest.mark.parametrize(
    ("experiment", "definition"), [("paper", "published"), ("as-published", "equations")]
)
def test_published_counts_are_shown_only_if_they_are_comparable(
    experiment, definition, make_paper_runs, paper_losses
):
    table = make_summary_table(paper_losses(make_paper_runs(experiment=experiment), definition))
    assert not any(cell.reference for row in table.rows for cell in row)
    assert "parentheses" not in table.note


def test_each_data_set_has_both_approaches_and_their_difference(losses):
    first, *_ = make_approaches_tables(losses, TableOptions())
    assert first.names == [
        "data set",
        *("one-vs-rest DGG+ENIR MSE", "one-vs-rest DGG+ENIR LL"),
        *("all pairs DGG+ENIR MSE", "all pairs DGG+ENIR LL"),
        *("difference MSE", "difference LL", "difference better"),
        *("all pairs DGG+ENIR as published MSE", "all pairs DGG+ENIR as published LL"),
        *(f"difference as published {name}" for name in ("MSE", "LL", "better")),
    ]
    cells = {row[0].text: dict(zip(first.names, row, strict=True)) for row in first.rows}
    one_vs_rest, all_pairs = by_fold(losses, "ecoli")
    difference = cells["Ecoli"]["difference LL"]
    assert difference.text == f"{all_pairs.mean() - one_vs_rest.mean():+.4f}"
    assert difference.underline
    assert cells["Ecoli"]["all pairs DGG+ENIR LL"].bold
    assert cells["Ecoli"]["difference better"].text == "all pairs"
    assert not cells["Heart"]["difference LL"].underline


def test_an_approach_without_a_value_is_a_dash_and_not_counted(runs, paper_losses):
    for run in runs:
        if (run.method, run.data_set) == ("all_pairs_dgg_enir_as_published", "seeds"):
            run.proba[0] = [-0.5, 0.5, 1.0]
    table, summary = make_approaches_tables(paper_losses(runs, "equations"), TableOptions())
    row = next(row for row in table.rows if row[0].text == "Seeds")
    assert [cell.text for cell in row[-5:]] == ["-"] * 5
    assert row[1].text != "-"
    counts = {row[1].text: sum(int(cell.text) for cell in row[3:6]) for row in summary.rows}
    assert counts == {"correct": 3, "as published": 2}


def test_unfinished_data_sets_are_omitted_and_named(runs, make_paper_runs, paper_losses):
    more = make_paper_runs(data_set="forest", experiment="as-published", folds=3)
    table, summary = make_approaches_tables(paper_losses(runs + more), TableOptions())
    assert [row[0].text for row in table.rows] == ["Ecoli", "Heart", "Seeds"]
    for each in (table, summary):
        assert "Omitted because unfinished: naive Bayes on forest (3 of 10 folds)." in each.note


def test_as_data_every_comparison_has_its_p_values(losses):
    (table,) = make_approaches_tables(losses, TableOptions(as_data=True))
    rows = list(csv.DictReader(io.StringIO(render(table, "csv"))))
    assert len(rows) == 3 * 2 * 2
    row = rows[1]
    assert [row[key] for key in ("classifier", "data_set", "method", "metric")] == [
        *("nb", "ecoli", "all_pairs_dgg_enir", "LL"),
    ]
    one_vs_rest, all_pairs = by_fold(losses, "ecoli")
    assert float(row["one_vs_rest"]) == pytest.approx(one_vs_rest.mean(), rel=1e-5)
    assert float(row["difference"]) == pytest.approx((all_pairs - one_vs_rest).mean(), rel=1e-4)
    p_value = stats.ttest_rel(all_pairs, one_vs_rest).pvalue
    assert float(row["paired_p"]) == pytest.approx(p_value, rel=1e-4)
    assert float(row["paired_holm_p"]) >= float(row["paired_p"])
    assert float(row["corrected_p"]) > float(row["paired_p"])
