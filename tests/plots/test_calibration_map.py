import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier
from calibrant.calibrators import ENIR, TemperatureScaling
from calibrant.plots import CalibrationMapDisplay


def test_map_of_a_classifier_shows_probabilities_before_and_after(waveform, series):
    X, y = waveform
    model = CalibratedClassifier(GaussianNB(), method="temperature", random_state=0).fit(X, y)
    display = CalibrationMapDisplay.from_estimator(model, X)
    before, after = model.estimators_[0].predict_proba(X), model.predict_proba(X)
    for k, ax in enumerate(display.axes_):
        assert ax.get_title() == f"class {k}"
        (dots,) = series(ax)
        np.testing.assert_allclose(dots.get_xdata(), before[:, k], atol=1e-12)
        np.testing.assert_allclose(dots.get_ydata(), after[:, k])


@pytest.mark.parametrize("strategy", ["one-vs-rest", "all-pairs"])
def test_map_of_binary_problems_shows_class_probabilities(strategy, waveform):
    X, y = waveform
    options = {"strategy": strategy, "random_state": 0}
    model = CalibratedClassifier(GaussianNB(), method="sigmoid", **options).fit(X, y)
    uncalibrated = CalibratedClassifier(GaussianNB(), method=None, **options).fit(X, y)
    display = CalibrationMapDisplay.from_estimator(model, X)
    before, after = display.maps["class 1"]
    np.testing.assert_allclose(before, uncalibrated.predict_proba(X)[:, 1])
    np.testing.assert_allclose(after, model.predict_proba(X)[:, 1])


def test_decision_values_of_binary_problems_are_drawn_as_probabilities(waveform):
    X, y = waveform
    model = CalibratedClassifier(LinearSVC(), strategy="one-vs-rest", method="sigmoid", cv=2)
    display = CalibrationMapDisplay.from_estimator(model.fit(X, y), X)
    for k, (before, _) in enumerate(display.maps.values()):
        np.testing.assert_array_equal(before, model.predict_uncalibrated_proba(X)[:, k])


def test_map_of_a_binary_calibrator_is_its_curve(waveform, series):
    X, y = waveform
    score = GaussianNB().fit(X, y).predict_proba(X)[:, 0]
    calibrator = ENIR().fit(score, y == 0)
    display = CalibrationMapDisplay.from_estimator(calibrator, score, name="ENIR")
    (ax,) = display.axes_
    (line,) = series(ax)
    np.testing.assert_allclose(line.get_ydata(), calibrator.predict(line.get_xdata()))
    assert line.get_xdata()[0] == score.min()
    assert line.get_xdata()[-1] == score.max()
    assert ax.get_xlabel() == "uncalibrated probability"
    assert len(ax.lines) == 2  # with the diagonal


def test_scores_on_another_scale_have_no_diagonal(waveform):
    X, y = waveform
    proba = GaussianNB().fit(X, y).predict_proba(X)[:, 0]
    score = np.log(proba + 1e-9) - np.log(1 - proba + 1e-9)
    display = CalibrationMapDisplay.from_estimator(ENIR().fit(score, y == 0), score)
    (ax,) = display.axes_
    assert ax.get_xlabel() == "uncalibrated score"
    assert len(ax.lines) == 1


def test_map_of_a_multi_class_calibrator_shows_each_class(waveform):
    X, y = waveform
    score = GaussianNB().fit(X, y).predict_proba(X)
    calibrator = TemperatureScaling().fit(score, y)
    display = CalibrationMapDisplay.from_estimator(calibrator, score)
    before, after = display.maps["class 2"]
    np.testing.assert_array_equal(before, score[:, 2])
    np.testing.assert_array_equal(after, calibrator.predict_proba(score)[:, 2])


def test_mismatched_predictions_raise_a_clear_error():
    with pytest.raises(ValueError, match=r"same shape, got \(3, 2\) and \(2, 2\)"):
        CalibrationMapDisplay.from_predictions(np.ones((3, 2)), np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"each of the 2 columns, got 3 labels"):
        CalibrationMapDisplay.from_predictions(
            np.ones((3, 2)), np.ones((3, 2)), labels=["a", "b", "c"]
        )
