import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier
from calibrant._core.probability_floor import apply_probability_floor
from calibrant._core.splits import make_folds
from calibrant.calibrators import AutoCalibrator, TemperatureScaling
from calibrant.calibrators._fitting import fit_with_report
from calibrant.datasets import make_waveform
from calibrant.metrics import log_loss


def test_the_report_of_a_single_method_is_its_held_out_gain():
    """Calibrate by hand in the same folds, one row per point."""
    X, y = make_waveform(150, random_state=0)
    X_own, y_own = make_waveform(150, random_state=1)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    report = (
        CalibratedClassifier(frozen, method="temperature").fit(X_own, y_own).calibration_report_
    )
    assert report.candidates == ("no calibration", "temperature")
    assert report.weights == (0.0, 1.0)
    assert report.n_rows == 150

    raw = frozen.predict_proba(X_own)
    calibrated = np.empty_like(raw)
    for test in make_folds(y_own, None, 5, np.random.RandomState(0)):
        fitted = TemperatureScaling().fit(raw[~test], y_own[~test])
        calibrated[test] = fitted.predict_proba(raw[test])
    count = np.bincount(y_own)
    losses = [log_loss(y_own, apply_probability_floor(own, count)) for own in (raw, calibrated)]
    np.testing.assert_allclose(report.log_losses, losses, rtol=0, atol=1e-12)
    assert report.expected_gain == pytest.approx(losses[0] - losses[1], abs=1e-12)
    assert report.interval[0] < report.expected_gain < report.interval[1]


@pytest.mark.parametrize("strategy", ["direct", "one-vs-rest", "all-pairs", "output-code"])
@pytest.mark.parametrize("method", ["enir", "sigmoid", "isotonic", "histogram"])
def test_every_calibrated_fit_has_a_report(strategy, method):
    X, y = make_waveform(120, random_state=0)
    model = CalibratedClassifier(
        GaussianNB(), method=method, strategy=strategy, cv=3, random_state=0
    ).fit(X, y)
    report = model.calibration_report_
    assert report.candidates == ("no calibration", method)
    assert report.n_rows == 120
    assert 0 < report.expected_gain < 1  # naive Bayes is overconfident here
    assert report.log_losses[1] < report.log_losses[0]


def test_decision_values_are_compared_as_logits():
    X, y = make_waveform(120, random_state=0)
    for strategy in ("direct", "one-vs-rest"):
        model = CalibratedClassifier(
            LinearSVC(), method="sigmoid", strategy=strategy, cv=3, random_state=0
        ).fit(X, y)
        assert np.isfinite(model.calibration_report_.log_losses).all()


def test_a_custom_method_is_named_after_its_type():
    X, y = make_waveform(90, random_state=0)
    model = CalibratedClassifier(GaussianNB(), method=LogisticRegression(), cv=3, random_state=0)
    assert model.fit(X, y).calibration_report_.candidates[1] == "LogisticRegression"
    paper = CalibratedClassifier(GaussianNB(), strategy="one-vs-rest", cv=3, random_state=0)
    assert paper.fit(X, y).calibration_report_.candidates[1] == "ENIR"


def test_groups_count_as_one_in_the_report_of_a_method():
    X, y = make_waveform(120, random_state=0)
    groups = np.arange(120) // 3
    for strategy in ("direct", "one-vs-rest"):
        model = CalibratedClassifier(
            GaussianNB(), method="sigmoid", strategy=strategy, cv=4, random_state=0
        ).fit(X, y, groups=groups)
        assert model.calibration_report_.n_rows == 40


@pytest.mark.parametrize("method", ["auto", "temperature"])
@pytest.mark.parametrize("grouped", [False, True])
def test_probabilities_get_the_report_of_a_classifier_that_predicts_them(method, grouped):
    X, y = make_waveform(150, random_state=0)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    X, y = make_waveform(150, random_state=1)
    names = np.array(["ash", "birch", "cedar"])
    groups = np.arange(150) // 3 if grouped else None
    model = CalibratedClassifier(frozen, method=method).fit(X, y, groups=groups)
    calibrator = AutoCalibrator() if method == "auto" else TemperatureScaling()
    fitted, report = fit_with_report(
        calibrator, method, frozen.predict_proba(X), y, classes=names, groups=groups
    )
    expected = model.calibration_report_
    assert (report.candidates, report.n_rows) == (expected.candidates, expected.n_rows)
    for name in ("weights", "log_losses", "interval"):
        np.testing.assert_allclose(
            getattr(report, name), getattr(expected, name), rtol=0, atol=1e-9
        )
    np.testing.assert_array_equal(fitted.class_count_, np.bincount(y))
    few = np.flatnonzero((y > 0) | (np.cumsum(y == 0) < 3))
    _, report = fit_with_report(
        calibrator, method, frozen.predict_proba(X[few]), y[few], classes=names
    )
    assert report.rare_classes == ("ash",)


def test_the_performance_of_a_single_method_has_the_reported_log_loss():
    rng = np.random.RandomState(0)
    score = rng.dirichlet([0.3] * 3, size=150)
    y = np.array([rng.choice(3, p=0.5 * row + 0.5 / 3) for row in score])
    _, report = fit_with_report(
        TemperatureScaling(), "temperature", score, y, classes=np.array(list("abc"))
    )
    assert report.performance.log_loss.estimate == pytest.approx(report.log_losses[1])
    assert report.performance.n_rows == 150


def test_binary_strategies_have_no_performance():
    X, y = make_waveform(60, random_state=0)
    model = CalibratedClassifier(GaussianNB(), strategy="one-vs-rest", method="sigmoid", cv=3)
    assert model.fit(X, y).calibration_report_.performance is None
