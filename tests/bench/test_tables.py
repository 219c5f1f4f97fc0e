import csv
import io

import numpy as np
import pytest

from calibrant.bench.measures import published_value
from calibrant.bench.render import Cell, Table, render
from calibrant.bench.store import Run
from calibrant.bench.tables import (
    data_sets_table,
    effects_table,
    folds_table,
    results_tables,
    times_table,
)
from calibrant.metrics import published_log_loss, published_mse


def make_runs(sharpness):
    """Ten folds of Seeds in several scenarios, each with a given sharpness of the truth."""
    rng = np.random.default_rng(0)
    runs = []
    for fold in range(10):
        true = rng.integers(0, 3, size=60)
        for scenario, share in sharpness.items():
            noise = rng.dirichlet(np.ones(3), size=60)
            runs.append(
                Run(
                    protocol="proper",
                    data_set="seeds",
                    classifier="nb",
                    scenario=scenario,
                    fold=fold,
                    n_folds=10,
                    seed=0,
                    implementation="sklearn",
                    versions={},
                    n_problems=1 if scenario == "multiclass_raw" else 3,
                    model_seconds=0.3,
                    calibration_seconds=6.0 if "enir" in scenario else None,
                    true=true,
                    proba=share * np.eye(3)[true] + (1 - share) * noise,
                )
            )
    return runs


RUNS = make_runs(
    {
        "multiclass_raw": 0.5,
        "one_vs_rest_raw": 0.5,
        "one_vs_rest_dgg_enir": 0.8,
        "all_pairs_dgg_enir": 0.2,
    }
)


def test_results_are_means_over_folds_with_best_and_significant_marked():
    (table,) = results_tables(RUNS, "published", "welch")
    assert table.header[:3] == ["data set", "multi-class raw MSE", "multi-class raw LL"]
    (row,) = table.rows
    cells = dict(zip(table.header, row, strict=True))
    own = [run for run in RUNS if run.scenario == "one_vs_rest_dgg_enir"]
    mean = np.mean([published_mse(run.true, run.proba) for run in own])
    best = cells["one-vs-rest DGG+ENIR MSE"]
    assert best == Cell(f"{mean:.3f} (0.046)", bold=True, underline=True)
    assert not cells["multi-class raw MSE"].underline
    assert not cells["one-vs-rest raw LL"].underline
    assert cells["all pairs DGG+ENIR LL"].underline
    assert not cells["all pairs DGG+ENIR LL"].bold


def test_equations_have_no_published_value():
    (table,) = results_tables(RUNS, "equations", "corrected")
    assert all("(" not in cell.text for cell in table.rows[0])


def test_effects_are_counted_beside_the_published_ones():
    table = effects_table(RUNS, "paired")
    text = [[cell.text for cell in row] for row in table.rows]
    assert text == [
        ["naive Bayes, one-vs-rest DGG+ENIR", "low", "1 (6)", "0 (2)", "0 (0)"],
        ["naive Bayes, all pairs DGG+ENIR", "low", "0 (5)", "0 (3)", "1 (0)"],
    ]


def test_times_are_per_binary_problem():
    table = times_table(RUNS)
    text = [[cell.text for cell in row] for row in table.rows]
    assert text[0] == ["naive Bayes, multiclass", "0.3000 (0.009)", "-", "sklearn"]
    assert text[1] == ["naive Bayes, one vs rest", "0.1000 (0.052)", "2.000 (4.36)", "sklearn"]
    # Ten folds of 0.3 s alone, and of twice (0.3 s + 0.3 s + 6 s).
    assert table.note.endswith(
        f"All fits together: {10 * (0.3 + 2 * 6.6) / 3600:.2f} hours of one core."
    )


def test_folds_hold_both_forms_of_the_metrics():
    table = folds_table(RUNS[:1])
    row = dict(zip(table.header, [cell.text for cell in table.rows[0]], strict=True))
    run = RUNS[0]
    assert float(row["published_LL"]) == pytest.approx(
        published_log_loss(run.true, run.proba), rel=1e-5
    )
    assert float(row["equations_MSE"]) == pytest.approx(3 * float(row["published_MSE"]), rel=1e-4)


def test_rows_that_are_no_probabilities_have_only_published_metrics():
    import dataclasses

    improper = dataclasses.replace(RUNS[0], proba=RUNS[0].proba * 3 - 2 / 3)
    table = folds_table([improper])
    row = dict(zip(table.header, [cell.text for cell in table.rows[0]], strict=True))
    assert row["equations_LL"] == "nan"
    assert np.isfinite(float(row["published_LL"]))


def test_published_values_and_dashes():
    assert published_value("nb", "seeds", "all_pairs_raw_as_published", "LL").value == 0.848
    assert published_value("nb", "steel", "all_pairs_raw", "MSE").value is None
    assert published_value("rf", "pendigits", "one_vs_rest_dgg_enir", "LL").is_significant


def test_data_sets_table_has_the_counts_and_the_problems(paper_data):
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in data_sets_table().rows}
    assert rows["Development"] == ["225", "4", "13", "89", "4", "6"]
    assert rows["Pendigits"] == ["10992", "10", "1055", "1144", "10", "45"]
    assert len(rows) == 12


TABLE = Table(
    "A & B", ["name", "x_1"], [[Cell("50 %"), Cell("0.1", bold=True, underline=True)]], "Note."
)


def test_text():
    text = render(TABLE, "text")
    assert "0.1*_" in text
    assert text.startswith("A & B\n")


def test_markdown():
    assert "| 50 % | <u>**0.1**</u> |" in render(TABLE, "markdown")


def test_latex():
    latex = render(TABLE, "latex")
    assert "50 \\% & \\textbf{\\underline{0.1}} \\\\" in latex
    assert "A \\& B" in latex
    assert "x\\_1" in latex
    assert latex.count("{") == latex.count("}")


def test_csv_reads_back():
    assert list(csv.reader(io.StringIO(render(TABLE, "csv")))) == [["name", "x_1"], ["50 %", "0.1"]]
