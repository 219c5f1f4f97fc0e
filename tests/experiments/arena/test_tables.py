import numpy as np
import pytest

from experiments.arena.losses import compute_losses
from experiments.arena.tables import (
    SVC_REPLACEMENTS,
    make_classifiers_table,
    make_harm_table,
    make_harmed_table,
    make_losses_table,
    make_methods_table,
    make_sizes_table,
    make_splits_tables,
    make_svc_table,
)
from experiments.rendering import render


@pytest.fixture
def make_arena_run(make_run):
    """Make a run on four rows whose true class has one probability; None is a failure."""

    def make(method, data_set, fold, certainty, **fields):
        failed = certainty is None
        proba = np.empty((0, 2))
        if not failed:
            proba = np.column_stack([np.full(4, certainty), np.full(4, 1 - certainty)])
        return make_run(
            experiment="arena",
            data_set=data_set,
            method=method,
            fold=fold,
            n_folds=3,
            model_seconds=1.0,
            calibration_seconds=None if method == "raw" else 2.0,
            y_true=np.zeros(4, dtype=int),
            proba=proba,
            error="failed" if failed else None,
            **fields,
        )

    return make


@pytest.fixture
def losses(make_arena_run):
    """Auto is better than raw on one set and slightly worse on the other; SMS fails once."""
    runs = []
    for fold, shift in enumerate((0.0, 0.01, -0.01)):
        for data_set, certainties in (
            ("ecoli", {"raw": 0.5, "auto": 0.8, "probmetrics SMS": 0.7}),
            ("seeds", {"raw": 0.9, "auto": 0.899, "probmetrics SMS": None}),
        ):
            runs += [
                make_arena_run(
                    method, data_set, fold, None if certainty is None else certainty + shift
                )
                for method, certainty in certainties.items()
            ]
    return compute_losses(runs, None)


def cells(table):
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_methods_have_their_losses_ranks_harm_and_failures(losses):
    rows = cells(make_methods_table(losses, "arena"))
    loss = -np.mean([np.log([0.8, 0.81, 0.79]), np.log([0.899, 0.909, 0.889])])
    assert rows["auto"][0] == f"{loss:.4f}"
    # Ranks: auto is first and second, raw third and first, SMS second and last, having failed.
    assert [rows[name][2] for name in ("auto", "raw", "probmetrics SMS")] == ["1.5", "2.0", "2.5"]
    # log 0.899 / log 0.9 is 1.0105: harm above 0.5% but not above 2%.
    assert rows["auto"][3:5] == ["50%", "0%"]
    assert rows["auto"][5:7] == ["1", "1"]
    assert rows["probmetrics SMS"][-1] == "1"
    assert rows["auto"][-2:] == ["3.00", "0"]


def test_a_method_that_failed_is_not_the_best(losses):
    table = make_methods_table(losses, "arena")
    marked = {row[0].text: [cell.bold for cell in row[1:4]] for row in table.rows}
    assert marked["auto"] == [True, True, True]
    assert not any(marked["probmetrics SMS"])


def test_classifiers_have_an_oracle_of_the_peers(losses):
    row = cells(make_classifiers_table(losses, "arena"))["naive Bayes"]
    oracle = -np.mean([np.log([0.7, 0.71, 0.69]), np.log([0.9, 0.91, 0.89])])
    assert row[-1] == f"{oracle:.4f}"
    assert row[2] == "-"  # the only peer failed on one of the sets


def test_the_best_peer_is_named(make_arena_run):
    certainties = {"raw": 0.5, "auto": 0.8, "probmetrics SMS": 0.7, "netcal BBQ": 0.6}
    runs = [
        make_arena_run(method, "ecoli", fold, certainty)
        for fold in range(2)
        for method, certainty in certainties.items()
    ]
    table = make_classifiers_table(compute_losses(runs, None), "arena")
    best = table.rows[0][3]
    assert (best.text, best.reference) == (f"{-np.log(0.7):.4f}", "probmetrics SMS")
    assert "best single peer,best single peer name," in render(table, "csv")


