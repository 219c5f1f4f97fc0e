import html
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibrant.datasets import make_waveform
from calibrant.tabular import TableModel

FIXTURES = Path(__file__).parent.parent / "persistence" / "fixtures" / "before_0.1.0"
NAMES = "abc"


def write_rows(write_csv, name, n_rows, seed, *, keep=lambda y: np.ones(len(y), bool), noise=0.0):
    X, y = make_waveform(n_rows, random_state=seed)
    rng = np.random.RandomState(seed)
    y = np.where(rng.uniform(size=n_rows) < noise, rng.permutation(y), y)
    kept = keep(y)
    rows = [[*row, NAMES[label]] for row, label in zip(X[kept].tolist(), y[kept], strict=True)]
    return write_csv(name, [*(f"x{k}" for k in range(X.shape[1])), "y"], rows)


@pytest.fixture
def fitted(run, write_csv, tmp_path):
    """A model that was fitted to waveforms."""
    data = write_rows(write_csv, "train.csv", 1000, 0)
    options = ["--target", "y", "--model", "naive-bayes", "--jobs", 1, "-o", tmp_path / "m.skops"]
    result = run("fit", data, *options)
    assert result.exit_code == 0, result.output
    return tmp_path / "m.skops"


@pytest.fixture
def mix(write_csv):
    """Rows of which those of one class are mostly missing."""
    return write_rows(
        write_csv, "mix.csv", 900, 1, keep=lambda y: (y > 0) | (np.arange(900) % 9 == 0)
    )


@pytest.fixture
def probabilities_of(run, tmp_path):
    def predict(model, data, name):
        result = run(
            "predict", model, data, "--keep", "y", "--digits", "all", "-o", tmp_path / name
        )
        assert result.exit_code == 0, result.output
        return tmp_path / name

    return predict


def test_a_new_mix_of_classes_has_exit_code_4_and_is_named(run, fitted, mix, tmp_path):
    options = ["-o", tmp_path / "v.html", "--json", tmp_path / "v.json"]
    result = run("validate", fitted, mix, *options)
    assert result.exit_code == 4, result.output
    assert "Are the probabilities right? No" in result.stdout
    assert "The mix of classes: 'a' made up" in result.stdout
    assert result.stdout.endswith(f"Open {tmp_path / 'v.html'} in a browser.\n")
    [model] = json.loads((tmp_path / "v.json").read_text())["models"]
    assert (model["verdict"], model["cause"]) == ("miscalibrated", "class frequencies")
    assert "calibrant</span>" in (tmp_path / "v.html").read_text()


def test_rows_like_those_of_training_have_exit_code_0(run, fitted, write_csv, tmp_path):
    same = write_rows(write_csv, "same.csv", 4000, 5)
    updated = run("update", fitted, same, "-o", tmp_path / "u.skops", "-q")
    assert (updated.exit_code, updated.output) == (0, "")
    new = write_rows(write_csv, "new.csv", 3000, 6)
    result = run("validate", tmp_path / "u.skops", new, "-o", tmp_path / "v.html", "-q")
    assert (result.exit_code, result.stdout) == (0, "")


def test_too_few_rows_have_exit_code_3(run, fitted, write_csv, tmp_path):
    few = write_rows(write_csv, "few.csv", 25, 3)
    result = run("validate", fitted, few, "-o", tmp_path / "v.html", "--json", "-")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["n_rows"] == 25


def test_an_update_writes_a_model_that_predicts_and_remembers(
    run, fitted, mix, probabilities_of, tmp_path
):
    before = fitted.read_bytes()
    path = tmp_path / "u.skops"
    result = run("update", fitted, mix, "-o", path, "--json", tmp_path / "u.json")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("A correction for class frequencies is chosen: ")
    assert fitted.read_bytes() == before
    content = json.loads((tmp_path / "u.json").read_text())
    assert content["choice"] == "intercepts"
    assert [entry["choice"] for entry in content["history"]] == ["intercepts"]
    assert len(TableModel.load(path).history) == 1
    old, new = (
        np.genfromtxt(probabilities_of(model, mix, name), delimiter=",", names=True)["a"]
        for model, name in ((fitted, "old.csv"), (path, "new.csv"))
    )
    assert new.mean() < old.mean()
    again = run("validate", fitted, mix, "--against", path, "-o", tmp_path / "v.html")
    assert "Which one is better? u.skops, beyond chance" in again.stdout
    assert "as the data that u.skops was fitted or updated on" in again.stderr


