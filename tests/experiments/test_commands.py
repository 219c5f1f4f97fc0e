import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from calibrant.datasets import downloads
from calibrant.datasets.catalog import CATALOG
from experiments import runner
from experiments.commands import app
from experiments.paper.methods import CORRECT_METHODS
from experiments.registry import EXPERIMENTS
from experiments.store import Store


def invoke(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_help_lists_every_experiment_with_its_title():
    output = invoke("run", "--help").output
    for experiment in EXPERIMENTS.values():
        assert f"{experiment.name} " in output
        assert experiment.title in output


def test_help_lists_every_table_below_its_experiments():
    output = invoke("tables", "--help").output
    assert "By default, results or methods." in " ".join(output.split())
    _, *paragraphs = output.split("  Experiments ")
    for experiment in EXPERIMENTS.values():
        [paragraph] = [each for each in paragraphs if experiment.name in each.partition(":")[0]]
        for name, table in experiment.tables.items():
            assert f"    {name:<14}{table.description}\n" in paragraph


def test_every_table_can_be_made_from_a_run(path, tmp_path, paper_data):
    chosen = ["--data-sets", "seeds", "ecoli", "--classifiers", "nb", "--jobs", "1"]
    result = invoke("run", "--experiment", "smoke", *chosen, "--store", path)
    assert result.exit_code == 0, result.output
    of_smoke = ["--experiment", "smoke", "--store", path]
    for table, (title, column) in {
        "data-sets": ("Pendigits", "Pendigits"),
        "results": ("multi-class raw", "multiclass_raw"),
        "effects": ("one-vs-rest DGG+ENIR", "one_vs_rest_dgg_enir"),
        "approaches": ("Wilcoxon p", "paired_holm_p"),
        "times": ("naive Bayes", "model published"),
        "folds": ("fold", "published_LL"),
    }.items():
        for form in ("text", "markdown", "latex", "csv"):
            printed = invoke("tables", *of_smoke, "--table", table, "--format", form)
            assert printed.exit_code == 0, printed.output
            assert (column if form == "csv" else title) in printed.output
    status = invoke("status", "--store", path)
    assert status.exit_code == 0
    assert status.output.count("naive Bayes") == len(EXPERIMENTS) - 1
    image = tmp_path / "ranks.png"
    assert invoke("ranks", *of_smoke, "--output", image).exit_code == 0
    assert image.read_bytes().startswith(b"\x89PNG")


def certain_runs(make_run, experiment, n_folds, n_stored, certainty):
    """Runs of all methods on four rows whose true class has one probability."""
    proba = np.column_stack([np.full(4, certainty), np.full(4, 1 - certainty)])
    return [
        make_run(
            experiment=experiment,
            method=method,
            fold=fold,
            n_folds=n_folds,
            y_true=np.zeros(4, dtype=int),
            proba=proba,
        )
        for method in CORRECT_METHODS
        for fold in range(n_stored)
    ]


def test_tables_are_of_one_experiment(path, make_run):
    with Store(path) as store:
        store.add(certain_runs(make_run, "smoke", 3, 3, certainty=0.5))
        store.add(certain_runs(make_run, "paper", 10, 10, certainty=0.9))
    for experiment, certainty, n_folds in (("smoke", 0.5, "3"), ("paper", 0.9, "10")):
        arguments = ["--experiment", experiment, "--store", path, "--metrics", "equations"]
        result = invoke("tables", *arguments, "--format", "csv")
        rows = list(csv.DictReader(result.stdout.splitlines()))
        assert len(rows) == 5 * 2
        for row in rows:
            loss = -np.log(certainty) if row["metric"] == "LL" else 2 * (1 - certainty) ** 2
            assert float(row["value"]) == pytest.approx(loss, rel=1e-5)
            assert row["folds"] == n_folds


def test_tables_of_unfinished_runs_say_so(path, make_run):
    with Store(path) as store:
        store.add(certain_runs(make_run, "paper", 10, 2, certainty=0.9))
    assert "Seeds, 2 of 10 folds" in invoke("tables", "--store", path).stdout
    for table in ("effects", "approaches"):
        result = invoke("tables", "--table", table, "--store", path)
        assert result.exit_code == 2
        assert "got naive Bayes on seeds (2 of 10 folds)" in result.stderr


def test_the_report_is_written(path, tmp_path, make_run):
    with Store(path) as store:
        store.add(certain_runs(make_run, "smoke", 3, 3, certainty=0.5))
    page = tmp_path / "page.html"
    result = invoke("report", "--store", path, "-o", page)
    assert result.exit_code == 0, result.output
    assert f"Open {page} in a browser." in result.output
    assert "A first look" in page.read_text(encoding="utf-8")


def test_the_harm_table_covers_all_experiments_of_the_arena(path, make_run):
    with Store(path) as store:
        store.add(
            make_run(experiment=experiment, method=method, fold=fold, n_folds=3)
            for experiment in ("arena", "arena-50")
            for method in ("raw", "auto")
            for fold in range(2)
        )
    printed = invoke("tables", "--table", "harm", "--store", path, "--format", "csv")
    rows = list(csv.DictReader(printed.stdout.splitlines()))
    assert [(row["experiment"], row["cases"]) for row in rows] == [
        ("arena-50", "1"),
        ("arena", "1"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--data-sets", "iris"], "The data sets of experiment paper must be among abalone"),
        (["run", "--classifiers", "nb", "svm"], "got svm"),
        (["tables", "--store", "nothing.sqlite"], "nothing.sqlite does not exist"),
        (["status", "--store", "nothing.sqlite"], "Create it with"),
        (["tables", "--table", "none"], "must be one of data-sets"),
        (["run", "--experiment", "none"], "must be one of paper"),
        (["tables", "--suite", "smoke"], "No such option"),
    ],
)
def test_mistakes_leave_no_file_and_exit_with_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["tables", "--experiment", "arena", "--table", "results"],
            "--table must be one of methods",
        ),
        (["tables", "--table", "methods"], "--table must be one of results"),
        (
            ["tables", "--experiment", "arena", "--table", "methods"],
            "must contain runs of experiment arena, but it has none",
        ),
        (["tables"], "must contain runs of experiment paper, but it has none"),
        (
            ["tables", "--experiment", "as-published", "--table", "times"],
            "python -m experiments run --experiment as-published",
        ),
        (["tables", "--table", "harm"], "must contain runs of the arena experiments, but it has"),
        (
            ["tables", "--table", "splits"],
            "must contain runs of the splits experiments, but it has",
        ),
        (["ranks"], "must contain runs of experiment arena, but it has none"),
        (["ranks", "--classifiers", "nb", "svm", "--experiment", "paper"], "got svm"),
        (["report", "-o", "page.html"], "it has none yet"),
    ],
)
def test_an_empty_store_gives_a_one_line_error(arguments, message, path, monkeypatch):
    monkeypatch.chdir(path.parent)
    with Store(path):
        pass
    result = invoke(*arguments, "--store", path)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert list(path.parent.iterdir()) == [path]


