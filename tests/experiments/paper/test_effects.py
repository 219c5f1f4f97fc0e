from dataclasses import replace

import numpy as np
import pytest

from experiments.experiment import TableOptions
from experiments.paper.effects import count_effects, make_effects_tables

SHARPNESS = {"one_vs_rest_dgg_enir": 0.8, "all_pairs_dgg_enir": 0.2}


def counts(losses):
    return {
        (one.method, one.class_group, one.effect): one.count
        for one in count_effects(losses, "paired")
        if one.count
    }


def make_table(losses):
    (table,) = make_effects_tables(losses, TableOptions())
    return table


def test_counts_are_next_to_the_published_ones_in_the_layout_of_the_paper(
    make_paper_runs, paper_losses
):
    runs = make_paper_runs(SHARPNESS) + make_paper_runs(data_set="pendigits", n_classes=10)
    table = make_table(paper_losses(runs))
    assert table.spans == [("", 2), ("low number of classes", 3), ("high number of classes", 3)]
    assert [[cell.text for cell in row[:2]] for row in table.rows] == [
        ["naive Bayes", "one-vs-rest DGG+ENIR"],
        ["naive Bayes", "all pairs DGG+ENIR"],
    ]
    assert [[f"{cell.text} ({cell.reference})" for cell in row[2:]] for row in table.rows] == [
        ["1 (6)", "0 (2)", "0 (0)", "0 (4)", "1 (0)", "0 (0)"],
        ["0 (5)", "0 (3)", "1 (0)", "0 (2)", "1 (1)", "0 (1)"],
    ]


def test_both_couplings_are_counted_separately(make_paper_runs, paper_losses):
    runs = make_paper_runs({"all_pairs_dgg_enir_as_published": 0.2}, experiment="as-published")
    found = counts(paper_losses(runs))
    assert found["all_pairs_dgg_enir_as_published", "low", "impaired"] == 1
    assert found["all_pairs_dgg_enir", "low", "neutral"] == 1


def test_a_data_set_without_a_value_is_not_counted_as_neutral(make_paper_runs, paper_losses):
    runs = [
        replace(run, proba=run.proba * np.nan) if run.method == "all_pairs_dgg_enir" else run
        for run in make_paper_runs(SHARPNESS)
    ]
    assert counts(paper_losses(runs)) == {("one_vs_rest_dgg_enir", "low", "improved"): 1}


def test_unfinished_data_sets_are_omitted_and_named(make_paper_runs, paper_losses):
    runs = make_paper_runs(SHARPNESS)
    runs += make_paper_runs(SHARPNESS, data_set="ecoli", n_classes=4, folds=9)
    losses = paper_losses(runs)
    assert sum(counts(losses).values()) == 2
    note = make_table(losses).note
    assert "Data sets: 1 with naive Bayes." in note
    assert "Omitted because unfinished: naive Bayes on ecoli (9 of 10 folds)." in note


def test_a_classifier_without_a_finished_data_set_has_no_row(make_paper_runs, paper_losses):
    table = make_table(paper_losses(make_paper_runs() + make_paper_runs(classifier="rf", folds=1)))
    assert {row[0].text for row in table.rows} == {"naive Bayes"}
    assert "random forest on seeds (1 of 10 folds)" in table.note


def test_runs_without_a_finished_data_set_are_refused(make_paper_runs, paper_losses):
    losses = paper_losses(make_paper_runs(folds=2))
    with pytest.raises(ValueError, match=r"got naive Bayes on seeds \(2 of 10 folds\)\. Continue"):
        make_table(losses)


def test_as_data_each_count_has_a_row(make_paper_runs, paper_losses):
    losses = paper_losses(make_paper_runs(SHARPNESS))
    (table,) = make_effects_tables(losses, TableOptions(as_data=True))
    rows = [[cell.text for cell in row] for row in table.rows]
    assert len(rows) == 2 * 2 * 3
    assert rows[0] == ["nb", "one_vs_rest_dgg_enir", "low", "improved", "1", "6"]
