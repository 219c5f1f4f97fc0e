from dataclasses import replace

import pytest
from typer.testing import CliRunner

from calibrant.cli import app
from calibrant.datasets import downloads
from calibrant.report import demo

runner = CliRunner()


def test_help_names_the_commands():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output


@pytest.fixture
def short_demo(monkeypatch):
    """The demonstration with fewer rows and folds; the scenarios stay the same."""
    monkeypatch.setattr(demo, "N_TEST", 200)
    report_on_table = demo.report_on_table

    def report_quickly(*arguments, settings, **options):
        settings = replace(settings, n_folds=2, n_repeats=1)
        return report_on_table(*arguments, settings=settings, **options)

    monkeypatch.setattr(demo, "report_on_table", report_quickly)


def test_demo_prints_a_table_and_ends_in_a_report(short_demo, tmp_path):
    page = tmp_path / "demo.html"
    result = runner.invoke(app, ["demo", "--output", str(page), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    for word in ("Naive Bayes", "one-vs-rest, DGG+ENIR", "log loss", "seconds"):
        assert word in result.output
    assert f"Open {page} in a browser." in result.output
    html = page.read_text(encoding="utf-8")
    assert "random forest, calibrated" in html
    assert "waveform data" in html


def test_demo_refuses_a_folder_that_does_not_exist(tmp_path):
    result = runner.invoke(app, ["demo", "--output", str(tmp_path / "no" / "demo.html")])
    assert result.exit_code == 2
    assert "must exist" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["datasets", "info", "iris"], "data set must be one of abalone"),
    ],
)
def test_mistakes_get_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_datasets_are_listed_and_described(paper_data):
    assert "pendigits" in runner.invoke(app, ["datasets", "list"]).output
    described = runner.invoke(app, ["datasets", "info", "seeds"]).output
    assert "210 rows, 7 features, 3 classes" in described


@pytest.mark.parametrize("command", ["info", "fetch"])
def test_no_network_gets_one_line(command, monkeypatch, tmp_path):
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(downloads, "SOURCE", "http://127.0.0.1:9")
    result = runner.invoke(app, ["datasets", command, "seeds"])
    assert result.exit_code == 2
    assert "or set CALIBRANT_DATA to a folder that has the files" in result.output
    assert "Traceback" not in result.output


def test_data_that_are_there_are_not_fetched(paper_data):
    result = runner.invoke(app, ["datasets", "fetch", "seeds", "forest"])
    assert result.exit_code == 0, result.output
    assert [line.split(":")[0] for line in result.output.splitlines()] == ["seeds", "forest"]
