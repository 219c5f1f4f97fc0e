import json
from dataclasses import replace

import pytest

from calibrant.report import demo


@pytest.fixture
def short_demo(monkeypatch):
    """The demonstration with fewer rows and folds."""
    monkeypatch.setattr(demo, "N_TEST", 200)
    report_on_table = demo.report_on_table

    def report_quickly(*arguments, settings, **options):
        settings = replace(settings, n_folds=2, n_repeats=1)
        return report_on_table(*arguments, settings=settings, **options)

    monkeypatch.setattr(demo, "report_on_table", report_quickly)


def test_the_demo_prints_a_table_and_writes_a_report(run, short_demo, tmp_path):
    page = tmp_path / "demo.html"
    result = run("demo", "--output", page, "--jobs", 1)
    assert result.exit_code == 0, result.output
    for scenario in demo.SCENARIOS:
        assert scenario in result.stdout
    assert result.stdout.endswith(f"Open {page} in a browser.\n")
    assert "waveform data" in page.read_text(encoding="utf-8")


def test_the_demo_gives_its_numbers_as_json(run, short_demo, tmp_path):
    result = run("demo", "-o", tmp_path / "demo.html", "--jobs", 1, "--json", "-", "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    content = json.loads(result.stdout)
    assert set(content["scenarios"]) == set(demo.SCENARIOS)
    assert len(content["report"]["models"]) == 2


def test_the_output_is_checked_before_anything_is_fitted(run, is_refused, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "run_demo", lambda **options: pytest.fail("fitted"))
    assert is_refused(run("demo", "--output", tmp_path / "no" / "demo.html"), "must exist")


def test_a_data_file_is_not_replaced_by_the_report(run, is_refused, tmp_path):
    table = tmp_path / "table"
    table.write_text("x,y\n1,a\n")
    assert is_refused(run("demo", "-o", table), "is a table, and a web page would replace it")
    assert table.read_text() == "x,y\n1,a\n"