@pytest.fixture
def two_classifiers(make_arena_run):
    """Losses of naive Bayes and of the support vector machine, which has a further peer."""
    certainties = {"raw": 0.5, "auto": 0.8, "probmetrics SMS": 0.7}
    further = {"scikit-learn SVC(probability=True)": 0.9}
    runs = [
        make_arena_run(method, "ecoli", fold, certainty, classifier=classifier)
        for classifier, of_classifier in (("nb", certainties), ("svm", certainties | further))
        for method, certainty in of_classifier.items()
        for fold in range(2)
    ]
    return compute_losses(runs, None)


def test_a_method_of_one_classifier_is_not_compared_over_all(two_classifiers):
    rows = cells(make_methods_table(two_classifiers, "arena"))
    assert list(rows) == ["auto", "probmetrics SMS", "raw"]
    assert [row[2] for row in rows.values()] == ["1.0", "2.0", "3.0"]


def test_a_method_of_one_classifier_is_its_peer(two_classifiers):
    table = make_classifiers_table(two_classifiers, "arena")
    best = {row[0].text: row[3].reference for row in table.rows}
    assert best == {
        "naive Bayes": "probmetrics SMS",
        "support vector machine": "scikit-learn SVC(probability=True)",
        "all": "probmetrics SMS",
    }
    oracle = cells(table)["all"][-1]
    assert oracle == f"{-np.mean(np.log([0.7, 0.9])):.4f}"


def test_the_methods_table_says_which_versions_were_run(make_arena_run):
    def note(*versions):
        runs = [
            make_arena_run("raw", "ecoli", fold, 0.5, versions={"calibrant": version, "numpy": "2"})
            for fold, version in enumerate(versions)
        ]
        return make_methods_table(compute_losses(runs, None), "arena").note

    assert note("0.1", "0.1").endswith("Versions: calibrant 0.1, numpy 2.")
    assert "Versions: calibrant 0.1 and 0.2, numpy 2. The runs come from" in note("0.1", "0.2")


def test_harm_is_counted_by_experiment(losses, make_arena_run):
    better = [
        make_arena_run(method, "ecoli", fold, certainty + 0.01 * fold)
        for fold in range(3)
        for method, certainty in {"raw": 0.5, "auto": 0.6, "netcal BBQ": 0.4}.items()
    ]
    table = make_harm_table({"arena": losses, "arena-50": compute_losses(better, 50)})
    rows = cells(table)
    # Seeds is harmed by 1.05%, beyond chance; the only peer of these runs failed on it.
    assert rows["arena"] == ["2", "1", "0", "1", "1.05%", "-"]
    assert table.rows[0][5].reference == "naive Bayes, seeds"
    assert rows["arena-50"] == ["1", "0", "0", "0", "-", "1"]
    assert table.rows[1][6].reference == "netcal BBQ"


@pytest.fixture
def splits_losses(make_arena_run):
    """Twice the log loss of the default with ten folds, and half of it with two."""
    certainties = {
        "raw": 0.5,
        "4 resampled folds, 20 fits": 0.64,
        "10 folds, 20 fits": 0.64**2,
        "2 folds, 20 fits": 0.8,
    }
    runs = [
        make_arena_run(method, data_set, 0, certainty**power, classifier=classifier)
        for data_set, power in (("ecoli", 1), ("seeds", 2))
        for classifier in ("nb", "svm")
        for method, certainty in certainties.items()
    ]
    return compute_losses(runs, 50)


def test_replacements_of_svc_have_their_losses_with_that_classifier(make_arena_run):
    certainties = dict(zip(SVC_REPLACEMENTS, (0.9, 0.8, 0.7, 0.6, 0.55, 0.5), strict=True))
    runs = [
        make_arena_run(method, "ecoli", 0, certainty, classifier="svm")
        for method, certainty in certainties.items()
    ]
    runs += [make_arena_run(method, "ecoli", 0, 0.99, classifier="nb") for method in certainties]
    table = make_svc_table({"arena": compute_losses(runs, None)})
    assert [row[1].text for row in table.rows] == [
        f"{-np.log(p):.4f}" for p in certainties.values()
    ]
    assert [row[1].bold for row in table.rows] == [True, False, False, False, False, False]


