import csv
import io

import numpy as np
import pytest
from scipy import stats

from experiments.paper.approach_comparison import find_duels
from experiments.paper.approaches import approaches_data, approaches_tables, summary_table
from experiments.paper.losses import Measures
from experiments.rendering import render

# One-vs-rest is far better on Seeds, all pairs on Ecoli, and on Heart they are alike.
SHARPNESS = {
    "seeds": {"one_vs_rest_dgg_enir": 0.8},
    "ecoli": {"all_pairs_dgg_enir": 0.8},
    "heart": {},
}


@pytest.fixture
def runs(make_runs):
    return [
        run
        for seed, (data_set, sharpness) in enumerate(SHARPNESS.items())
        for run in make_runs(sharpness, data_set=data_set, protocol="as-published", seed=seed)
    ]


@pytest.fixture
def measures(runs):
    return Measures(runs, "published")


def losses(measures, data_set, metric="LL"):
    """Losses of one-vs-rest and of correctly coupled all pairs, by fold."""
    return [
        measures.by_fold("nb", data_set, scenario, metric)
        for scenario in ("one_vs_rest_dgg_enir", "all_pairs_dgg_enir")
    ]


def test_the_winner_has_the_lower_loss_and_a_significant_one(measures):
    winners = {
        duel.data_set: duel.winner("paired")
        for duel in find_duels(measures, ("paired",))
        if duel.all_pairs == "all_pairs_dgg_enir"
    }
    assert winners == {"seeds": "one-vs-rest", "ecoli": "all pairs", "heart": "even"}
    for data_set, winner in winners.items():
        one_vs_rest, all_pairs = losses(measures, data_set)
        assert (stats.ttest_rel(one_vs_rest, all_pairs).pvalue < 0.05) == (winner != "even")
        if winner != "even":
            assert (one_vs_rest.mean() < all_pairs.mean()) == (winner == "one-vs-rest")


def test_p_values_are_adjusted_over_the_data_sets(measures):
    duels = [
        duel for duel in find_duels(measures, ("paired",)) if duel.all_pairs == "all_pairs_dgg_enir"
    ]
    plain = [stats.ttest_rel(*losses(measures, duel.data_set)).pvalue for duel in duels]
    # Holm: the least p-value times 3, the next times 2, the greatest as it is, never falling.
    order = np.argsort(plain)
    expected = np.maximum.accumulate(np.array(plain)[order] * [3, 2, 1])
    adjusted = np.array([duel.adjusted["paired", "LL"].p_value for duel in duels])
    np.testing.assert_allclose(adjusted[order], np.minimum(expected, 1.0), rtol=1e-6)


def test_a_win_may_not_outlast_the_correction(make_runs):
    runs = [
        run
        for seed, data_set in enumerate(("seeds", "ecoli", "heart", "forest", "wholesale"))
        for run in make_runs(data_set=data_set, seed=seed)
    ]
    one_vs_rest = {
        run.fold: run.proba
        for run in runs
        if (run.data_set, run.scenario) == ("seeds", "one_vs_rest_dgg_enir")
    }
    for run in runs:
        if (run.data_set, run.scenario) == ("seeds", "all_pairs_dgg_enir"):
            # Better on every other fold: a t-statistic of about 3, hence a p-value of 0.015.
            share = 0.02 * (run.fold % 2)
            run.proba[:] = (1 - share) * one_vs_rest[run.fold] + share * np.eye(3)[run.true]
    (duel,) = (
        duel
        for duel in find_duels(Measures(runs, "published"), ("paired",))
        if duel.data_set == "seeds"
    )
    assert 0.05 / 5 < min(own.p_value for own in duel.comparisons.values()) < 0.05
    assert duel.winner("paired") == "all pairs"
    assert duel.winner("paired", adjusted=True) == "even"


def test_the_summary_counts_winners_beside_the_counts_of_the_paper(measures):
    table = summary_table(measures)
    rows = {
        tuple(cell.text for cell in row[:3]): [f"{cell.text} {cell.beside}" for cell in row[3:9]]
        for row in table.rows
    }
    assert len(rows) == 4
    plain = ["1 ", "1 ", "1 "]
    assert rows["naive Bayes", "correct", "paired"] == ["1 5", "1 6", "1 1", *plain]
    assert rows["naive Bayes", "correct", "corrected"] == [*plain, *plain]
    faulty = rows["naive Bayes", "as published", "paired"]
    # As published, all pairs are no better than the rest on Ecoli.
    assert faulty == ["1 5", "2 6", "0 1", "1 ", "2 ", "0 "]
    assert table.spans[1:] == [("better", 3), ("better after Holm", 3), ("Wilcoxon p", 2)]