def test_tables_of_probabilities_are_validated_like_models(
    run, fitted, mix, probabilities_of, tmp_path
):
    table = probabilities_of(fitted, mix, "p.csv")
    page, numbers = tmp_path / "v.html", tmp_path / "v.json"
    direct = run("validate", fitted, mix, "--against", table, "-o", page, "--json", numbers)
    first, second = json.loads(numbers.read_text())["models"]
    assert first["miscalibration"] == second["miscalibration"]
    alone = run("validate", table, "--target", "y", "-o", page)
    assert direct.exit_code == alone.exit_code == 4
    assert "Unknown: nothing was recorded" in alone.stdout
    assert "calibrator.skops" in page.read_text()


def test_a_single_column_of_probabilities_is_enough(run, write_csv, tmp_path):
    rng = np.random.RandomState(0)
    score = rng.uniform(size=300)
    labels = np.where(rng.uniform(size=300) < score, "sick", "well").tolist()
    rows = list(zip(labels, score.tolist(), strict=True))
    table = write_csv("vendor.csv", ["truth", "risk"], rows)
    options = ["--target", "truth", "-o", tmp_path / "v.html", "--json", tmp_path / "v.json"]
    for more in (["--positive", "sick"], ["--columns", "risk=sick"]):
        result = run("validate", table, *options, *more)
        assert result.exit_code in (0, 3), result.output
        [model] = json.loads((tmp_path / "v.json").read_text())["models"]
        expected = np.maximum(score, 1 - score).mean()
        assert model["performance"]["confidence"]["estimate"] == pytest.approx(expected)


def test_a_saved_calibrator_is_validated_and_updated(run, probabilities, calibrator, tmp_path):
    result = run("validate", calibrator, probabilities, "-o", tmp_path / "v.html")
    assert result.exit_code in (0, 3, 4), result.output
    assert "If the rows are the same" in result.stderr
    assert run("update", calibrator, probabilities, "-o", tmp_path / "u.skops").exit_code == 0
    assert run("apply", tmp_path / "u.skops", probabilities).exit_code == 0


def test_models_of_earlier_versions_say_what_is_missing(run, write_csv, tmp_path):
    lines = (FIXTURES / "new_rows.csv").read_text().splitlines()
    header, rows = lines[0].split(","), [line.split(",") for line in lines[1:]]
    data = [[*row, NAMES[number % 3]] for number, row in enumerate(rows * 10)]
    new = write_csv("new.csv", [*header, "truth"], data)
    options = ["--target", "truth", "-o", tmp_path / "v.html"]
    result = run("validate", FIXTURES / "table.skops", new, *options)
    assert result.exit_code in (0, 3, 4), result.output
    assert "Unknown: scores were not recorded when the model was fitted." in result.stdout
    updated = run(
        "update", FIXTURES / "table.skops", new, "--target", "truth", "-o", tmp_path / "u.skops"
    )
    assert updated.exit_code == 0, updated.output


