import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from experiments.arena import methods as arena
from experiments.arena.fit_cache import FitMemory, Remembering
from experiments.arena.tables import (
    arena_losses,
    classifiers_table,
    harmed_table,
    losses_table,
    methods_table,
)
from experiments.paper.experiment import PROTOCOLS
from experiments.rendering import render
from experiments.runner import SUITES, pending, run_suite, select_suite
from experiments.store import Run, Store
from experiments.tasks import Unit

FEW = {"raw": arena.METHODS["raw"], "auto": arena.METHODS["auto"]}


def test_a_remembered_classifier_gives_what_a_fresh_one_gives():
    X, y = make_waveform(80, random_state=0)
    X_new, _ = make_waveform(50, random_state=1)
    forest = RandomForestClassifier(10, random_state=0)
    remembering = Remembering(forest, FitMemory())
    for wrap in (
        lambda estimator: CalibratedClassifierCV(estimator, method="sigmoid", cv=3),
        lambda estimator: CalibratedClassifier(estimator, random_state=0),
    ):
        plain = wrap(clone(forest)).fit(X, y).predict_proba(X_new)
        for _ in range(2):
            remembered = wrap(remembering).fit(X, y).predict_proba(X_new)
            np.testing.assert_allclose(remembered, plain, rtol=0, atol=1e-12)


def test_the_memory_counts_the_seconds_it_saves_and_fits_once():
    X, y = make_waveform(80, random_state=0)
    memory = FitMemory()
    model = Remembering(GaussianNB(), memory)
    model.fit(X, y)
    assert memory.saved_seconds == 0
    clone(model).fit(X, y)
    assert len(memory.models) == 1
    assert memory.saved_seconds == next(iter(memory.models.values()))[1]
    model.fit(X[:50], y[:50])
    assert len(memory.models) == 2


def test_a_remembered_classifier_has_the_methods_of_its_own():
    assert hasattr(Remembering(LinearSVC(), FitMemory()), "decision_function")
    assert not hasattr(Remembering(LinearSVC(), FitMemory()), "predict_proba")
    assert not hasattr(Remembering(GaussianNB(), FitMemory()), "decision_function")


def failing(classifier, X, y, X_new, seed):
    raise RuntimeError("no such luck")


def lazy(classifier, X, y, X_new, seed):
    return np.full((len(X_new), len(np.unique(y))), np.nan)


def test_a_method_that_fails_is_a_row_that_says_so(paper_data, monkeypatch, tmp_path):
    monkeypatch.setattr(arena, "METHODS", FEW | {"failing": failing, "lazy": lazy})
    monkeypatch.setattr(arena, "PAPER_METHODS", {})
    runs = PROTOCOLS["arena"].run(Unit("arena", "seeds", "nb", "all", 0, 10))
    errors = {run.scenario: run.error for run in runs}
    assert errors["raw"] is None
    assert errors["auto"] is None
    assert errors["failing"] == "RuntimeError: no such luck"
    assert errors["lazy"] == "probabilities are missing or not finite"
    with Store(tmp_path / "store.sqlite") as store:
        store.add(runs)
        stored = store.runs("arena")
    assert {run.scenario: run.error for run in stored} == errors
    failed = next(run for run in stored if run.scenario == "failing")
    assert failed.proba.shape == (0, 3)


def test_the_arena_resumes_and_trains_on_as_many_rows_as_it_says(paper_data, monkeypatch, tmp_path):
    monkeypatch.setattr(arena, "METHODS", FEW)
    suite = select_suite("arena-50", ["seeds"], ["nb"], as_published=False)
    with Store(tmp_path / "store.sqlite") as store:
        run_suite(suite, store)
        assert pending(suite, store) == []
        runs = store.runs("arena-50")
    assert len(runs) == 2 * suite.n_folds
    # Seeds has 210 rows, of which 50 were trained on.
    assert {len(run.true) for run in runs} == {160}


def test_draws_differ_and_methods_of_a_draw_share_their_rows(paper_data, monkeypatch):
    monkeypatch.setattr(arena, "METHODS", FEW)
    first, second = (
        PROTOCOLS["arena-100"].run(Unit("arena-100", "seeds", "nb", "all", draw, 3))
        for draw in (0, 1)
    )
    np.testing.assert_array_equal(first[0].true, first[1].true)
    assert not np.array_equal(first[0].proba, second[0].proba)


