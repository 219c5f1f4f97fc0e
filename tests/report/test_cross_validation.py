import numpy as np
import pytest
from scipy.special import softmax
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from calibrant import CalibratedClassifier
from calibrant._core import workers
from calibrant.datasets import make_waveform
from calibrant.report import evaluate_models

NAMES = np.array(["ash", "birch", "cedar"])


@pytest.fixture(scope="module")
def waves():
    X, y = make_waveform(90, random_state=0)
    return X, NAMES[y]


def quick(estimator=None):
    """A classifier that calibrates by one pass of a simple method."""
    return CalibratedClassifier(estimator or GaussianNB(), method="temperature", cv=3)


def same(first, second):
    return all(
        np.array_equal(getattr(a, state), getattr(b, state))
        for a, b in zip(first.models, second.models, strict=True)
        for state in ("uncalibrated", "calibrated")
    )


def test_every_row_is_predicted_once_per_repeat_by_models_fitted_on_other_folds(waves):
    X, y = waves
    evaluation = evaluate_models(X, y, {"bayes": quick()}, n_folds=4, n_repeats=2)
    assert evaluation.classes == ("ash", "birch", "cedar")
    assert (evaluation.n_folds, evaluation.n_repeats) == (4, 2)
    np.testing.assert_array_equal(NAMES[evaluation.y], y)
    [model] = evaluation.models
    for repeat in range(2):
        used = evaluation.split // 4 == repeat
        assert sorted(evaluation.row[used]) == list(range(90))
    for split in np.unique(evaluation.split):
        test = evaluation.row[evaluation.split == split]
        train = np.setdiff1d(np.arange(90), test)
        expected = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
        np.testing.assert_allclose(
            model.uncalibrated[evaluation.split == split], expected, rtol=0, atol=1e-12
        )
        frequencies = [np.mean(y[test] == name) for name in NAMES]
        assert np.ptp(np.array(frequencies) - [np.mean(y == name) for name in NAMES]) < 0.1
    np.testing.assert_allclose(model.calibrated.sum(axis=1), 1.0)
    assert not np.allclose(model.uncalibrated, model.calibrated)


def test_results_depend_on_the_seed_but_not_on_the_number_of_jobs(waves, monkeypatch):
    X, y = waves
    models = {"bayes": quick(), "auto": CalibratedClassifier(GaussianNB(), cv=3)}
    first = evaluate_models(X, y, models, n_folds=2, n_repeats=1, random_state=3, n_jobs=1)
    monkeypatch.setattr(workers, "WORKER_START_SECONDS", -1.0)  # always start them
    assert same(
        first, evaluate_models(X, y, models, n_folds=2, n_repeats=1, random_state=3, n_jobs=2)
    )
    other = evaluate_models(X, y, models, n_folds=2, n_repeats=1, random_state=4)
    assert not same(first, other)
    assert first.models[0].calibration_report.candidates == ("no calibration", "temperature")
    assert first.models[1].calibration_report.n_rows == 90


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_processes_are_started_for_work_that_takes_less_time(waves, monkeypatch, n_jobs):
    monkeypatch.setattr(workers, "Parallel", lambda **options: pytest.fail("started processes"))
    monkeypatch.setattr(workers, "WORKER_START_SECONDS", 1e6)
    X, y = waves
    evaluation = evaluate_models(X, y, {"bayes": quick()}, n_folds=2, n_repeats=1, n_jobs=n_jobs)
    assert len(evaluation.row) == 90


def test_groups_stay_together(waves):
    X, y = waves
    patient = np.repeat([f"patient {i}" for i in range(18)], 5)
    evaluation = evaluate_models(X, y, {"bayes": quick()}, groups=patient, n_folds=3, n_repeats=2)
    for split in np.unique(evaluation.split):
        held_out = np.isin(np.arange(90), evaluation.row[evaluation.split == split])
        assert not set(patient[held_out]) & set(patient[~held_out])
    assert len(np.unique(evaluation.group)) == 18


def test_classes_with_one_group_each_are_refused(waves):
    X, y = waves
    with pytest.raises(ValueError, match="got 3 classes with one group each"):
        evaluate_models(X, y, {"bayes": quick()}, groups=y)


def test_a_class_with_one_group_is_never_held_out(waves):
    X, y = waves
    ward = np.where(y == "ash", 0, np.arange(90) % 7)
    evaluation = evaluate_models(X, y, {"bayes": quick()}, groups=ward, n_folds=3, n_repeats=1)
    assert set(NAMES[evaluation.y_true]) == {"birch", "cedar"}


def test_a_model_without_predict_proba_gets_the_softmax_of_its_decision_values(waves):
    X, y = waves
    evaluation = evaluate_models(X, y, {"svm": quick(SVC())}, n_folds=2, n_repeats=1)
    [model] = evaluation.models
    assert not model.has_proba
    test = evaluation.row[evaluation.split == 0]
    train = np.setdiff1d(np.arange(90), test)
    expected = softmax(SVC().fit(X[train], y[train]).decision_function(X[test]), axis=1)
    np.testing.assert_allclose(model.uncalibrated[evaluation.split == 0], expected, atol=1e-12)


def test_a_class_with_one_row_is_never_held_out(waves):
    X, y = waves
    y = np.where(np.arange(90) == 7, "dogwood", y)
    evaluation = evaluate_models(X, y, {"bayes": quick()}, n_folds=3, n_repeats=1)
    assert evaluation.held_out_rows.tolist() == [row for row in range(90) if row != 7]
    assert evaluation.models[0].calibrated.shape == (89, 4)
    assert any("dogwood" in text for text in evaluation.models[0].warnings)


def test_progress_sees_every_fit(waves):
    X, y = waves
    seen = []

    def progress(finished, total):
        for result in finished:
            seen.append(total)
            yield result

    evaluate_models(X, y, {"a": quick(), "b": quick()}, n_folds=2, n_repeats=2, progress=progress)
    assert seen == [10] * 10  # two models, each fitted on four splits and on all rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_folds": 1}, "number of folds must be at least 2, got 1"),
        ({"n_repeats": 0}, "number of repeats must be at least 1, got 0"),
    ],
)
def test_too_few_folds_or_repeats_are_refused(waves, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate_models(*waves, {"bayes": quick()}, **options)
