from dataclasses import replace

import numpy as np
import pytest

from experiments.paper.effects import count_effects, effects_data, effects_table
from experiments.paper.losses import Measures

SHARPNESS = {"one_vs_rest_dgg_enir": 0.8, "all_pairs_dgg_enir": 0.2}


def counts(measures):
    return {
        (one.scenario, one.class_group, one.effect): one.count
        for one in count_effects(measures, "paired")
        if one.count
    }


def test_effects_stand_beside_the_published_ones_in_the_layout_of_the_paper(make_runs):
    runs = make_runs(SHARPNESS) + make_runs(data_set="pendigits", n_classes=10)
    table = effects_table(Measures(runs, "published"), "paired")
    assert table.spans == [("", 2), ("low number of classes", 3), ("high number of classes", 3)]
    text = [[f"{cell.text} ({cell.beside})" for cell in row[2:]] for row in table.rows]
    assert [[cell.text for cell in row[:2]] for row in table.rows] == [
        ["naive Bayes", "one-vs-rest DGG+ENIR"],
        ["naive Bayes", "all pairs DGG+ENIR"],
    ]
    assert text == [
        ["1 (6)", "0 (2)", "0 (0)", "0 (4)", "1 (0)", "0 (0)"],
        ["0 (5)", "0 (3)", "1 (0)", "0 (2)", "1 (1)", "0 (1)"],
    ]


def test_all_pairs_as_published_are_counted_apart(make_runs):
    runs = make_runs({"all_pairs_dgg_enir_as_published": 0.2}, protocol="as-published")
    found = counts(Measures(runs, "published"))
    assert found["all_pairs_dgg_enir_as_published", "low", "impaired"] == 1
    assert found["all_pairs_dgg_enir", "low", "neutral"] == 1


def test_what_cannot_be_compared_is_not_neutral(make_runs):
    runs = [
        replace(run, proba=run.proba * np.nan) if run.scenario == "all_pairs_dgg_enir" else run
        for run in make_runs(SHARPNESS)
    ]
    found = counts(Measures(runs, "published"))
    assert found == {("one_vs_rest_dgg_enir", "low", "improved"): 1}


def test_unfinished_data_sets_are_left_out_and_named(make_runs):
    runs = make_runs(SHARPNESS) + make_runs(SHARPNESS, data_set="ecoli", n_classes=4, folds=9)
    measures = Measures(runs, "published")
    assert sum(counts(measures).values()) == 2
    note = effects_table(measures, "paired").note
    assert "Data sets: 1 of naive Bayes." in note
    assert "Left out, not finished: naive Bayes on ecoli (9 of 10 folds)." in note


def test_a_classifier_without_a_finished_data_set_has_no_row(make_runs):
    runs = make_runs() + make_runs(classifier="rf", folds=1)
    table = effects_table(Measures(runs, "published"), "paired")
    assert {row[0].text for row in table.rows} == {"naive Bayes"}
    assert "random forest on seeds (1 of 10 folds)" in table.note


def test_runs_without_a_finished_data_set_are_refused(make_runs):
    with pytest.raises(ValueError, match=r"Got naive Bayes on seeds \(2 of 10 folds\)\. Go on"):
        effects_table(Measures(make_runs(folds=2), "published"), "paired")


def test_effects_as_data_have_one_count_a_row(make_runs):
    table = effects_data(Measures(make_runs(SHARPNESS), "published"), "paired")
    rows = [[cell.text for cell in row] for row in table.rows]
    assert len(rows) == 2 * 2 * 3
    assert rows[0] == ["nb", "one_vs_rest_dgg_enir", "low", "improved", "1", "6"]