def test_the_arena_names_missing_packages(path, monkeypatch):
    monkeypatch.setattr("experiments.arena.peers.find_spec", lambda name: None)
    result = invoke("run", "--experiment", "arena-50", "--store", path)
    assert result.exit_code == 2
    assert "probmetrics, venn_abers, netcal are not installed" in result.stderr
    assert "make arena" in result.stderr


def test_a_file_that_is_not_a_store_gives_a_one_line_error(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database at all, only some notes " * 20)
    result = invoke("status", "--store", tmp_path / "notes.txt")
    assert result.exit_code == 2
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


def test_missing_data_sets_are_named_before_anything_is_run(cache, path, monkeypatch):
    monkeypatch.setattr(runner, "run_task", lambda *task: pytest.fail(f"ran {task}"))
    chosen = ["--experiment", "smoke", "--jobs", "1", "--store", path]
    result = invoke("run", *chosen)
    assert result.exit_code == 2
    assert f"must be in {cache}, which lacks development/Development Index.csv" in result.stderr
    assert "or set CALIBRANT_DATA to a folder that has them" in result.stderr
    monkeypatch.setenv("CALIBRANT_DATA", str(path.parent))
    result = invoke("run", *chosen)
    for name in ("seeds/", "development/", "ecoli/"):
        assert name in result.stderr


def test_missing_files_are_downloaded_before_anything_is_run(cache, path):
    (cache / "ecoli" / "ecoli.data").unlink()
    chosen = ["--experiment", "smoke", "--data-sets", "seeds", "ecoli", "--jobs", "2"]
    result = invoke("run", *chosen, "--store", path)
    assert result.exit_code == 2
    assert "Ecoli could not be downloaded from http://127.0.0.1:9/39/ecoli.zip" in result.stderr
