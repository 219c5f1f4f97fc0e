import pytest

from calibrant.report import demo
from calibrant.report.cross_validation import EvaluationSettings


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(demo, "N_TEST", 200)


def test_calibration_lowers_the_log_loss_of_naive_bayes(few_rows):
    runs = {run.scenario: run.metrics() for run in demo.run_demo(n_jobs=1)}
    assert runs.keys() == demo.SCENARIOS.keys()
    for scenario in ("one-vs-rest, DGG+ENIR", "all pairs, DGG+ENIR", "auto (the default)"):
        assert runs[scenario]["log loss"] < 0.7 * runs["uncalibrated"]["log loss"]


def test_the_report_covers_the_training_rows(tmp_path):
    settings = EvaluationSettings(n_folds=2, n_repeats=1)
    analysis = demo.report_demo(tmp_path / "page.html", settings)
    assert len(analysis.evaluation.y) == demo.N_TRAIN
    assert [model.name for model in analysis.models] == ["naive Bayes", "random forest"]
    assert (tmp_path / "page.html").exists()
