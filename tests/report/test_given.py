import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from calibrant import CalibratedClassifier
from calibrant.calibrators import ENIR, AutoCalibrator, PairwiseCalibrator, TemperatureScaling
from calibrant.datasets import make_waveform
from calibrant.metrics import log_loss
from calibrant.report import evaluate_fitted_models, evaluate_probabilities

NAMES = np.array(["ash", "birch", "cedar"])


def same(first, second):
    return all(
        np.array_equal(getattr(a, state), getattr(b, state))
        for a, b in zip(first.models, second.models, strict=True)
        for state in ("uncalibrated", "calibrated")
    )


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


def test_probabilities_of_several_models_are_evaluated_by_name(forecasts):
    proba, y = forecasts
    uniform = np.full_like(proba, 1 / 3)
    options = {"calibrator": "temperature", "n_repeats": 1}
    both = evaluate_probabilities({"sharp": proba, "flat": uniform}, y, **options)
    assert [model.name for model in both.models] == ["sharp", "flat"]
    assert both.is_given
    alone = evaluate_probabilities(proba, y, **options)
    np.testing.assert_array_equal(both.models[0].calibrated, alone.models[0].calibrated)
    np.testing.assert_array_equal(both.models[1].uncalibrated, uniform)


def test_an_array_of_another_shape_is_refused(forecasts):
    proba, y = forecasts
    with pytest.raises(ValueError, match=r"one column per class, \(120, 3\), got the shape"):
        evaluate_probabilities(proba[:, 0], y)


@pytest.fixture(scope="module")
def test_rows():
    X, y = make_waveform(120, random_state=1)
    return X, NAMES[y]


@pytest.fixture(scope="module")
def fitted():
    X, y = make_waveform(90, random_state=0)
    calibrated = CalibratedClassifier(GaussianNB(), method="temperature", cv=3, random_state=0)
    return {
        "bayes": GaussianNB().fit(X, NAMES[y]),
        "calibrated bayes": calibrated.fit(X, NAMES[y]),
    }


def test_fitted_models_are_not_refitted(fitted, test_rows):
    X, y = test_rows
    evaluation = evaluate_fitted_models(X, y, fitted, n_repeats=2)
    plain, calibrated = evaluation.models
    assert evaluation.is_given
    for model in (plain, calibrated):
        expected = fitted["bayes"].predict_proba(X)[evaluation.row]
        np.testing.assert_allclose(model.uncalibrated, expected, atol=1e-12)
    own = fitted["calibrated bayes"].predict_proba(X)[evaluation.row]
    np.testing.assert_array_equal(calibrated.calibrated, own)
    assert calibrated.calibration_report is fitted["calibrated bayes"].calibration_report_
    # Without a calibration of its own, a model is calibrated as given probabilities are.
    given = evaluate_probabilities(fitted["bayes"].predict_proba(X), y, n_repeats=2)
    np.testing.assert_array_equal(plain.calibrated, given.models[0].calibrated)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({}, "at least one fitted classifier"),
        ({"bayes": GaussianNB()}, "must be fitted classifiers with predict_proba"),
        ({"svm": SVC().fit([[0], [1]], [0, 1])}, "must be fitted classifiers with predict_proba"),
    ],
)
def test_models_without_probabilities_are_refused(test_rows, models, message):
    with pytest.raises(ValueError, match=message):
        evaluate_fitted_models(*test_rows, models)


def test_models_of_other_classes_are_refused(fitted, test_rows):
    X, y = test_rows
    other = LogisticRegression(max_iter=1000).fit(X, y == "ash")
    with pytest.raises(ValueError, match="must have the same classes"):
        evaluate_fitted_models(X, y, {**fitted, "other": other})
