import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibrant import tabular
from calibrant.tabular import TableModel, describe_table, fit_table, read_table

TARGET = "=cmd()"
QUICK = ["--target", TARGET, "--model", "naive-bayes", "--method", "temperature", "--jobs", 1]


def test_fit_describes_the_model_that_it_saves(run, data, tmp_path):
    output = tmp_path / "m.skops"
    options = ["--target", TARGET, "--model", "naive-bayes", "--jobs", 1, "-o", output]
    result = run("fit", data, *options)
    assert result.exit_code == 0, result.output
    first, *_, last = result.stdout.splitlines()
    assert first == "Naive Bayes fitted to 100 rows with 4 features and 3 classes of '=cmd()'."
    assert TableModel.load(output).report in result.stdout
    assert last == f"Saved to {output}."


def test_fit_is_reproducible(run, model, data, tmp_path):
    again = tmp_path / "again.skops"
    assert run("fit", data, *QUICK, "-o", again).exit_code == 0
    assert run("predict", again, data).stdout == run("predict", model, data).stdout


@pytest.mark.parametrize(("name", "method"), [("random-forest", None), ("naive-bayes", "auto")])
def test_a_new_process_predicts_the_same_to_the_last_bit(data, read_csv, tmp_path, name, method):
    table = read_table(data)
    fitted = fit_table(table, describe_table(table, TARGET), model=name, method=method)
    fitted.save(tmp_path / "model.skops")
    command = [sys.executable, "-m", "calibrant", "predict", "model.skops", "data.csv"]
    command += ["--digits", "all"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, encoding="utf-8")
    assert done.stderr == "Wrote predictions for 100 rows to standard output.\n"
    _, rows = read_csv(done.stdout)
    proba = np.array([row[2:] for row in rows], dtype=float)
    np.testing.assert_array_equal(proba, fitted.predict_proba(table))


def test_missing_columns_and_invalid_cells_are_named(run, is_refused, model, data, odd, write_csv):
    table = read_table(data)
    new = write_csv("new.csv", odd[1:], table[list(odd[1:])].fillna("").to_numpy().tolist())
    assert is_refused(run("predict", model, new), "It lacks '<script>alert(1)</script>'.")
    rows = table.fillna("").to_numpy().tolist()
    rows[3][3] = "<img>"
    new = write_csv("new.csv", odd, rows)
    message = "'שלום' must hold numbers, got '<img>' in line 5."
    assert is_refused(run("predict", model, new), message)


def test_unseen_categories_are_noted_and_treated_as_rare(
    run, model, data, odd, write_csv, read_csv
):
    rows = read_table(data).fillna("").to_numpy().tolist()
    rows[0][2] = "=never()"
    result = run("predict", model, write_csv("new.csv", odd, rows))
    assert result.exit_code == 0
    assert result.stderr.startswith("note: '🌲' has categories that the model was not trained on")
    assert "'=never()'" in result.stderr
    assert len(read_csv(result.stdout)[1]) == 100


def test_values_outside_the_training_range_are_noted_per_column(run, model, data, odd, write_csv):
    table = read_table(data)
    numbers = [float(cell) for cell in table[odd[3]]]
    rows = table.fillna("").to_numpy().tolist()
    rows[1][3], rows[4][3] = max(numbers) + 1, max(numbers) + 500
    result = run("predict", model, write_csv("new.csv", odd, rows))
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == (
        "note: 2 of 100 rows have values outside the range of the training data: 'שלום' "
        f"(trained on {min(numbers)} to {max(numbers)}; 2 rows, as far as {max(numbers) + 500} "
        "in line 6)."
    )


def test_fit_prints_its_result_as_json_and_nothing_else(run, data, tmp_path):
    output = tmp_path / "m.skops"
    result = run("fit", data, *QUICK, "-o", output, "--json", "-", "--quiet")
    assert result.stderr == ""
    content, model = json.loads(result.stdout), TableModel.load(output)
    assert content["settings"] == model.settings
    assert content["schema"] == model.schema.to_dict()
    assert content["calibration_report"] == model.classifier.calibration_report_.to_dict()
    assert content["output"] == str(output)
    assert content["notes"] == [notice.text for notice in model.schema.notices]


