import dataclasses

from calibrant._core.records import Interval
from calibrant.calibrators import CalibrationReport

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
        "observations). Too rare to be calibrated individually: yew, elm."
    )
    worse = dataclasses.replace(REPORT, gain=Interval(-0.01, -0.05, 0.03, 0.95))
    assert "The log loss may not fall: the expected gain is -0.010 (95%" in str(worse)
    nothing = dataclasses.replace(REPORT, gain=Interval(-1e-5, -2e-5, 0.03, 0.95))
    assert "is 0.000 (95% interval 0.000 to 0.030" in str(nothing)
    left_out = dataclasses.replace(REPORT, weights=(1.0, 0.0, 0.0), rare_classes=())
    assert str(left_out) == (
        "The probabilities are left uncalibrated, because calibration did not lower the log loss "
        "on 80 held-out observations beyond chance."
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


def test_column_indices_become_labels():
    report = dataclasses.replace(REPORT, rare_classes=(2, 0))
    assert report.with_labels(["ash", "elm", "yew"]).rare_classes == ("yew", "ash")
