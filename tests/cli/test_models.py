import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
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
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, encoding="utf-8")
    assert done.stderr == ""
    _, rows = read_csv(done.stdout)
    np.testing.assert_array_equal(np.array(rows, dtype=float), fitted.predict_proba(table))


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
    assert result.stderr.endswith("treated as rare categories: '7'.\n")
    proba = np.array(read_csv(result.stdout)[1], dtype=float)
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
    notes = result.stderr.splitlines()
    assert all(note.startswith("note: ") for note in notes)
    table = read_table(wide)
    texts = [notice.text for notice in describe_table(table, TARGET).notices]
    assert {notice.topic for notice in describe_table(table, TARGET).notices} == {
        "leakage",
        "ignored",
    }
    assert [f"note: {text}" for text in texts] == notes[: len(texts)]


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
