import csv
from functools import partial

import numpy as np
import pytest
from typer.testing import CliRunner

from calibrant.bench.scenarios import SCENARIOS
from calibrant.bench.store import Run, Store
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
    quick = partial(demo.report_on_table, n_folds=2, n_repeats=1)
    monkeypatch.setattr(demo, "report_on_table", quick)


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


def test_demo_shows_calibration_at_work(short_demo):
    runs = {run.scenario: run for run in demo.run_demo()}
    uncalibrated = runs["uncalibrated"].metrics()
    for scenario in ("one-vs-rest, DGG+ENIR", "all pairs, DGG+ENIR", "auto (the default)"):
        assert runs[scenario].metrics()["log loss"] < 0.7 * uncalibrated["log loss"]


def test_demo_refuses_a_folder_that_does_not_exist(tmp_path):
    result = runner.invoke(app, ["demo", "--output", str(tmp_path / "no" / "demo.html")])
    assert result.exit_code == 2
    assert "must exist" in result.output
    assert "Traceback" not in result.output


def test_bench_runs_and_prints_every_table(tmp_path, paper_data):
    store = str(tmp_path / "results.sqlite")
    chosen = ["--data-sets", "seeds", "ecoli", "--classifiers", "nb", "--jobs", "1"]
    result = runner.invoke(app, ["bench", "run", "--suite", "smoke", *chosen, "--store", store])
    assert result.exit_code == 0, result.output
    of_smoke = ["bench", "tables", "--suite", "smoke", "--store", store]
    for table, words in {
        "data-sets": ("Pendigits", "Pendigits"),
        "results": ("multi-class raw", "multiclass_raw"),
        "effects": ("one-vs-rest DGG+ENIR", "one_vs_rest_dgg_enir"),
        "approaches": ("Wilcoxon p", "paired_holm_p"),
        "times": ("naive Bayes", "model published"),
        "folds": ("fold", "published_LL"),
    }.items():
        for form in ("text", "markdown", "latex", "csv"):
            printed = runner.invoke(app, [*of_smoke, "--table", table, "--format", form])
            assert printed.exit_code == 0, printed.output
            assert words[form == "csv"] in printed.output
    status = runner.invoke(app, ["bench", "status", "--store", store])
    assert status.exit_code == 0
    assert "naive Bayes" in status.output
    picture = tmp_path / "ranks.png"
    ranks = ["bench", "ranks", "--suite", "smoke", "--store", store, "--output", str(picture)]
    assert runner.invoke(app, ranks).exit_code == 0
    assert picture.stat().st_size > 1000


def made_up_runs(n_folds, n_stored, certainty):
    """Runs of all scenarios on four rows whose true class has one probability."""
    proba = np.column_stack([np.full(4, certainty), np.full(4, 1 - certainty)])
    return [
        Run(
            "proper", "seeds", "nb", scenario, fold, n_folds, 0, "sklearn", {}, 1, 1.0, None,
            np.zeros(4, dtype=int), proba,
        )
        for scenario in SCENARIOS
        for fold in range(n_stored)
    ]  # fmt: skip


def test_tables_are_of_one_suite(tmp_path):
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        store.add(made_up_runs(3, 3, certainty=0.5) + made_up_runs(10, 10, certainty=0.9))
    for suite, certainty, n_folds in (("smoke", 0.5, "3"), ("paper", 0.9, "10")):
        arguments = ["--suite", suite, "--store", str(path), "--metrics", "equations"]
        result = runner.invoke(app, ["bench", "tables", *arguments, "--format", "csv"])
        rows = list(csv.DictReader(result.stdout.splitlines()))
        assert len(rows) == 5 * 2
        for row in rows:
            loss = -np.log(certainty) if row["metric"] == "LL" else 2 * (1 - certainty) ** 2
            assert float(row["value"]) == pytest.approx(loss, rel=1e-5)
            assert row["folds"] == n_folds


def test_tables_of_unfinished_runs_say_so(tmp_path):
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        store.add(made_up_runs(10, 2, certainty=0.9))
    result = runner.invoke(app, ["bench", "tables", "--store", str(path)])
    assert "Seeds, 2 of 10 folds" in result.stdout
    for table in ("effects", "approaches"):
        result = runner.invoke(app, ["bench", "tables", "--table", table, "--store", str(path)])
        assert result.exit_code == 2
        assert "Got naive Bayes on seeds (2 of 10 folds)" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "run", "--data-sets", "iris"], "data-sets must be among abalone"),
        (["bench", "run", "--classifiers", "nb", "svm"], "Got svm"),
        (["bench", "tables", "--store", "nothing.sqlite"], "nothing.sqlite must be a file"),
        (["bench", "status", "--store", "nothing.sqlite"], "It does not exist"),
        (["bench", "tables", "--table", "none"], "none"),
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


def test_a_file_that_is_no_store_gets_one_line(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database at all, only some notes " * 20)
    result = runner.invoke(app, ["bench", "status", "--store", str(tmp_path / "notes.txt")])
    assert result.exit_code == 2
    assert "file is not a database" in result.output


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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tables", "--suite", "arena", "--table", "results"], "--table must be one of methods"),
        (["tables", "--table", "methods"], "--table must be one of data-sets"),
        (["tables", "--suite", "arena", "--table", "methods"], "must hold runs of --suite arena"),
        (["tables"], "must hold runs of --suite paper. It has none."),
        (
            ["tables", "--as-published", "--table", "times"],
            "bench run --suite paper --as-published",
        ),
        (["tables", "--suite", "smoke", "--table", "folds"], "must hold runs of --suite smoke"),
        (["ranks"], "must hold runs of --suite arena. It has none."),
        (["ranks", "--classifiers", "nb", "svm", "--suite", "paper"], "Got svm"),
        (["run", "--suite", "arena-50", "--as-published"], "Got suite arena-50"),
    ],
)
def test_bench_says_in_a_line_what_is_wrong(arguments, said, tmp_path):
    store = tmp_path / "store.sqlite"
    with Store(store):
        pass
    result = runner.invoke(app, ["bench", *arguments, "--store", str(store)])
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1
