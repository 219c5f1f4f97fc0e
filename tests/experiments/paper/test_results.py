import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from calibrant.metrics import published_mse
from experiments.paper.losses import Measures
from experiments.paper.results import results_data, results_tables
from experiments.rendering import render

SHARPNESS = {"one_vs_rest_dgg_enir": 0.8, "all_pairs_dgg_enir": 0.2}


def by_column(table, row):
    return dict(zip(table.names, row, strict=True))


def read_data(measures):
    rows = csv.DictReader(io.StringIO(render(results_data(measures, "paired"), "csv")))
    return {(row["scenario"], row["metric"]): row for row in rows}


def test_results_are_means_over_folds_with_best_and_significant_marked(make_runs):
    runs = make_runs(SHARPNESS)
    (table,) = results_tables(Measures(runs, "published"), "welch")
    assert table.names[:3] == ["data set", "multi-class raw MSE", "multi-class raw LL"]
    (row,) = table.rows
    cells = by_column(table, row)
    own = [run for run in runs if run.scenario == "one_vs_rest_dgg_enir"]
    mean = np.mean([published_mse(run.true, run.proba) for run in own])
    best = cells["one-vs-rest DGG+ENIR MSE"]
    assert (best.text, best.beside) == (f"{mean:.3f}", "0.046")
    assert best.bold
    assert best.underline
    assert not cells["multi-class raw MSE"].underline
    assert not cells["one-vs-rest raw LL"].underline
    assert cells["all pairs DGG+ENIR LL"].underline
    assert not cells["all pairs DGG+ENIR LL"].bold


def test_each_classifier_has_a_table_in_the_layout_of_the_paper(make_runs):
    runs = make_runs() + make_runs(classifier="rf", data_set="ecoli", n_classes=4)
    tables = results_tables(Measures(runs, "published"), "paired")
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


def test_equations_have_no_published_value(make_runs):
    (table,) = results_tables(Measures(make_runs(), "equations"), "corrected")
    assert not any(cell.beside for cell in table.rows[0])


def test_a_loss_of_zero_is_best(make_runs):
    (table,) = results_tables(Measures(make_runs({"all_pairs_raw": 1.0}), "published"), "paired")
    cell = by_column(table, table.rows[0])["all pairs raw MSE"]
    assert cell.text == "0.000"
    assert cell.bold


def test_a_scenario_without_numbers_is_a_dash_and_never_best(make_runs):
    runs = [
        replace(run, proba=run.proba * np.nan) if run.scenario == "all_pairs_raw" else run
        for run in make_runs()
    ]
    measures = Measures(runs, "published")
    (table,) = results_tables(measures, "paired")
    cell = by_column(table, table.rows[0])["all pairs raw LL"]
    assert (cell.text, cell.bold, cell.underline) == ("-", False, False)
    assert sum(cell.bold for cell in table.rows[0]) >= 2
    assert read_data(measures)["all_pairs_raw", "LL"]["value"] == ""


def test_an_unfinished_data_set_says_so_and_bears_no_marks(make_runs):
    runs = make_runs(SHARPNESS, folds=2) + make_runs(SHARPNESS, data_set="ecoli")
    (table,) = results_tables(Measures(runs, "published"), "paired")
    ecoli, seeds = table.rows
    assert ecoli[0].text == "Ecoli"
    assert seeds[0].text == "Seeds, 2 of 10 folds"
    assert any(cell.bold and cell.underline for cell in ecoli)
    assert not any(cell.bold or cell.underline for cell in seeds)
    assert "fewer folds are not finished" in table.note


def test_finished_tables_say_nothing_of_unfinished_ones(make_runs):
    (table,) = results_tables(Measures(make_runs(), "published"), "paired")
    assert "finished" not in table.note


def test_results_as_data_have_one_number_a_row(make_runs):
    runs = make_runs(SHARPNESS)
    measures = Measures(runs, "published")
    rows = read_data(measures)
    assert len(rows) == 5 * 2
    row = rows["one_vs_rest_dgg_enir", "MSE"]
    mean = measures.mean("nb", "seeds", "one_vs_rest_dgg_enir", "MSE")
    assert float(row["value"]) == pytest.approx(mean, rel=1e-5)
    assert list(row)[:8] == [
        *("classifier", "data_set", "scenario", "metric"),
        *("value", "published", "best", "significant"),
    ]
    assert (row["published"], row["best"], row["significant"]) == ("0.046", "1", "1")
    assert rows["multiclass_raw", "MSE"]["significant"] == "0"
    assert read_data(Measures(runs, "equations"))["multiclass_raw", "LL"]["published"] == ""