def test_a_quiet_fit_prints_nothing(run, data, tmp_path):
    result = run("fit", data, *QUICK, "-o", tmp_path / "m.skops", "-q")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_groups_and_ignored_columns_are_not_used(run, data, odd, tmp_path):
    output = tmp_path / "m.skops"
    options = ["--groups", odd[0], "--ignore", odd[1], odd[2]]
    result = run("fit", data, *QUICK, *options, "-o", output)
    assert result.exit_code == 0, result.output
    assert TableModel.load(output).input_columns == (odd[3],)


def test_numbers_can_be_declared_categories(run, write_csv, read_csv, tmp_path):
    # The class depends on the code, but not on its size.
    rows = [[n % 6, "uv"[n % 2]] for n in range(120)]
    file = write_csv("data.csv", ["code", "y"], rows)
    model = tmp_path / "m.skops"
    options = ["--target", "y", "--model", "logistic", "--jobs", 1, "-o", model]
    result = run("fit", file, *options, "--categories", "code")
    assert result.exit_code == 0, result.output
    new = write_csv("new.csv", ["code"], [[2], [5], ["5.0"], [7]])
    result = run("predict", model, new)
    assert result.stderr.splitlines()[0].endswith("treated as rare categories: '7'.")
    proba = np.array([row[2:] for row in read_csv(result.stdout)[1]], dtype=float)
    assert proba[0, 0] > 0.9
    assert proba[1, 1] > 0.9
    np.testing.assert_array_equal(proba[1], proba[2])


def test_a_class_in_a_single_group_is_fitted_saved_and_predicted(run, write_csv, tmp_path):
    # When its group is held out, so are all of its rows: the calibrator never sees the class.
    rng = np.random.RandomState(0)
    rows = [
        [*row, f"g{n // 6}", "abc"[min(n // 6, 2) if n < 18 else n % 2]]
        for n, row in enumerate(rng.normal(size=(90, 2)).round(3).tolist())
    ]
    file = write_csv("data.csv", ["x", "z", "g", "y"], rows)
    model = tmp_path / "m.skops"
    fit = ["fit", file, "--target", "y", "--groups", "g", "--model", "naive-bayes", "--jobs", 1]
    for method in ("auto", "enir"):
        result = run(*fit, "--method", method, "-o", model)
        assert result.exit_code == 0, result.output
        table = read_table(file)
        schema = describe_table(table, "y", groups="g")
        expected = fit_table(table, schema, model="naive-bayes", method=method)
        np.testing.assert_array_equal(
            TableModel.load(model).predict_proba(table), expected.predict_proba(table)
        )


def test_notices_are_lines_on_standard_error(run, data, odd, write_csv, tmp_path):
    table = read_table(data).fillna("")
    rows = [[*row, n, row[4]] for n, row in enumerate(table.to_numpy().tolist())]
    wide = write_csv("wide.csv", [*odd, "row_id", "copy"], rows)
    result = run("fit", wide, *QUICK, "-o", tmp_path / "m.skops")
    assert result.exit_code == 0
    notices = describe_table(read_table(wide), TARGET).notices
    assert {(notice.topic, notice.severity) for notice in notices} == {
        ("leakage", "warning"),
        ("ignored", "note"),
    }
    lines = [f"{notice.severity.value}: {notice.text}" for notice in notices]
    assert result.stderr.splitlines()[: len(lines)] == lines


def test_fit_warns_of_a_model_that_only_guesses(run, write_csv, tmp_path):
    rng = np.random.RandomState(0)
    rows = [[*rng.normal(size=2), "ab"[n % 2]] for n in range(200)]
    noise = write_csv("noise.csv", ["x", "z", "y"], rows)
    fit = ["fit", noise, "--target", "y", "--model", "logistic", "-o", tmp_path / "m.skops"]
    assert "warning: On held-out rows, the model is " in run(*fit).stderr
    strong = write_csv("strong.csv", ["x", "z", "y"], [[x + (y == "a"), z, y] for x, z, y in rows])
    assert run("fit", strong, *fit[2:]).stderr == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "it is empty"),
        (pickle.dumps({"x": [1, 2]}), "must be"),
        ("x,y\n" + "".join(f"{n},a\n" for n in range(30)), "'y' is 'a' in every row"),
        ("x,z\n1,a\n2,b\n", "got 'y'. Choose one of 'x', 'z'"),
    ],
    ids=["empty", "a pickle", "one class", "no target"],
)
def test_a_file_that_cannot_be_fitted_is_refused_and_no_model_is_written(
    run, is_refused, tmp_path, content, message
):
    path = tmp_path / "bad.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("fit", path, "--target", "y", "-o", tmp_path / "model.skops")
    assert is_refused(result, message)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are those of POSIX")