def test_sizes_have_auto_and_the_oracle_of_every_experiment(losses, make_arena_run):
    certain = [
        make_arena_run(method, "ecoli", fold, certainty)
        for fold in range(3)
        for method, certainty in {"raw": 0.5, "auto": 0.6, "probmetrics SMS": 0.7}.items()
    ]
    table = make_sizes_table({"arena": losses, "arena-50": compute_losses(certain, 50)})
    # The oracle of the first experiment takes SMS on one data set and raw on the other.
    oracle = -np.mean([np.log([0.7, 0.71, 0.69]), np.log([0.9, 0.91, 0.89])])
    auto = -np.mean([np.log([0.8, 0.81, 0.79]), np.log([0.899, 0.909, 0.889])])
    expected = [f"{loss:.4f}" for loss in (auto, oracle, -np.log(0.6), -np.log(0.7))]
    assert cells(table) == {"naive Bayes": expected, "all": expected}
    assert [cell.bold for cell in table.rows[0][1:]] == [True, False, False, True]


def test_splits_are_compared_with_the_default(splits_losses):
    (table,) = make_splits_tables({"splits-50": splits_losses})
    assert table.header[:4] == ["splits", "nb", "svm", "all"]
    rows = cells(table)
    assert list(rows) == [
        "2 folds, 20 fits",
        "4 resampled folds, 20 fits",
        "raw",
        "10 folds, 20 fits",
    ]
    assert rows["2 folds, 20 fits"] == ["-50.0%"] * 3 + ["0%", "0%", "1.00"]
    assert rows["4 resampled folds, 20 fits"] == ["+0.0%"] * 3 + ["0%", "0%", "1.00"]
    assert rows["10 folds, 20 fits"] == ["+100.0%"] * 3 + ["100%", "100%", "1.00"]
    assert rows["raw"][-1] == "0.33"


def test_experiments_with_splits_are_compared_together_and_one_by_one(splits_losses):
    both = {"splits-50": splits_losses, "splits-100": splits_losses}
    pooled, *parts = make_splits_tables(both)
    assert pooled.header[:6] == ["splits", "splits-50", "splits-100", "nb", "svm", "all"]
    assert "Cases: 8." in pooled.note
    assert [part.title for part in parts] == list(both)
    assert cells(parts[0]) == cells(make_splits_tables({"splits-50": splits_losses})[0])


def test_harmed_cases_are_named(losses):
    rows = cells(make_harmed_table(losses, "arena"))
    assert list(rows) == ["naive Bayes, seeds"]
    assert rows["naive Bayes, seeds"][-1] == "+1.1%"


def test_tables_about_the_default_require_its_runs(make_arena_run):
    losses = compute_losses([make_arena_run("raw", "ecoli", 0, 0.5)], None)
    for make in (
        lambda: make_classifiers_table(losses, "arena"),
        lambda: make_harmed_table(losses, "arena"),
        lambda: make_harm_table({"arena": losses}),
        lambda: make_sizes_table({"arena": losses}),
    ):
        with pytest.raises(ValueError, match=r"runs of the method 'auto', got runs of raw"):
            make()


def test_every_run_has_its_losses_and_no_other(losses, make_arena_run):
    table = make_losses_table(losses, "arena")
    assert len(table.rows) == 2 * 3 * 3
    assert [cell.text for cell in table.rows[0][:4]] == ["nb", "ecoli", "raw", "0"]
    assert float(table.rows[0][4].text) == pytest.approx(-np.log(0.5), rel=1e-4)
    runs = [make_arena_run("raw", name, 0, 0.5) for name in ("ecoli", "seeds")]
    runs.append(make_arena_run("auto", "ecoli", 0, 0.5))
    assert len(make_losses_table(compute_losses(runs, None), "arena").rows) == 3
