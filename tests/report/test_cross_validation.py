import numpy as np
import pytest
from scipy.special import softmax
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from calibrant import CalibratedClassifier
from calibrant.calibrators import ENIR, AutoCalibrator, PairwiseCalibrator, TemperatureScaling
from calibrant.datasets import make_waveform
from calibrant.metrics import log_loss
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


def test_results_depend_on_the_seed_but_not_on_the_number_of_jobs(waves):
    X, y = waves
    models = {"bayes": quick(), "auto": CalibratedClassifier(GaussianNB(), cv=3)}
    first = evaluate_models(X, y, models, n_folds=2, n_repeats=1, random_state=3, n_jobs=1)
    assert same(
        first, evaluate_models(X, y, models, n_folds=2, n_repeats=1, random_state=3, n_jobs=2)
    )
    other = evaluate_models(X, y, models, n_folds=2, n_repeats=1, random_state=4)
    assert not same(first, other)
    assert first.models[0].calibration_report.candidates == ("no calibration", "temperature")
    assert first.models[1].calibration_report.n_rows == 90


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


@pytest.fixture(scope="module")
def forecasts():
    rng = np.random.RandomState(0)
    truth = rng.dirichlet(np.ones(3), 120)
    y = np.array([rng.choice(3, p=row) for row in truth])
    sharpened = truth**3
    return sharpened / sharpened.sum(axis=1, keepdims=True), NAMES[y]


def test_probabilities_are_calibrated_by_calibrators_fitted_on_other_folds(forecasts):
    proba, y = forecasts
    evaluation = evaluate_probabilities(proba, y, n_folds=4, n_repeats=2)
    [model] = evaluation.models
    np.testing.assert_array_equal(model.uncalibrated, proba[evaluation.row])
    for split in (0, 5):
        test = evaluation.row[evaluation.split == split]
        train = np.setdiff1d(np.arange(120), test)
        expected = AutoCalibrator().fit(proba[train], y[train]).predict_proba(proba[test])
        np.testing.assert_allclose(
            model.calibrated[evaluation.split == split], expected, atol=1e-12
        )
    assert model.calibration_report.expected_gain > 0
    assert model.calibration_report.rare_classes == ()


class GroupedScaling(TemperatureScaling):
    """Temperature scaling that checks the groups of its rows."""

    def fit(self, X, y, sample_weight=None, groups=None):
        assert len(groups) == len(y)
        assert len(set(groups)) < len(y)
        return super().fit(X, y, sample_weight)


def test_groups_reach_every_calibrator_that_takes_them(forecasts):
    proba, y = forecasts
    groups = np.arange(120) // 3
    plain, grouped = (
        evaluate_probabilities(proba, y, calibrator=calibrator, groups=groups, n_repeats=1)
        for calibrator in (TemperatureScaling(), GroupedScaling())
    )
    assert same(plain, grouped)


@pytest.mark.parametrize(
    ("calibrator", "name"),
    [("temperature", "temperature"), (TemperatureScaling(), "TemperatureScaling")],
)
def test_the_report_of_a_single_calibrator_is_its_held_out_gain(forecasts, calibrator, name):
    proba, y = forecasts
    evaluation = evaluate_probabilities(proba, y, calibrator=calibrator, n_repeats=1)
    [model] = evaluation.models
    report = model.calibration_report
    assert report.candidates == ("no calibration", name)
    assert report.n_rows == 120
    gain = np.subtract(
        *(log_loss(evaluation.y_true, each) for each in (model.uncalibrated, model.calibrated))
    )
    assert report.expected_gain == pytest.approx(gain, abs=0.05)  # of other folds
    groups = np.arange(120) // 3
    grouped = evaluate_probabilities(proba, y, calibrator=calibrator, groups=groups, n_repeats=1)
    assert grouped.models[0].calibration_report.n_rows == 40


def test_a_binary_calibrator_is_applied_to_pairs_of_classes(forecasts):
    proba, y = forecasts
    binary, pairwise = (
        evaluate_probabilities(proba, y, calibrator=calibrator, n_folds=2, n_repeats=1)
        for calibrator in (ENIR(), PairwiseCalibrator(ENIR()))
    )
    assert same(binary, pairwise)


def test_columns_may_be_in_any_order_and_a_class_may_have_no_rows(forecasts):
    proba, y = forecasts
    plain = evaluate_probabilities(proba, y, calibrator=TemperatureScaling())
    names = ["cedar", "none", "ash", "birch"]
    wide = np.column_stack([proba[:, 2], np.zeros(len(y)), proba[:, 0], proba[:, 1]])
    other = evaluate_probabilities(wide, y, names, calibrator=TemperatureScaling())
    assert other.classes == tuple(names)
    np.testing.assert_array_equal(np.array(names)[other.y], y)
    np.testing.assert_allclose(
        other.models[0].calibrated[:, [2, 3, 0]], plain.models[0].calibrated, rtol=0, atol=0.01
    )


def test_labels_without_a_column_are_refused(forecasts):
    proba, y = forecasts
    with pytest.raises(ValueError, match=r"got \['cedar'\]"):
        evaluate_probabilities(proba, y, ["ash", "birch", "dogwood"])
