import csv
import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from functools import partial
from html import unescape

import numpy as np
import pytest
from typer.testing import CliRunner

from calibrant.cli import app
from calibrant.datasets import make_waveform

runner = CliRunner()
ODD = ["<b>x</b>", 'say "hi"', "=cmd()", "🌲"]
QUICK = ["--model", "naive-bayes", "--folds", "2", "--repeats", "1", "--jobs", "1"]


@pytest.fixture
def data(tmp_path):
    """Numbers, categories, gaps and odd names everywhere."""
    X, y = make_waveform(120, random_state=0)
    path = tmp_path / "my data.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *ODD[:2], "patient", "early", "late", "the class"])
        for number, (row, label) in enumerate(zip(X.round(2), y, strict=True)):
            cells = [row[5] if number % 9 else "", ODD[number % 3], f"p{number // 3}"]
            cells += [row[6], row[14]]
            writer.writerow([1000 + number, *cells, ODD[label + 1]])
    return path


def run(*arguments, **options):
    return runner.invoke(app, [str(argument) for argument in arguments], **options)


def commands(page):
    """Read the commands on the page."""
    blocks = re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)
    return [shlex.split(unescape(re.sub(r"<[^>]*>", "", block))) for block in blocks]


def test_the_commands_on_the_page_repeat_the_report_and_fit_the_model(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = data.read_text(encoding="utf-8")
    data.write_text(text.replace(ODD[0], f"-{ODD[0]}", 1), encoding="utf-8")  # in the header
    chosen = ["--target", "the class", "--groups", "patient", f"--ignore=-{ODD[0]}"]
    chosen += ["--categories", ODD[1], *QUICK[:2], "--folds", "5", "--repeats", "2", "--jobs", "1"]
    chosen += ["--missing", "-999", "none", "--merge-case", "--rare-classes", "drop", "--seed", "3"]
    result = run("report", data.name, *chosen, "-o", "page.html")
    assert result.exit_code == 0, result.output
    assert "Which model? Naive Bayes, " in result.stdout
    typed = f"What do I type? To fit this model and save it: calibrant fit '{data.name}'"
    assert f"{typed} --target 'the class'" in result.stdout
    assert result.stdout.endswith("Open page.html in a browser.\n")
    page = (tmp_path / "page.html").read_bytes()
    fit, again = commands(page.decode())
    assert again[:3] == ["calibrant", "report", data.name]
    (tmp_path / "page.html").unlink()
    assert run(*again[1:], "--jobs", "2").exit_code == 0
    assert (tmp_path / "page.html").read_bytes() == page
    assert "--repeats" in again
    assert "--folds" not in again  # the default
    for option in ("--missing=-999", "--missing=none", "--merge-case", "--rare-classes", "--seed"):
        assert option in fit
        assert option in again
    assert run(*fit[1:], "--jobs", "1").exit_code == 0
    assert (tmp_path / "model.skops").exists()
    assert ("none" in fit) == (b">Naive Bayes, uncalibrated<" in page)
    assert b"it has a different whole number in every row" in page
    assert b"Whole groups of rows were split at random into 5 stratified folds" in page


def test_results_are_also_written_as_json(data, tmp_path):
    output, results = tmp_path / "page.html", tmp_path / "results.json"
    arguments = ["--target", "the class", *QUICK, "-o", output, "--json", results]
    result = run("report", data, *arguments)
    assert result.exit_code == 0, result.output
    content = json.loads(results.read_text(encoding="utf-8"))
    assert content["title"] == data.name
    assert f"Can I trust its probabilities? {content['answers']['trust']}" in result.stdout
    for warning in content["warnings"]:
        assert f"Warning: {warning}" in result.stdout
    assert any("use 'patient' for groups" in warning for warning in content["warnings"])
    assert content["next_command"][-1] == "--groups=patient"
    assert (
        f"rows of the same 'patient' kept together: {shlex.join(content['next_command'])}"
        in result.stdout
    )
    results.unlink()
    assert run(*content["next_command"][1:], "--json", results).exit_code == 0
    followed = json.loads(results.read_text(encoding="utf-8"))
    assert followed["groups"] == "patient"
    assert not any("for groups" in warning for warning in followed["warnings"])


def test_several_models_are_compared_on_standard_input(data, tmp_path):
    output = tmp_path / "page.html"
    arguments = ["--target", "the class", "--model", "naive-bayes", "neighbors", *QUICK[2:]]
    result = run("report", "-", *arguments, "-o", output, input=data.read_text(encoding="utf-8"))
    assert result.exit_code == 0, result.output
    page = output.read_text(encoding="utf-8")
    assert "nearest neighbors, calibrated" in page
    assert "standard input" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv", "--target", "class"], "there is no such file"),
        (["my data.csv", "--target", "clas"], "must name a column of the table, got 'clas'"),
        (
            ["my data.csv", "--target", "the class", "--groups", "doctor"],
            "groups must name a column",
        ),
        (["my data.csv", "--target", "the class", "-o", "no/page.html"], "page.html must exist"),
        (["my data.csv", "--target", "the class", "-o", "."], "is a folder. Name a file"),
        (["my data.csv", "--target", "the class", "-o", "./my data.csv"], "not replace an input"),
    ],
)
def test_mistakes_get_one_line_and_nothing_is_written(
    arguments, message, data, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    result = run("report", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [data.name]


@pytest.mark.skipif(sys.platform == "win32", reason="terminals and signals are POSIX")
def test_an_interrupted_report_leaves_nothing_behind(data, tmp_path):
    terminal, end = os.openpty()
    command = [sys.executable, "-m", "calibrant", "report", data, "-o", tmp_path / "page.html"]
    command += ["--target", "the class", "--model", "naive-bayes", "--jobs", "2"]
    command += ["--folds", "10", "--repeats", "500"]
    # A shell starts commands in the background with interrupts ignored, and children inherit that.
    interruptible = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(
        command, stderr=end, start_new_session=True, preexec_fn=interruptible
    )
    os.close(end)
    shown = ""
    try:
        while not re.search(r"evaluating.*\d:\d\d:\d\d", shown):
            shown += os.read(terminal, 1000).decode(errors="replace")
        # As a terminal does it: to the command and its workers.
        os.killpg(process.pid, signal.SIGINT)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and select.select([terminal], [], [], 20)[0]:
            if not (part := _read(terminal)):
                break
            shown += part
        assert process.wait(20) not in (0, 2)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    assert "Traceback" not in shown
    assert [path.name for path in tmp_path.iterdir()] == [data.name]


def _read(terminal):
    try:
        return os.read(terminal, 1000).decode()
    except OSError:  # the other end is closed
        return ""


def test_calibrate_reports_on_given_probabilities(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.RandomState(0)
    truth = rng.dirichlet(np.ones(3), 150)
    sharpened = truth**3 / np.sum(truth**3, axis=1, keepdims=True)
    with open("proba.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*ODD[:3], "truth"])
        for row, probabilities in zip(sharpened, truth, strict=True):
            writer.writerow([*map(repr, row.tolist()), ODD[rng.choice(3, p=probabilities)]])
    arguments = ["proba.csv", "--target", "truth", "--report", "page.html"]
    result = run("calibrate", *arguments)
    assert result.exit_code == 0, result.output
    assert "Open page.html in a browser." in result.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Predicted probabilities of 3 classes" in page
    assert "Your model, calibrated" in page
    apply, again = commands(page)
    assert apply == ["calibrant", "apply", "calibrator.skops", "NEW.csv", "-o", "calibrated.csv"]
    (tmp_path / "page.html").unlink()
    assert run(*again[1:]).exit_code == 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_the_numbers_of_the_report_are_available_as_json(data, tmp_path):
    options = ["--target", "the class", "--ignore", "id", *QUICK, "-o", tmp_path / "page.html"]
    result = run("report", data, *options, "--json", "-", "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    content = json.loads(result.stdout)
    assert content["schema"]["target"] == "the class"
    [model] = content["models"]
    assert model["name"] == "naive Bayes"
    assert model["verdict"] == content["recommendation"]["verdict"]
    notices = {notice["text"] for notice in content["schema"]["notices"]}
    assert notices <= {*content["notes"], *content["warnings"]}
    result = run("report", data, *options, "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_calibration_is_reported_by_columns_that_may_be_ignored_as_features(data, tmp_path):
    output, record = tmp_path / "page.html", tmp_path / "page.json"
    column = ODD[1]
    options = ["--target", "the class", f"--ignore={column}", f"--by={column}", *QUICK]
    result = run("report", data, *options, "-o", output, "--json", record)
    assert result.exit_code == 0, result.output
    assert f"Right for every subgroup by {column!r}? " in result.stdout
    content = json.loads(record.read_text(encoding="utf-8"))
    [described] = [each for each in content["schema"]["columns"] if each["name"] == column]
    assert described["reason"]  # it is not a feature
    found = content["models"][0]["assessment"]["calibrated"]["subgroups"][0]
    assert found["column"] == column
    assert {each["name"] for each in found["calibration"]["subgroups"]} == set(ODD[:3])
    page = output.read_text(encoding="utf-8")
    assert f"--by={column}" in commands(page)[-1]


def test_columns_without_subgroups_are_refused_before_anything_is_fitted(data, tmp_path):
    result = run("report", data, "--target", "the class", "--by", "id", "-o", tmp_path / "p.html")
    assert result.exit_code == 2
    assert "by must name a column that divides the rows into subgroups, got 'id'" in result.stderr
    assert "evaluating" not in result.stderr


def test_costs_are_on_the_page_in_the_json_and_in_the_command(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [["true class", "wait", "treat"]]
    rows += [[name, 0 if name == ODD[1] else 5, 1] for name in ODD[1:]]
    with open("costs.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    options = [*QUICK, "-o", "page.html", "--json", "report.json", "--costs", "costs.csv"]
    result = run("report", data.name, "--target", "the class", *options)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "always <bdi>treat</bdi>" in page
    assert "--costs=costs.csv" in commands(page)[-1]
    [model] = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["models"]
    costs = model["assessment"]["calibrated"]["costs"]
    assert costs["decisions"] == ["wait", "treat"]
    assert [each["estimate"] for each in costs["comparison"]["constant"]][1] == 1.0


def test_costs_of_other_classes_are_refused_before_any_fit(data, tmp_path):
    (tmp_path / "costs.csv").write_text("true class,wait,treat\nillness,0,1\n")
    options = ["--target", "the class", "--costs", tmp_path / "costs.csv"]
    result = run("report", data, *options, "-o", tmp_path / "page.html")
    assert result.exit_code == 2
    assert "must name each class of the model once, got 'illness'" in result.stderr
    assert "evaluating" not in result.stderr