def test_files_without_permission_are_refused(run, is_refused, unprivileged):
    # Not in tmp_path, whose parents are closed to others.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "data.csv"
        path.write_text("x,y\n1,a\n")
        path.chmod(0)
        fit = ["fit", path, "--target", "y", "-o", folder / "model.skops"]
        folder.chmod(0o777)
        with unprivileged():
            result = run(*fit)
        assert is_refused(result, "you do not have permission to read it")
        folder.chmod(0o555)
        with unprivileged():
            result = run(*fit)
        assert is_refused(result, "The output must be writable.")
        folder.chmod(0o755)
        assert list(folder.iterdir()) == [path]


def test_columns_and_outputs_are_checked_before_anything_is_fitted(
    run, is_refused, data, tmp_path, monkeypatch
):
    monkeypatch.setattr(tabular, "fit_table", lambda *args, **options: pytest.fail("fitted"))
    fit = ["fit", data, "--target", TARGET]
    assert is_refused(run(*fit, "--groups", "none"), "groups must name a column")
    assert is_refused(run(*fit, "-o", tmp_path), "is a folder. Name a file")
    assert is_refused(run(*fit, "-o", tmp_path / "no" / "m.skops"), "m.skops must exist")


def test_an_interrupted_fit_leaves_no_file(run, data, tmp_path, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(tabular, "fit_table", interrupt)
    output = tmp_path / "out" / "model.skops"
    output.parent.mkdir()
    result = run("fit", data, "--target", TARGET, "-o", output)
    assert result.exit_code not in (0, 2)
    assert list(output.parent.iterdir()) == []
    assert "Traceback" not in result.output


def test_fit_replaces_an_older_model_but_no_input_and_no_other_file(
    run, is_refused, model, data, tmp_path
):
    table, page = data.read_bytes(), b"<!doctype html><title>page</title>"
    fit = ["fit", data, *QUICK, "-o"]
    assert is_refused(run(*fit, data), "must not replace an input")
    other = tmp_path / "other"
    other.write_bytes(page)
    assert is_refused(run(*fit, other), "is a web page, and a model would replace it")
    assert data.read_bytes() == table
    assert other.read_bytes() == page
    assert run(*fit, model).exit_code == 0


def messy_rows(n_rows=90):
    """Return rows as people write them: dollars, percentages, units, marks and spellings."""
    rng = np.random.RandomState(0)
    rows = []
    for n in range(n_rows):
        label = n % 3
        price = 4000 * (label + 1) + 900 * rng.normal()
        rate = 20 + 15 * label + 9 * rng.normal()
        glucose = "unknown" if n % 10 == 9 else f"{80 + 20 * label + 9 * rng.normal():.0f} mg/dL"
        age = -999 if n % 15 == 14 else rng.randint(18, 80)
        name = (
            ["Yes", "no", "maybe"][label].upper() if n % 8 == 7 else ["Yes", "no", "maybe"][label]
        )
        rows.append([f"${price:,.2f}", f"{rate:.1f}%", glucose, age, name])
    return rows


MESSY = ["price", "rate", "glucose", "age", "y"]
MESSY_OPTIONS = ["--target", "y", "--merge-case", "--missing", "-999", *QUICK[2:]]


def test_a_model_reads_new_data_as_it_read_the_training_data(run, write_csv, read_csv, tmp_path):
    rows, model = messy_rows(), tmp_path / "m.skops"
    data = write_csv("data.csv", MESSY, rows)
    result = run("fit", data, *MESSY_OPTIONS, "-o", model)
    assert result.exit_code == 0, result.output
    assert "with 4 features and 3 classes" in result.stdout
    for text in ("'price' ('$", "'rate' ('", "mg/dL' as", "'-999' (6 cells in 'age')", "'unknown'"):
        assert text in result.stderr
    expected = run("predict", model, data).stdout
    assert read_csv(expected)[0][2:] == ["Yes", "maybe", "no"]

    def plain(text):
        return str(text).strip("$%").replace(",", "").replace(" mg/dL", "")

    blank = {"unknown": "", "-999": ""}
    clean = [[blank.get(plain(cell), plain(cell)) for cell in row[:4]] for row in rows]
    result = run("predict", model, write_csv("clean.csv", MESSY[:4], clean))
    assert result.stdout == expected
    assert "'rate' is in % in the training data" in result.stderr
    # One row tells nothing about its notation.
    result = run("predict", model, write_csv("one.csv", MESSY[:4], [["4,179", "", "-", "-999"]]))
    assert "'price' ('4,179' as 4179)" in result.stderr
    assert len(read_csv(result.stdout)[1]) == 1


def test_excel_json_and_decimal_commas_give_the_same_model(run, write_csv, tmp_path):
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"x": rng.normal(size=60).round(3), "y": ["u", "v"] * 30})
    frame["x"] += (frame["y"] == "u").to_numpy()
    frame["x"] = frame["x"].round(3)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",", encoding="utf-16")
    frame.to_excel(tmp_path / "t.xlsx", index=False, startrow=3)
    frame.to_json(tmp_path / "t.json", orient="records")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    model, outputs = tmp_path / "m.skops", []
    for name in ("t.csv", "t.csv.gz", "comma.csv", "t.xlsx", "t.json", "t.jsonl"):
        fit = run("fit", tmp_path / name, "--target", "y", *QUICK[2:], "-o", model)
        assert fit.exit_code == 0, fit.output
        outputs.append(run("predict", model, tmp_path / "t.csv").stdout)
        assert run("predict", model, tmp_path / name).stdout == outputs[-1]
    assert len(set(outputs)) == 1


