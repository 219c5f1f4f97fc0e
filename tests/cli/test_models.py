import csv
import json
import os
import pickle
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import typer
from sklearn.naive_bayes import GaussianNB
from typer.testing import CliRunner

from calibrant import load, save
from calibrant.cli import app
from calibrant.datasets import make_waveform
from calibrant.persistence import read_info
from calibrant.tabular import describe_table, read_table, table_model
from calibrant.tabular.table_model import fit_table, load_table_model

runner = CliRunner()
# What may stand in a header, a cell or a class, and must stay text.
ODD = ["<script>alert(1)</script>", 'say "hi", you', "🌲", "שלום", "=cmd()"]


def run(*arguments, **options):
    return runner.invoke(app, [str(argument) for argument in arguments], **options)


def refused(result, said):
    """One line on standard error, exit code 2, no traceback."""
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("calibrant: ")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr
    assert result.stdout == ""
    return True


def write_csv(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def read_csv(content):
    header, *rows = csv.reader(content.splitlines())
    return header, rows


@pytest.fixture
def data(tmp_path):
    """A table with numbers, categories, gaps and odd names everywhere."""
    X, y = make_waveform(100, random_state=0)
    rows = [
        [row[5], row[10] if number % 7 else "", ODD[number % 3], row[15], ODD[label + 1]]
        for number, (row, label) in enumerate(zip(X.round(2).tolist(), y, strict=True))
    ]
    return write_csv(tmp_path / "data.csv", ODD, rows)


TARGET = ODD[4]
QUICK = ["--model", "naive-bayes", "--method", "temperature", "--jobs", "1"]


@pytest.fixture
def model(data, tmp_path):
    result = run("fit", data, "--target", TARGET, *QUICK, "-o", tmp_path / "model.skops")
    assert result.exit_code == 0, result.output
    return tmp_path / "model.skops"


def test_fit_says_what_it_did(data, tmp_path):
    output = tmp_path / "m.skops"
    result = run(
        "fit", data, "--target", TARGET, "--model", "naive-bayes", "--jobs", 1, "-o", output
    )
    assert result.exit_code == 0, result.output
    assert "100 rows, 4 columns, 3 classes of '=cmd()'." in result.stdout
    assert "log loss" in result.stdout
    assert f"Model: {output}" in result.stdout
    assert output.exists()


@pytest.mark.parametrize(("name", "method"), [("random-forest", None), ("naive-bayes", "auto")])
def test_a_new_process_predicts_the_same_to_the_last_bit(data, tmp_path, name, method):
    table = read_table(data)
    fitted = fit_table(table, describe_table(table, TARGET), model=name, method=method)
    fitted.save(tmp_path / "model.skops")
    command = [sys.executable, "-m", "calibrant", "predict", "model.skops", "data.csv"]
    written = subprocess.run(
        command, cwd=tmp_path, check=True, capture_output=True, encoding="utf-8"
    )
    assert written.stderr == ""
    _, rows = read_csv(written.stdout)
    np.testing.assert_array_equal(
        [[float(cell) for cell in row] for row in rows], fitted.predict_proba(table)
    )


def test_fit_is_the_same_every_time(model, data, tmp_path):
    again = tmp_path / "again.skops"
    assert run("fit", data, "--target", TARGET, *QUICK, "-o", again).exit_code == 0
    assert run("predict", again, data).stdout == run("predict", model, data).stdout


def test_rows_sum_to_one_and_columns_are_the_classes(model, data):
    header, rows = read_csv(run("predict", model, data).stdout)
    assert header == sorted(ODD[1:4])
    values = np.array(rows, dtype=float)
    assert values.shape == (100, 3)
    np.testing.assert_allclose(values.sum(axis=1), 1, rtol=1e-12)


def test_kept_columns_are_copied_and_formulas_stay_text(model, data, tmp_path):
    output = tmp_path / "out.csv"
    result = run("predict", model, data, "--keep", ODD[4], ODD[0], "-o", output)
    assert result.exit_code == 0
    assert result.stdout == ""
    header, rows = read_csv(output.read_text(encoding="utf-8"))
    assert header[:2] == ["'=cmd()", "<script>alert(1)</script>"]
    again = read_table(output)
    assert again[TARGET].tolist() == read_table(data)[TARGET].tolist()
    for row in [header, *rows]:
        assert not any(cell.startswith(("=", "+", "@")) for cell in row)
    assert refused(run("predict", model, data, "--keep", "none"), "A column to keep must be a")
    assert refused(run("predict", model, data, "--keep", "🌲"), "another name than the classes")


def test_columns_may_be_reordered_extra_and_without_the_target(model, data, tmp_path):
    table = read_table(data)
    changed = table[[*reversed(ODD[:4])]].assign(extra="?")
    write_csv(tmp_path / "new.csv", changed.columns, changed.fillna("").to_numpy().tolist())
    assert run("predict", model, tmp_path / "new.csv").stdout == run("predict", model, data).stdout


def test_stdin_and_other_separators_are_the_same(model, data):
    text = data.read_text(encoding="utf-8")
    expected = run("predict", model, data).stdout
    assert run("predict", model, "-", input=text).stdout == expected
    rows = csv.reader(text.splitlines())
    tabs = "\n".join("\t".join(cell.replace('"', '""').join('""') for cell in row) for row in rows)
    assert run("predict", model, "-", input=tabs).stdout == expected


def test_missing_columns_and_bad_cells_are_named(model, data, tmp_path):
    table = read_table(data)
    new = tmp_path / "new.csv"
    write_csv(new, ODD[1:], table[ODD[1:]].fillna("").to_numpy().tolist())
    assert refused(run("predict", model, new), "It lacks '<script>alert(1)</script>'.")
    rows = table.fillna("").to_numpy().tolist()
    rows[3][3] = "<img>"
    write_csv(new, ODD, rows)
    assert refused(run("predict", model, new), "'שלום' must hold numbers. Got '<img>' in line 5.")


def test_unseen_categories_are_said_and_handled(model, data, tmp_path):
    rows = read_table(data).fillna("").to_numpy().tolist()
    rows[0][2] = "=never()"
    result = run("predict", model, write_csv(tmp_path / "new.csv", ODD, rows))
    assert result.exit_code == 0
    assert "'🌲' has categories that the model has not seen" in result.stderr
    assert "'=never()'" in result.stderr
    assert len(read_csv(result.stdout)[1]) == 100


def test_groups_and_ignored_columns_are_not_used(data, tmp_path):
    output = tmp_path / "m.skops"
    options = ["--groups", ODD[0], "--ignore", ODD[1], ODD[2]]
    result = run("fit", data, "--target", TARGET, *QUICK, *options, "-o", output)
    assert result.exit_code == 0, result.output
    table = read_table(data)[[ODD[3]]]
    write_csv(tmp_path / "new.csv", [ODD[3]], table.to_numpy().tolist())
    assert run("predict", output, tmp_path / "new.csv").exit_code == 0


def test_numbers_that_stand_for_categories(tmp_path):
    # The class follows from the code, but not from its size.
    rows = [[n % 6, "uv"[n % 2]] for n in range(120)]
    file = write_csv(tmp_path / "data.csv", ["code", "y"], rows)
    model = tmp_path / "m.skops"
    options = ["--target", "y", "--model", "logistic", "--jobs", 1, "-o", model]
    result = run("fit", file, *options, "--categories", "code")
    assert result.exit_code == 0, result.output
    new = write_csv(tmp_path / "new.csv", ["code"], [[2], [5], ["5.0"], [7]])
    result = run("predict", model, new)
    assert "'code' has categories that the model has not seen, and takes as rare: '7'" in (
        result.stderr
    )
    proba = np.array(read_csv(result.stdout)[1], dtype=float)
    assert proba[0, 0] > 0.9
    assert proba[1, 1] > 0.9
    np.testing.assert_array_equal(proba[1], proba[2])


def test_columns_to_ignore_may_begin_with_a_dash(tmp_path):
    rows = [[*row, "uv"[n % 2]] for n, row in enumerate(np.random.RandomState(0).rand(40, 4))]
    file = write_csv(tmp_path / "data.csv", ["a", "b", "-b", "--target", "y"], rows)
    model = tmp_path / "m.skops"
    options = ["--ignore=-b", "--ignore=--target", "--ignore", "b", "--target", "y", *QUICK]
    result = run("fit", *options, file, "-o", model)
    assert result.exit_code == 0, result.output
    assert [column.name for column in load_table_model(model).schema.features] == ["a"]


def test_a_class_in_a_single_group_is_fitted_saved_and_used(tmp_path):
    # Held out, its group takes all of its rows along: the calibrator never sees a point of it.
    rng = np.random.RandomState(0)
    rows = [
        [*row, f"g{n // 6}", "abc"[min(n // 6, 2) if n < 18 else n % 2]]
        for n, row in enumerate(rng.normal(size=(90, 2)).round(3).tolist())
    ]
    file = write_csv(tmp_path / "data.csv", ["x", "z", "g", "y"], rows)
    model = tmp_path / "m.skops"
    fit = ["fit", file, "--target", "y", "--groups", "g", "--model", "naive-bayes", "--jobs", 1]
    for method in ("auto", "enir"):
        result = run(*fit, "--method", method, "-o", model)
        assert result.exit_code == 0, result.output
        table = read_table(file)
        schema = describe_table(table, "y", groups="g")
        expected = fit_table(table, schema, model="naive-bayes", method=method)
        np.testing.assert_array_equal(
            load_table_model(model).predict_proba(table), expected.predict_proba(table)
        )


def test_notices_are_lines_on_standard_error(data, tmp_path):
    table = read_table(data).fillna("")
    header = [*ODD, "row_id", "copy"]
    rows = [[*row, n, row[4]] for n, row in enumerate(table.to_numpy().tolist())]
    wide = write_csv(tmp_path / "wide.csv", header, rows)
    result = run("fit", wide, "--target", TARGET, *QUICK, "-o", tmp_path / "m.skops")
    assert result.exit_code == 0
    assert "note: 'copy' alone tells the class of every row." in result.stderr
    assert "note: 'row_id' is not used: it numbers the rows" in result.stderr


# Bad files: each takes a folder, and returns the file and what is said of it.

NUMBERS = [[number, number % 3] for number in range(300)]


def text_file(content, target="y"):
    def write(folder):
        path = folder / "bad.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path, target

    return write


def rows_of(header, rows):
    return text_file("\n".join(",".join(map(str, row)) for row in [header, *rows]))


BAD_FILES = {
    "empty": (text_file(""), "It is empty"),
    "no header": (rows_of([1, 2], NUMBERS), "must name its columns in the first line"),
    "one column": (rows_of(["y"], [["a"], ["b"]] * 20), "Got one, 'y'"),
    "target missing": (text_file("x,z\n1,a\n2,b\n"), "Got 'y'. Choose one of 'x', 'z'"),
    "target of 300 numbers": (rows_of("yx", NUMBERS), "300 different numbers"),
    "one class": (rows_of("xy", [[n, "a"] for n in range(30)]), "'a' in all 30 rows"),
    "classes of one row": (rows_of("xy", [[n % 7, "ab"[n == 9]] for n in range(30)]), "one of 'b'"),
    "wrong encoding": (text_file("x,y\n1,é\n".encode("latin-1")), "must be UTF-8 text"),
    "ragged rows": (text_file("x,y\n1,a\n2\n"), "Line 3 has 1"),
    "10,000 columns": (rows_of([f"x{k}" for k in range(10_000)], []), "Got 10,000"),
    "a folder": (lambda folder: (folder, "y"), "It is a folder"),
    "no file": (lambda folder: (folder / "none.csv", "y"), "There is none of that name"),
    "binary junk": (text_file(bytes(range(256)) * 4), "not text"),
    "a pickle": (text_file(pickle.dumps({"x": [1, 2]})), "must be"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_line_and_writes_nothing(name, tmp_path):
    make, said = BAD_FILES[name]
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    path, target = make(tmp_path / "in")
    result = run("fit", path, "--target", target, "-o", tmp_path / "out" / "model.skops")
    assert refused(result, said)
    assert list((tmp_path / "out").iterdir()) == []


@contextmanager
def as_somebody():
    """The superuser may read and write every file; nobody may not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_files_without_permission_are_one_line():
    # Not in tmp_path, whose parents are closed to others.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, target = text_file("x,y\n1,a\n")(folder)
        path.chmod(0)
        folder.chmod(0o777)
        with as_somebody():
            result = run("fit", path, "--target", target, "-o", folder / "model.skops")
        assert refused(result, "You have no permission to read it.")
        folder.chmod(0o555)
        with as_somebody():
            result = run("fit", path, "--target", target, "-o", folder / "model.skops")
        assert refused(result, "must be writable.")
        folder.chmod(0o755)
        assert list(folder.iterdir()) == [path]


def test_bad_new_files_are_one_line_and_write_nothing(model, tmp_path):
    output = tmp_path / "out.csv"
    for content, said in (("", "is empty"), ("x,y\n1\n", "Line 2 has 1"), (b"\xff\xfe", "UTF-16")):
        path, _ = text_file(content)(tmp_path)
        assert refused(run("predict", model, path, "-o", output), said)
    assert not output.exists()


def test_bad_arguments_are_one_line(data, tmp_path):
    fit = ["fit", data, "--target", TARGET]
    assert refused(run(*fit, "--model", "forest"), "model must be one of random-forest")
    assert refused(run(*fit, "--method", "platt"), "dirichlet, none. Got 'platt'. Choose one")
    assert refused(run(*fit, "--groups", "none"), "The column of groups must be a column")
    assert refused(run(*fit, "-o", tmp_path), "is a folder. Name a file")
    assert refused(run(*fit, "-o", tmp_path / "no" / "m.skops"), "m.skops must exist")


def test_a_foreign_model_file_is_one_line_and_not_run(data, tmp_path):
    marker = tmp_path / "was run"

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(marker),)

    file = tmp_path / "model.skops"
    file.write_bytes(pickle.dumps(Bomb()))
    for command in ("predict", "apply"):
        assert refused(run(command, file, data), "must be a file saved by calibrant")
    assert not marker.exists()


def test_a_stopped_fit_leaves_nothing(data, tmp_path, monkeypatch):
    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(table_model, "fit_table", stopped)
    output = tmp_path / "out" / "model.skops"
    output.parent.mkdir()
    result = run("fit", data, "--target", TARGET, "-o", output)
    assert result.exit_code not in (0, 2)
    assert list(output.parent.iterdir()) == []
    assert "Traceback" not in result.output


@pytest.fixture
def probabilities(tmp_path):
    """Out-of-sample probabilities of odd classes, overconfident, and the truth."""
    rng = np.random.RandomState(0)
    scores = rng.dirichlet([0.3] * 3, size=90)
    truth = [ODD[2 + rng.choice(3, p=0.5 * row + 0.5 / 3)] for row in scores]
    rows = [[label, *map(repr, row)] for label, row in zip(truth, scores.tolist(), strict=True)]
    return write_csv(tmp_path / "proba.csv", ["truth", *ODD[2:]], rows)


def test_calibrate_and_apply(probabilities, tmp_path):
    file = tmp_path / "c.skops"
    result = run("calibrate", probabilities, "--target", "truth", "-o", file)
    assert result.exit_code == 0, result.output
    assert "90 rows, 3 classes." in result.stdout
    assert "log loss" in result.stdout
    applied = run("apply", file, probabilities, "--keep", "truth")
    assert applied.exit_code == 0, applied.output
    header, rows = read_csv(applied.stdout)
    assert header == ["truth", "'=cmd()", "שלום", "🌲"]
    values = np.array([row[1:] for row in rows], dtype=float)
    np.testing.assert_allclose(values.sum(axis=1), 1, rtol=1e-12)
    # What was written can be calibrated again: names come back.
    (tmp_path / "again.csv").write_text(applied.stdout, encoding="utf-8")
    again = run(
        "calibrate", tmp_path / "again.csv", "--target", "truth", "-o", tmp_path / "d.skops"
    )
    assert again.exit_code == 0, again.output


def test_classes_that_are_numbers_need_no_header_of_words(tmp_path):
    rng = np.random.RandomState(0)
    rows = [[k % 2, p, 1 - p] for k, p in enumerate(rng.rand(40).tolist())]
    file, calibrator = write_csv(tmp_path / "p.csv", ["y", "0", "1"], rows), tmp_path / "c.skops"
    options = ["--method", "temperature", "-o", calibrator]
    assert run("calibrate", file, "--target", "y", *options).exit_code == 0
    new = write_csv(tmp_path / "new.csv", ["0", "1"], [row[1:] for row in rows])
    assert run("apply", calibrator, new).stdout.startswith("0,1\n")


def test_bad_probabilities_are_one_line_and_write_nothing(probabilities, tmp_path):
    output = tmp_path / "c.skops"
    lines = probabilities.read_text(encoding="utf-8").splitlines()
    for line, said in (
        ("🌲,0.5,0.2,0.2", "Line 2 has a sum of 0.9"),
        ("🌲,-0.1,1.0,0.1", "Line 2 has -0.1 for '🌲'"),
        ("🌲,,1.0,0.0", "Line 2 has 'no value' for '🌲'"),
        ("else,0.2,0.3,0.5", "It lacks 'else'"),
        (",0.2,0.3,0.5", "the first in line 2"),
    ):
        path, _ = text_file("\n".join([lines[0], line, *lines[2:]]))(tmp_path)
        assert refused(run("calibrate", path, "--target", "truth", "-o", output), said)
    assert refused(run("calibrate", probabilities, "--target", "true", "-o", output), "'truth'")
    assert not output.exists()


def test_calibrating_without_a_method_is_refused_and_not_offered(probabilities, tmp_path):
    output = tmp_path / "c.skops"
    result = run("calibrate", probabilities, "--target", "truth", "--method", "none", "-o", output)
    assert refused(result, "--method must be one of auto, enir,")
    assert "None" not in result.stderr
    assert not output.exists()
    offered = {name: " ".join(run(name, "--help").output.split()) for name in ("fit", "calibrate")}
    assert "or none" in offered["fit"]
    assert "or none" not in offered["calibrate"]


def test_options_of_one_name_are_the_same_in_every_command():
    commands = typer.main.get_command(app).commands
    for name in ("data", "target", "groups", "ignore", "categories", "seed", "jobs"):
        found = [
            (own.help, own.default, own.metavar)
            for command in ("demo", "report", "fit")
            for own in commands[command].params
            if own.name == name
        ]
        assert len(found) >= 2
        assert all(own == found[0] for own in found)


def test_models_and_calibrators_are_not_mixed_up(model, probabilities, tmp_path):
    file = tmp_path / "c.skops"
    options = ["--method", "temperature", "-o", file]
    assert run("calibrate", probabilities, "--target", "truth", *options).exit_code == 0
    assert refused(run("apply", model, probabilities), "calibrant predict")
    assert refused(run("predict", file, probabilities), "calibrant apply")


def changed_notes(kind, notes):
    """What a file may be changed to say: classes in another order, others, or fewer."""
    classes = notes["classes"] if kind == "calibrator" else notes["schema"]["classes"]
    for other in (classes[::-1], [*classes[1:], "~"][: len(classes) - 1], [*classes, "~"]):
        changed = json.loads(json.dumps(notes))
        (changed if kind == "calibrator" else changed["schema"])["classes"] = other
        yield changed
    if kind == "model":
        for columns in (notes["schema"]["columns"][::-1], notes["schema"]["columns"][1:]):
            yield notes | {"schema": notes["schema"] | {"columns": columns}}


def test_models_that_are_not_what_their_files_say_are_one_line(
    model, probabilities, data, tmp_path
):
    calibrator = tmp_path / "c.skops"
    options = ["--method", "temperature", "-o", calibrator]
    assert run("calibrate", probabilities, "--target", "truth", *options).exit_code == 0
    foreign = GaussianNB().fit(*make_waveform(30, random_state=0))
    for kind, file, command, new in (
        ("model", model, "predict", data),
        ("calibrator", calibrator, "apply", probabilities),
    ):
        notes, own = read_info(file).training, load(file)
        said = f"must hold a {kind} of the classes"
        save(foreign, file, training=notes)
        assert refused(run(command, file, new), said)
        for changed in changed_notes(kind, notes):
            save(own, file, training=changed)
            assert refused(run(command, file, new), said)
        save(own, file, training=notes)
        assert run(command, file, new).exit_code == 0
