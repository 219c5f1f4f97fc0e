import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from calibrant.metrics import published_mse
from experiments.experiment import TableOptions
from experiments.paper.methods import METHODS
from experiments.paper.results import make_results_tables
from experiments.rendering import render
from experiments.store import Case

SHARPNESS = {"one_vs_rest_dgg_enir": 0.8, "all_pairs_dgg_enir": 0.2}


def make_table(losses, test="paired"):
    (table,) = make_results_tables(losses, TableOptions(test=test))
    return table


def by_column(table, row):
    return dict(zip(table.names, row, strict=True))


def read_data(losses):
    (table,) = make_results_tables(losses, TableOptions(as_data=True))
    rows = csv.DictReader(io.StringIO(render(table, "csv")))
    return {(row["method"], row["metric"]): row for row in rows}


def test_results_are_means_of_folds_with_marks(make_paper_runs, paper_losses):
    runs = make_paper_runs(SHARPNESS)
    table = make_table(paper_losses(runs), "welch")
    assert table.names[:3] == ["data set", "multi-class raw MSE", "multi-class raw LL"]
    (row,) = table.rows
    cells = by_column(table, row)
    own = [run for run in runs if run.method == "one_vs_rest_dgg_enir"]
    mean = np.mean([published_mse(run.y_true, run.proba) for run in own])
    best = cells["one-vs-rest DGG+ENIR MSE"]
    assert (best.text, best.reference) == (f"{mean:.3f}", "0.046")
    assert best.bold
    assert best.underline
    assert not cells["multi-class raw MSE"].underline
    assert not cells["one-vs-rest raw LL"].underline
    assert cells["all pairs DGG+ENIR LL"].underline
    assert not cells["all pairs DGG+ENIR LL"].bold


def test_each_classifier_has_a_table_in_the_layout_of_the_paper(make_paper_runs, paper_losses):
    runs = make_paper_runs() + make_paper_runs(classifier="rf", data_set="ecoli", n_classes=4)
    tables = make_results_tables(paper_losses(runs), TableOptions())
    assert [table.title.split(" of ")[1] for table in tables] == ["naive Bayes", "random forest"]
    assert [[row[0].text for row in table.rows] for table in tables] == [["Seeds"], ["Ecoli"]]
    titles = [
        "multi-class raw",
        "one-vs-rest raw",
        "one-vs-rest DGG+ENIR",
        "all pairs raw",
        "all pairs DGG+ENIR",
    ]
    assert tables[0].spans == [("", 1), *((title, 2) for title in titles)]


def test_metrics_by_the_equations_have_no_published_value(make_paper_runs, paper_losses):
    table = make_table(paper_losses(make_paper_runs(), "equations"))
    assert not any(cell.reference for cell in table.rows[0])


def test_a_loss_of_zero_is_best(make_paper_runs, paper_losses):
    table = make_table(paper_losses(make_paper_runs({"all_pairs_raw": 1.0})))
    cell = by_column(table, table.rows[0])["all pairs raw MSE"]
    assert cell.text == "0.000"
    assert cell.bold


def test_a_method_without_values_is_a_dash_and_never_best(make_paper_runs, paper_losses):
    losses = paper_losses(
        [
            replace(run, proba=run.proba * np.nan) if run.method == "all_pairs_raw" else run
            for run in make_paper_runs()
        ]
    )
    table = make_table(losses)
    cell = by_column(table, table.rows[0])["all pairs raw LL"]
    assert (cell.text, cell.bold, cell.underline) == ("-", False, False)
    assert sum(cell.bold for cell in table.rows[0]) >= 2
    assert read_data(losses)["all_pairs_raw", "LL"]["value"] == ""


def test_an_unfinished_data_set_is_named_and_has_no_marks(make_paper_runs, paper_losses):
    runs = make_paper_runs(SHARPNESS, folds=2) + make_paper_runs(SHARPNESS, data_set="ecoli")
    table = make_table(paper_losses(runs))
    ecoli, seeds = table.rows
    assert ecoli[0].text == "Ecoli"
    assert seeds[0].text == "Seeds, 2 of 10 folds"
    assert any(cell.bold and cell.underline for cell in ecoli)
    assert not any(cell.bold or cell.underline for cell in seeds)
    assert "unfinished" in table.note


def test_a_finished_table_does_not_mention_unfinished_data_sets(make_paper_runs, paper_losses):
    assert "unfinished" not in make_table(paper_losses(make_paper_runs())).note


def test_as_data_each_number_has_a_row(make_paper_runs, paper_losses):
    runs = make_paper_runs(SHARPNESS)
    losses = paper_losses(runs)
    rows = read_data(losses)
    assert len(rows) == 5 * 2
    row = rows["one_vs_rest_dgg_enir", "MSE"]
    mean = losses.mean(Case("nb", "seeds"), METHODS["one_vs_rest_dgg_enir"], "MSE")
    assert float(row["value"]) == pytest.approx(mean, rel=1e-5)
    assert list(row)[:8] == [
        *("classifier", "data_set", "method", "metric"),
        *("value", "published", "best", "significant"),
    ]
    assert (row["published"], row["best"], row["significant"]) == ("0.046", "1", "1")
    assert rows["multiclass_raw", "MSE"]["significant"] == "0"
    assert read_data(paper_losses(runs, "equations"))["multiclass_raw", "LL"]["published"] == ""