def test_the_summary_has_wilcoxons_test_over_the_data_sets(measures):
    (row, *_) = summary_table(measures).rows
    means = np.array([[own.mean() for own in losses(measures, name)] for name in SHARPNESS])
    assert row[-1].text == f"{stats.wilcoxon(*means.T).pvalue:.3f}"


@pytest.mark.parametrize(
    ("protocol", "form"), [("proper", "published"), ("as-published", "equations")]
)
def test_only_the_published_experiment_stands_beside_the_paper(protocol, form, make_runs):
    table = summary_table(Measures(make_runs(protocol=protocol), form))
    assert not any(cell.beside for row in table.rows for cell in row)
    assert "brackets" not in table.note


def test_each_data_set_has_both_approaches_and_their_difference(measures):
    first, *_ = approaches_tables(measures, "paired")
    assert first.names == [
        "data set",
        *("one-vs-rest DGG+ENIR MSE", "one-vs-rest DGG+ENIR LL"),
        *("all pairs DGG+ENIR MSE", "all pairs DGG+ENIR LL"),
        *("difference MSE", "difference LL", "difference better"),
        *("all pairs DGG+ENIR as published MSE", "all pairs DGG+ENIR as published LL"),
        *(f"difference as published {name}" for name in ("MSE", "LL", "better")),
    ]
    cells = {row[0].text: dict(zip(first.names, row, strict=True)) for row in first.rows}
    one_vs_rest, all_pairs = losses(measures, "ecoli")
    own = cells["Ecoli"]["difference LL"]
    assert own.text == f"{all_pairs.mean() - one_vs_rest.mean():+.4f}"
    assert own.underline
    assert cells["Ecoli"]["all pairs DGG+ENIR LL"].bold
    assert cells["Ecoli"]["difference better"].text == "all pairs"
    assert not cells["Heart"]["difference LL"].underline


def test_an_approach_without_numbers_is_a_dash_and_not_counted(runs):
    improper = [
        run
        for run in runs
        if (run.scenario, run.data_set) == ("all_pairs_dgg_enir_as_published", "seeds")
    ]
    for run in improper:
        run.proba[0] = [-0.5, 0.5, 1.0]
    table, summary = approaches_tables(Measures(runs, "equations"), "paired")
    row = next(row for row in table.rows if row[0].text == "Seeds")
    assert [cell.text for cell in row[-5:]] == ["-"] * 5
    assert row[1].text != "-"
    counts = {row[1].text: sum(int(cell.text) for cell in row[3:6]) for row in summary.rows}
    assert counts == {"correct": 3, "as published": 2}


def test_unfinished_data_sets_are_left_out_and_named(runs, make_runs):
    more = make_runs(data_set="forest", protocol="as-published", folds=3)
    table, summary = approaches_tables(Measures(runs + more, "published"), "paired")
    assert [row[0].text for row in table.rows] == ["Ecoli", "Heart", "Seeds"]
    for each in (table, summary):
        assert "Left out, not finished: naive Bayes on forest (3 of 10 folds)." in each.note


def test_one_data_set_has_no_test_over_data_sets(make_runs):
    table = summary_table(Measures(make_runs(), "published"))
    assert [cell.text for cell in table.rows[0][-2:]] == ["-", "-"]


def test_approaches_as_data_have_the_p_values(measures):
    text = render(approaches_data(measures), "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 3 * 2 * 2
    row = rows[1]
    assert [row[key] for key in ("classifier", "data_set", "scenario", "metric")] == [
        *("nb", "ecoli", "all_pairs_dgg_enir", "LL"),
    ]
    one_vs_rest, all_pairs = losses(measures, "ecoli")
    assert float(row["one_vs_rest"]) == pytest.approx(one_vs_rest.mean(), rel=1e-5)
    assert float(row["difference"]) == pytest.approx((all_pairs - one_vs_rest).mean(), rel=1e-4)
    p_value = stats.ttest_rel(all_pairs, one_vs_rest).pvalue
    assert float(row["paired_p"]) == pytest.approx(p_value, rel=1e-4)
    assert float(row["paired_holm_p"]) >= float(row["paired_p"])
    assert float(row["corrected_p"]) > float(row["paired_p"])
