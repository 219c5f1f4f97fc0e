import pytest
from typer.testing import CliRunner

from calibrant import datasets
from calibrant.bench import demo
from calibrant.cli import app

runner = CliRunner()


def test_help_names_the_commands():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output


@pytest.fixture
def short_demo(monkeypatch):
    """The demonstration with fewer trees and rows; the scenarios stay the same."""
    monkeypatch.setattr(demo, "N_TREES", 2)
    monkeypatch.setattr(demo, "N_TEST", 200)


def test_demo_prints_a_table_and_writes_a_picture(short_demo, tmp_path):
    picture = tmp_path / "demo.png"
    result = runner.invoke(app, ["demo", "--output", str(picture), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    for word in ("naive Bayes", "random forest", "one-vs-rest DGG+ENIR", "log loss", "seconds"):
        assert word in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_shows_calibration_at_work(short_demo):
    runs = {run.scenario.name: run for run in demo.run_demo() if run.classifier == "naive Bayes"}
    raw = runs["multiclass_raw"].metrics()
    for scenario in ("one_vs_rest_dgg_enir", "all_pairs_dgg_enir"):
        assert runs[scenario].metrics()["log loss"] < 0.7 * raw["log loss"]
    assert datasets.make_waveform(demo.N_TRAIN)[0].shape == (300, 21)


def test_demo_refuses_a_folder_that_does_not_exist(tmp_path):
    result = runner.invoke(app, ["demo", "--output", str(tmp_path / "no" / "demo.png")])
    assert result.exit_code == 2
    assert "must be a folder that exists" in result.output
    assert "Traceback" not in result.output
