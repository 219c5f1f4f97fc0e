import dataclasses

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier
from calibrant._core.probability_floor import apply_probability_floor
from calibrant._core.records import Interval
from calibrant.calibrators import CalibrationReport, TemperatureScaling
from calibrant.datasets import make_waveform
from calibrant.metrics import log_loss

REPORT = CalibrationReport(
    candidates=("no calibration", "temperature scaling", "matrix scaling"),
    weights=(0.25, 0.748, 0.002),
    log_losses=(0.9, 0.7, 0.8),
    gain=Interval(0.1234, 0.05, 0.2, 0.95),
    n_rows=80,
    rare_classes=("yew", "elm"),
)


def test_a_report_is_a_few_plain_sentences():
    assert str(REPORT) == (
        "The probabilities are a weighted average of temperature scaling (75%), no calibration "
        "(25%). The log loss is expected to fall by 0.123 (95% interval 0.050 to 0.200, from 80 "
        "rows). Too rare to be calibrated by themselves: yew, elm."
    )
    worse = dataclasses.replace(REPORT, gain=Interval(-0.01, -0.05, 0.03, 0.95))
    assert "The log loss may not fall: the expected gain is -0.010 (95%" in str(worse)
    left_out = dataclasses.replace(REPORT, weights=(1.0, 0.0, 0.0), rare_classes=())
    assert str(left_out) == (
        "The probabilities are uncalibrated, because calibration did not lower the held-out log "
        "loss of 80 rows beyond chance."
    )
    single = dataclasses.replace(REPORT, weights=(0.0, 1.0, 0.0), n_rows=0, rare_classes=())
    assert str(single).startswith("The probabilities are calibrated by temperature scaling. The ga")


def test_a_report_converts_to_plain_values():
    plain = REPORT.to_dict()
    assert plain["weights"] == [0.25, 0.748, 0.002]
    assert plain["gain"] == {"estimate": 0.1234, "low": 0.05, "high": 0.2, "level": 0.95}
    assert plain["rare_classes"] == ["yew", "elm"]
    assert (REPORT.expected_gain, REPORT.interval) == (0.1234, (0.05, 0.2))


def test_names_are_escaped_in_html():
    hostile = dataclasses.replace(REPORT, candidates=("<b>", "b", "c"), rare_classes=("<i>",))
    html = hostile._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count("<tr>") == 4


def test_the_report_of_a_single_method_is_its_gain_on_folds_it_was_not_fitted_on():
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

    from calibrant._core.splits import make_folds

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


def test_a_method_of_ones_own_is_named_after_its_type():
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