def test_as_published_is_for_the_paper_alone():
    with pytest.raises(ValueError, match="Got suite arena"):
        select_suite("arena", None, None, as_published=True)
    assert set(SUITES["arena"].classifiers) == set(arena.ARENA_CLASSIFIERS)


def run_of(method, data_set, fold, certainty, error=None):
    """A run on four rows whose true class has the probability ``certainty`` in each."""
    proba = np.column_stack([np.full(4, certainty), np.full(4, 1 - certainty)])
    return Run(
        "arena", data_set, "nb", method, fold, 3, 0, "sklearn", {}, 1, 1.0,
        None if method == "raw" else 2.0, np.zeros(4, dtype=int),
        np.empty((0, 2)) if error else proba, error,
    )  # fmt: skip


@pytest.fixture
def made_up():
    """Auto is better than raw on one set and slightly worse on the other; SMS fails once."""
    runs = []
    for fold, wobble in enumerate((0.0, 0.01, -0.01)):
        for data_set, raw, auto, sms in (
            ("ecoli", 0.5 + wobble, 0.8 + wobble, 0.7 + wobble),
            ("seeds", 0.90 + wobble, 0.899 + wobble, None),
        ):
            runs.append(run_of("raw", data_set, fold, raw))
            runs.append(run_of("auto", data_set, fold, auto))
            runs.append(
                run_of("probmetrics SMS", data_set, fold, sms or 0, None if sms else "failed")
            )
    return arena_losses(runs)


def cells(table):
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_the_methods_table_counts_ranks_harm_and_failures(made_up):
    rows = cells(methods_table(made_up, "arena"))
    loss = -np.mean([np.log([0.8, 0.81, 0.79]), np.log([0.899, 0.909, 0.889])])
    assert rows["auto"][0] == f"{loss:.4f}"
    # Ranks: auto first and second, raw third and first, SMS second and third, having failed.
    assert [rows[name][2] for name in ("auto", "raw", "probmetrics SMS")] == ["1.5", "2.0", "2.5"]
    # log 0.899 / log 0.9 is 1.0105: harm above 0.5 % but not above 2 %.
    assert rows["auto"][3:5] == ["50%", "0%"]
    assert rows["auto"][5:7] == ["1", "1"]
    assert rows["probmetrics SMS"][-1] == "1"
    assert rows["auto"][-2:] == ["3.00", "0"]


def test_the_classifiers_table_has_an_oracle_of_the_peers(made_up):
    row = cells(classifiers_table(made_up, "arena"))["naive Bayes"]
    oracle = -np.mean([np.log([0.7, 0.71, 0.69]), np.log([0.9, 0.91, 0.89])])
    assert row[-1] == f"{oracle:.4f}"
    assert row[2] == "-"  # the only peer failed on one of the sets


def test_the_best_peer_is_named():
    runs = [
        run_of(method, "ecoli", fold, certainty)
        for fold in range(2)
        for method, certainty in (
            ("raw", 0.5),
            ("auto", 0.8),
            ("probmetrics SMS", 0.7),
            ("netcal BBQ", 0.6),
        )
    ]
    table = classifiers_table(arena_losses(runs), "arena")
    best = table.rows[0][3]
    assert (best.text, best.beside) == (f"{-np.log(0.7):.4f}", "probmetrics SMS")
    assert "best single peer,best single peer name," in render(table, "csv")


def test_harmed_rows_are_named(made_up):
    rows = cells(harmed_table(made_up, "arena"))
    assert list(rows) == ["naive Bayes, seeds"]
    assert rows["naive Bayes, seeds"][-1] == "+1.1%"


def test_every_loss_is_listed(made_up):
    table = losses_table(made_up, "arena")
    assert len(table.rows) == 2 * 3 * 3
    assert [cell.text for cell in table.rows[0][:4]] == ["nb", "ecoli", "raw", "0"]
    assert float(table.rows[0][4].text) == pytest.approx(-np.log(0.5), rel=1e-4)
