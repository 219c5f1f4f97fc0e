import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant._core import workers
from calibrant.datasets import make_waveform
from calibrant.metrics import log_loss
from calibrant.planning import learning_curve
from calibrant.planning.learning import fit_subsamples
from calibrant.report.cross_validation import EvaluationSettings

QUICK = {"n_folds": 3, "n_repeats": 1}


def bayes():
    return CalibratedClassifier(GaussianNB(), method="temperature", cv=3)


@pytest.fixture(scope="module")
def curve():
    return learning_curve(bayes(), *make_waveform(300, random_state=0), random_state=0)


def test_more_rows_lower_the_loss_and_the_extrapolation_is_right(curve):
    assert curve.sizes[0] < curve.sizes[-1] == 240
    assert curve.log_loss[0] > curve.log_loss[-1]
    X, y = make_waveform(7400, random_state=1)
    for each in curve.expected[:-1]:
        model = bayes().fit(X[: each.n_rows], y[: each.n_rows])
        assert each.log_loss.low < log_loss(y[2400:], model.predict_proba(X[2400:]))
        assert each.log_loss.high > log_loss(y[2400:], model.predict_proba(X[2400:]))
    assert [each.n_rows for each in curve.expected] == [300, 600, 1200, 2400]


def test_answers_are_sentences(curve):
    text = str(curve)
    assert text.startswith("To fit: ")
    assert "Twice as many rows as the pilot has would lower the log loss by about" in text
    assert curve.to_dict()["expected"][1]["n_rows"] == 600


def test_a_model_that_learns_nothing_has_enough_rows():
    X, y = make_waveform(200, random_state=0)
    model = CalibratedClassifier(DummyClassifier(), method=None)
    curve = learning_curve(model, X, y, **QUICK)
    assert curve.doubling_gain.estimate < 0.02
    assert "200 rows of the pilot are probably enough" in str(curve)


def test_the_number_of_jobs_changes_nothing(monkeypatch):
    X, y = make_waveform(90, random_state=0)
    monkeypatch.setattr(workers, "WORKER_START_SECONDS", -1.0)  # always start them
    first, second = (learning_curve(bayes(), X, y, n_jobs=n, **QUICK) for n in (1, 2))
    assert first == second
    assert first != learning_curve(bayes(), X, y, random_state=1, **QUICK)


@pytest.mark.parametrize("is_grouped", [False, True])
def test_parts_are_nested_and_have_all_classes_and_no_held_out_group(is_grouped, monkeypatch):
    y = np.repeat(["a", "b", "c"], [100, 17, 3])
    X = np.random.RandomState(0).standard_normal((120, 2))
    groups = np.arange(120) // 2 if is_grouped else None
    seen = {}

    def record(fit, number, split, seed):
        seen[number] = split
        return original(fit, number, split, seed)

    from calibrant.planning import learning

    original = learning.run_fit
    monkeypatch.setattr(learning, "run_fit", record)
    found = fit_subsamples(bayes(), X, y, EvaluationSettings(3, 1), groups=groups)
    n_sizes = len(found.sizes)
    for number, (train, test) in seen.items():
        assert set(y[train]) == {"a", "b", "c"}
        assert not set(train) & set(test)
        if is_grouped:
            assert not set(groups[train]) & set(groups[test])
        else:
            assert np.mean(y[train] == "a") == pytest.approx(100 / 120, abs=0.1)
        if number % n_sizes:
            assert set(seen[number - 1][0]) < set(train)


def test_held_out_predictions_are_those_of_the_largest_parts():
    X, y = make_waveform(90, random_state=0)
    found = fit_subsamples(bayes(), X, y, EvaluationSettings(3, 2))
    assert found.calibrated.shape == (90, 3)
    assert found.loss.shape == (90, 5)
    np.testing.assert_allclose(found.calibrated.sum(axis=1), 1.0)
    once = fit_subsamples(bayes(), X, y, EvaluationSettings(3, 1))
    expected = -np.log(once.calibrated[np.arange(90), y])
    np.testing.assert_allclose(once.loss[:, -1], expected)


def test_wrong_input_is_named():
    X, y = make_waveform(40, random_state=0)
    with pytest.raises(ValueError, match="requires at least 40 training rows per fold, got 32"):
        learning_curve(bayes(), X, y)
    X, y = make_waveform(80, random_state=0)
    with pytest.raises(ValueError, match=r"wanted_gain must lie strictly between 0 and 0.1"):
        learning_curve(bayes(), X, y, wanted_gain=1.0, **QUICK)
