import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from calibrant.datasets import downloads
from calibrant.datasets.catalog import CATALOG
from experiments import runner as task_runner
from experiments.commands import app
from experiments.paper.methods import SCENARIOS
from experiments.store import Run, Store

runner = CliRunner()


def test_bench_runs_and_prints_every_table(tmp_path, paper_data):
    store = str(tmp_path / "results.sqlite")
    chosen = ["--data-sets", "seeds", "ecoli", "--classifiers", "nb", "--jobs", "1"]
    result = runner.invoke(app, ["run", "--suite", "smoke", *chosen, "--store", store])
    assert result.exit_code == 0, result.output
    of_smoke = ["tables", "--suite", "smoke", "--store", store]
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
    status = runner.invoke(app, ["status", "--store", store])
    assert status.exit_code == 0
    assert "naive Bayes" in status.output
    picture = tmp_path / "ranks.png"
    ranks = ["ranks", "--suite", "smoke", "--store", store, "--output", str(picture)]
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
        result = runner.invoke(app, ["tables", *arguments, "--format", "csv"])
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
    result = runner.invoke(app, ["tables", "--store", str(path)])
    assert "Seeds, 2 of 10 folds" in result.stdout
    for table in ("effects", "approaches"):
        result = runner.invoke(app, ["tables", "--table", table, "--store", str(path)])
        assert result.exit_code == 2
        assert "Got naive Bayes on seeds (2 of 10 folds)" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--data-sets", "iris"], "data-sets must be among abalone"),
        (["run", "--classifiers", "nb", "svm"], "Got svm"),
        (["tables", "--store", "nothing.sqlite"], "nothing.sqlite must be a file"),
        (["status", "--store", "nothing.sqlite"], "It does not exist"),
        (["tables", "--table", "none"], "none"),
    ],
)
def test_mistakes_get_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_store_gets_one_line(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database at all, only some notes " * 20)
    result = runner.invoke(app, ["status", "--store", str(tmp_path / "notes.txt")])
    assert result.exit_code == 2
    assert "file is not a database" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tables", "--suite", "arena", "--table", "results"], "--table must be one of methods"),
        (["tables", "--table", "methods"], "--table must be one of data-sets"),
        (["tables", "--suite", "arena", "--table", "methods"], "must hold runs of --suite arena"),
        (["tables"], "must hold runs of --suite paper. It has none."),
        (
            ["tables", "--as-published", "--table", "times"],
            "experiments run --suite paper --as-published",
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
    result = runner.invoke(app, [*arguments, "--store", str(store)])
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A cache that lacks Development, with no folder of data files and no network."""
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(downloads, "SOURCE", "http://127.0.0.1:9")
    folder = tmp_path / "calibrant" / "data"
    for name in ("seeds", "ecoli"):
        (folder / name).mkdir(parents=True)
        for file in CATALOG[name].files:
            (folder / name / file).touch()
    return folder


def test_run_names_missing_data_sets_before_it_runs(cache, monkeypatch, tmp_path):
    monkeypatch.setattr(task_runner, "run_unit", lambda unit: pytest.fail(f"ran {unit}"))
    chosen = ("--suite", "smoke", "--jobs", "1", "--store", str(tmp_path / "results.sqlite"))
    result = runner.invoke(app, ["run", *chosen])
    assert result.exit_code == 2
    assert f"must be in {cache}, which lacks development/Development Index.csv" in result.stderr
    assert "or set CALIBRANT_DATA to a folder that has them" in result.stderr
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    result = runner.invoke(app, ["run", *chosen])
    for name in ("seeds/", "development/", "ecoli/"):
        assert name in result.stderr


def test_run_fetches_once_in_the_process_that_starts_it(cache, monkeypatch, tmp_path):
    (cache / "ecoli" / "ecoli.data").unlink()
    chosen = ("--suite", "smoke", "--data-sets", "seeds", "ecoli", "--jobs", "2")
    result = runner.invoke(app, ["run", *chosen, "--store", str(tmp_path / "results.sqlite")])
    assert result.exit_code == 2
    assert "Ecoli could not be downloaded from http://127.0.0.1:9/39/ecoli.zip" in result.stderr
