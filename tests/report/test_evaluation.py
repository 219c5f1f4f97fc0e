import numpy as np
import pytest
from scipy.special import softmax
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from calibrant import CalibratedClassifier
from calibrant.calibrators import AutoCalibrator, TemperatureScaling
from calibrant.datasets import make_waveform
from calibrant.report import evaluate_models, evaluate_probabilities

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
        for state in ("before", "after")
    )


def test_every_row_is_held_out_once_a_repeat_by_models_fitted_on_the_others(waves):
    X, y = waves
    evaluation = evaluate_models(X, y, {"bayes": quick()}, n_folds=4, n_repeats=2)
    assert evaluation.classes == ("ash", "birch", "cedar")
    assert (evaluation.n_folds, evaluation.n_repeats) == (4, 2)
    np.testing.assert_array_equal(NAMES[evaluation.y], y)
    [model] = evaluation.models
    for repeat in range(2):
        own = evaluation.split // 4 == repeat
        assert sorted(evaluation.row[own]) == list(range(90))
    for split in np.unique(evaluation.split):
        test = evaluation.row[evaluation.split == split]
        train = np.setdiff1d(np.arange(90), test)
        expected = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
        np.testing.assert_allclose(
            model.before[evaluation.split == split], expected, rtol=0, atol=1e-12
        )
        shares = [np.mean(y[test] == name) for name in NAMES]
        assert np.ptp(np.array(shares) - [np.mean(y == name) for name in NAMES]) < 0.1
    np.testing.assert_allclose(model.after.sum(axis=1), 1.0)
    assert not np.allclose(model.before, model.after)


def test_the_seed_decides_and_the_number_of_jobs_does_not(waves):
    X, y = waves
    models = {"bayes": quick(), "auto": CalibratedClassifier(GaussianNB(), cv=3)}
    first = evaluate_models(X, y, models, n_folds=2, n_repeats=1, random_state=3, n_jobs=1)
    assert same(
        first, evaluate_models(X, y, models, n_folds=2, n_repeats=1, random_state=3, n_jobs=2)
    )
    other = evaluate_models(X, y, models, n_folds=2, n_repeats=1, random_state=4)
    assert not same(first, other)
    assert first.models[1].choice.n_rows == 90
    assert first.models[0].choice.candidates == ("no calibration", "temperature")


def test_groups_are_never_parted(waves):
    X, y = waves
    patient = np.repeat([f"patient {i}" for i in range(18)], 5)
    evaluation = evaluate_models(X, y, {"bayes": quick()}, groups=patient, n_folds=3, n_repeats=2)
    for split in np.unique(evaluation.split):
        held_out = np.isin(np.arange(90), evaluation.row[evaluation.split == split])
        assert not set(patient[held_out]) & set(patient[~held_out])
    assert len(np.unique(evaluation.unit)) == 18


def test_classes_that_lie_in_one_group_each_get_one_clear_error(waves):
    X, y = waves
    with pytest.raises(ValueError, match="Got 3 classes that lie in one group each"):
        evaluate_models(X, y, {"bayes": quick()}, groups=y)


def test_a_class_that_lies_in_one_group_is_never_tested(waves):
    X, y = waves
    ward = np.where(y == "ash", 0, np.arange(90) % 7)
    evaluation = evaluate_models(X, y, {"bayes": quick()}, groups=ward, n_folds=3, n_repeats=1)
    assert set(NAMES[evaluation.true]) == {"birch", "cedar"}


def test_a_model_without_probabilities_is_judged_by_the_softmax_of_its_scores(waves):
    X, y = waves
    evaluation = evaluate_models(X, y, {"svm": quick(SVC())}, n_folds=2, n_repeats=1)
    [model] = evaluation.models
    assert not model.has_proba
    test = evaluation.row[evaluation.split == 0]
    train = np.setdiff1d(np.arange(90), test)
    expected = softmax(SVC().fit(X[train], y[train]).decision_function(X[test]), axis=1)
    np.testing.assert_allclose(model.before[evaluation.split == 0], expected, atol=1e-12)


def test_a_class_of_one_row_is_learned_from_and_never_tested(waves):
    X, y = waves
    y = np.where(np.arange(90) == 7, "dogwood", y)
    evaluation = evaluate_models(X, y, {"bayes": quick()}, n_folds=3, n_repeats=1)
    assert 7 not in evaluation.rows
    assert len(evaluation.rows) == 89
    assert evaluation.models[0].after.shape == (89, 4)
    assert any("dogwood" in text for text in evaluation.models[0].warnings)


def test_weights_count_a_row_once_and_means_are_over_its_splits(waves):
    X, y = waves
    evaluation = evaluate_models(X, y, {"bayes": quick()}, n_folds=3, n_repeats=2)
    np.testing.assert_allclose(np.bincount(evaluation.row, evaluation.weight), 1.0)
    means = evaluation.row_means(evaluation.models[0].after)
    for row in (0, 41):
        own = evaluation.models[0].after[evaluation.row == row]
        assert len(own) == 2
        np.testing.assert_allclose(means[row], own.mean(axis=0))
    np.testing.assert_array_equal(evaluation.class_count, [np.sum(y == name) for name in NAMES])


def test_progress_sees_every_fit(waves):
    X, y = waves
    seen = []

    def progress(finished, total):
        for done in finished:
            seen.append(total)
            yield done

    evaluate_models(X, y, {"a": quick(), "b": quick()}, n_folds=2, n_repeats=2, progress=progress)
    assert seen == [10] * 10  # two models, four splits and all rows


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_folds": 1}, "number of folds must be at least 2. Got 1"),
        ({"n_repeats": 0}, "number of repeats must be at least 1. Got 0"),
    ],
)
def test_too_few_folds_get_one_clear_error(waves, options, said):
    with pytest.raises(ValueError, match=said):
        evaluate_models(*waves, {"bayes": quick()}, **options)


@pytest.fixture(scope="module")
def forecasts():
    rng = np.random.RandomState(0)
    truth = rng.dirichlet(np.ones(3), 120)
    y = np.array([rng.choice(3, p=row) for row in truth])
    sure = truth**3
    return sure / sure.sum(axis=1, keepdims=True), NAMES[y]


def test_probabilities_are_calibrated_by_rows_other_than_their_own(forecasts):
    proba, y = forecasts
    evaluation = evaluate_probabilities(proba, y, n_folds=4, n_repeats=2)
    [model] = evaluation.models
    np.testing.assert_array_equal(model.before, proba[evaluation.row])
    for split in (0, 5):
        test = evaluation.row[evaluation.split == split]
        train = np.setdiff1d(np.arange(120), test)
        expected = AutoCalibrator().fit(proba[train], y[train]).predict_proba(proba[test])
        np.testing.assert_allclose(model.after[evaluation.split == split], expected, atol=1e-12)
    assert model.choice.expected_gain > 0
    assert model.choice.rare_classes == ()


def test_columns_may_come_in_any_order_and_without_rows(forecasts):
    proba, y = forecasts
    plain = evaluate_probabilities(proba, y, calibrator=TemperatureScaling())
    names = ["cedar", "none", "ash", "birch"]
    wide = np.column_stack([proba[:, 2], np.zeros(len(y)), proba[:, 0], proba[:, 1]])
    other = evaluate_probabilities(wide, y, names, calibrator=TemperatureScaling())
    assert other.classes == tuple(names)
    assert other.models[0].choice is None
    np.testing.assert_array_equal(np.array(names)[other.y], y)
    np.testing.assert_allclose(
        other.models[0].after[:, [2, 3, 0]], plain.models[0].after, rtol=0, atol=0.01
    )