def test_suggested_commands_exist_and_repeat_all_options(run, fitted, mix, write_csv, tmp_path):
    page = tmp_path / "v.html"

    def commands(*arguments):
        result = run("validate", *arguments, "-o", page)
        assert result.exit_code in (0, 3, 4), result.output
        blocks = re.findall(r"<pre><code>(.*?)</code></pre>", page.read_text(), re.DOTALL)
        return [html.unescape(re.sub("<[^>]*>", "", block)) for block in blocks]

    rng = np.random.RandomState(0)
    score = rng.uniform(size=300)
    labels = np.where(rng.uniform(size=300) < score**4, "sick", "well").tolist()
    rows = list(zip(labels, score.tolist(), [n // 2 for n in range(300)], strict=True))
    table = write_csv("vendor.csv", ["truth", "risk", "patient"], rows)
    options = ["--target", "truth", "--groups", "patient", "--columns", "risk=sick"]
    suggested, repeated = commands(table, *options)
    assert "calibrant calibrate" in suggested
    assert "--groups" not in suggested
    assert "--columns=risk=sick" in suggested
    assert "--groups=patient" in repeated
    assert "vendor.csv on" not in re.sub("<[^>]*>", "", page.read_text())
    suggested, repeated = commands(fitted, mix, "--columns", "x0=a")
    assert "calibrant update" in suggested
    assert "--columns" not in suggested
    assert "--columns=x0=a" in repeated


def test_the_sheet_is_also_that_of_the_second_table(run, fitted, mix, probabilities_of, tmp_path):
    table = pd.read_csv(probabilities_of(fitted, mix, "p.csv"))
    both = tmp_path / "p.xlsx"
    with pd.ExcelWriter(both) as writer:
        table.assign(a=0.98, b=0.01, c=0.01).to_excel(writer, sheet_name="old", index=False)
        table.to_excel(writer, sheet_name="new", index=False)
    options = ["--target", "y", "-o", tmp_path / "v.html", "--sheet", "new", "--json", "-", "-q"]
    copy = tmp_path / "copy.xlsx"
    copy.write_bytes(both.read_bytes())
    found = json.loads(run("validate", both, "--against", copy, *options).stdout)
    assert found["difference"]["log_loss"]["estimate"] == 0.0
    second = run("validate", both, "--against", tmp_path / "p.csv", *options)
    found = json.loads(second.stdout)["difference"]["log_loss"]
    assert found["estimate"] == pytest.approx(0, abs=1e-9)


def test_a_model_is_not_compared_with_itself(run, is_refused, fitted, mix, tmp_path):
    link = tmp_path / "link.skops"
    link.symlink_to(fitted)
    for second in (fitted, link):
        result = run("validate", fitted, mix, "--against", second, "-o", tmp_path / "v.html")
        assert is_refused(result, "are the same file. Name the other model, or omit --against.")


def test_several_columns_of_probabilities_may_follow_the_table(run, write_csv, tmp_path):
    rows = [("sick" if i % 3 else "well", 0.4, 0.6) for i in range(90)]
    table = write_csv("vendor.csv", ["truth", "p", "q"], rows)
    result = run(
        *("validate", table, "--target", "truth", "--columns", "p=well", "q=sick"),
        *("-o", tmp_path / "v.html"),
    )
    assert result.stdout.startswith("Are the probabilities right?"), result.output


def test_values_outside_the_training_range_are_mentioned_on_the_page(
    run, fitted, write_csv, tmp_path
):
    rows = write_rows(write_csv, "far.csv", 200, 3)
    table = pd.read_csv(rows)
    table.loc[0, "x0"] = 1000.0
    table.to_csv(rows, index=False)
    result = run("validate", fitted, rows, "-o", tmp_path / "v.html")
    [note] = [line for line in result.stderr.splitlines() if "'x0'" in line]
    page = html.unescape((tmp_path / "v.html").read_text())
    assert note.removeprefix("note: ") in page[: page.index("Are the probabilities right? <")]


def test_a_single_group_can_neither_update_nor_validate_a_model(
    run, fitted, mix, is_refused, tmp_path
):
    table = pd.read_csv(mix).assign(patient="p1")
    table.to_csv(tmp_path / "one.csv", index=False)
    options = ["--groups", "patient", "-o", tmp_path / "u.skops", "-q"]
    result = run("update", fitted, tmp_path / "one.csv", *options)
    assert is_refused(result, "at least two groups")
    options = ["--groups", "patient", "-o", tmp_path / "v.html", "-q"]
    result = run("validate", fitted, tmp_path / "one.csv", *options)
    assert is_refused(result, "at least two groups")


def test_accidents_are_refused_and_leave_all_files_alone(run, fitted, mix, is_refused, tmp_path):
    link = tmp_path / "link.skops"
    os.symlink(fitted, link)
    kept = {path: path.read_bytes() for path in (fitted, mix)}
    page = tmp_path / "v.html"
    for arguments, message in (
        (["update", fitted, mix, "-o", fitted], "must not replace an input"),
        (["update", fitted, mix, "-o", link], "must not replace an input"),
        (["update", fitted, mix, "-o", mix], "must not replace an input"),
        (
            ["update", fitted, mix, "-o", tmp_path / "u.skops", "--json", mix],
            "must not replace an input",
        ),
        (["validate", fitted, mix, "-o", mix], "must not replace an input"),
        (["validate", fitted, "-o", page], "no data file was given"),
        (["validate", mix, "--target", "y", "-o", page], "one column for each class"),
        (["validate", fitted, mix, "--target", "z", "-o", page], "no such column"),
        (["validate", tmp_path / "none.skops", mix, "-o", page], "there is no such file"),
    ):
        assert is_refused(run(*arguments), message)
    assert {path: path.read_bytes() for path in kept} == kept
    assert not page.exists()


def test_calibration_is_reported_by_the_values_of_columns(
    run, is_refused, fitted, write_csv, tmp_path
):
    X, y = make_waveform(200, random_state=5)
    sites = ["north", "south", ""]
    rows = [
        [*row, NAMES[label], sites[number % 3], number % 70]
        for number, (row, label) in enumerate(zip(X.tolist(), y, strict=True))
    ]
    data = write_csv("by.csv", [*(f"x{k}" for k in range(X.shape[1])), "y", "site", "age"], rows)
    page, record = tmp_path / "v.html", tmp_path / "v.json"
    result = run("validate", fitted, data, "--by", "site", "age", "-o", page, "--json", record)
    assert result.exit_code in (0, 3, 4), result.output
    assert "Right for every subgroup by 'site'? " in result.stdout
    content = json.loads(record.read_text())["models"][0]["assessment"]["subgroups"]
    assert [each["column"] for each in content] == ["site", "age"]
    by_site, by_age = (
        [row["name"] for row in each["calibration"]["subgroups"]] for each in content
    )
    assert by_site == ["north", "south", "missing"]
    assert by_age == ["0 to 22", "23 to 44", "45 to 69"]
    shown = page.read_text(encoding="utf-8")
    assert "By <bdi>site</bdi>" in shown
    assert "--by=site" in html.unescape(re.sub(r"<[^>]*>", "", shown))
    message = "by must name a column other than the target, got 'y'"
    assert is_refused(run("validate", fitted, data, "--by", "y", "-o", page), message)


def test_costs_and_methods_are_in_the_page_and_the_json(run, write_csv, tmp_path):
    proba = np.linspace(0.05, 0.95, 60)
    rows = [[1 - p, p, "ab"[int(k % 5 < 5 * p)]] for k, p in enumerate(proba.tolist())]
    data = write_csv("scores.csv", ["a", "b", "y"], rows)
    costs = write_csv("costs.csv", ["true class", "wait", "treat"], [["b", 9, 0], ["a", 0, 1]])
    options = ["-o", tmp_path / "v.html", "--json", tmp_path / "v.json", "--costs", costs]
    result = run("validate", data, "--target", "y", *options)
    assert result.exit_code in (0, 3, 4), result.output
    content = json.loads((tmp_path / "v.json").read_text())
    [model] = content["models"]
    [pair] = model["assessment"]["costs"]["thresholds"]
    assert pair["threshold"] == [pytest.approx(0.1)]
    assert content["methods"]["paragraph"].startswith("The probabilities of scores.csv were")
    page = html.unescape((tmp_path / "v.html").read_text(encoding="utf-8"))
    assert "'treat' from 10.0% on." in page
    assert f"--costs={costs}" in page