def test_another_unit_is_refused_in_new_data(run, is_refused, write_csv, tmp_path):
    model = tmp_path / "m.skops"
    data = write_csv("data.csv", MESSY, messy_rows())
    assert run("fit", data, *MESSY_OPTIONS, "-o", model).exit_code == 0
    new = write_csv("new.csv", MESSY[:4], [["$5", "5%", "4.8 mmol/L", "30"]])
    result = run("predict", model, new)
    assert is_refused(result, "'glucose' must hold numbers in 'mg/dL', got '4.8 mmol/L' in line 2")


def test_rare_classes_and_sheets_are_options(run, is_refused, tmp_path):
    rng = np.random.RandomState(0)
    labels = ["u"] * 30 + ["v"] * 30 + ["w"] * 3 + ["z"]
    frame = pd.DataFrame({"x": rng.normal(size=64), "y": labels})
    path, model = tmp_path / "t.xlsx", tmp_path / "m.skops"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(writer, sheet_name="first", index=False)
        frame.to_excel(writer, sheet_name="second", index=False)
    fit = ["fit", path, "--target", "y", *QUICK[2:], "-o", model]
    assert is_refused(run(*fit), "target must name a column")
    for sheet in ("2", "second"):
        assert is_refused(run(*fit, "--sheet", sheet), "only one: 'z'")
    for choice, classes in [("drop", ("u", "v")), ("merge", ("other", "u", "v"))]:
        result = run(*fit, "--sheet", "2", "--rare-classes", choice)
        assert result.exit_code == 0, result.output
        assert TableModel.load(model).schema.classes == classes
        assert "'w' (3), 'z' (1)" in result.stderr
    assert run(*fit, "--rare-classes", "burn").exit_code == 2
