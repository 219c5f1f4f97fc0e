import csv
import json
import os
import pickle
import subprocess
import sys
from decimal import Decimal

import numpy as np
import openpyxl
import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant import save
from calibrant.datasets import make_waveform
from calibrant.tabular import ProbabilityCalibrator, TableModel, read_table
from calibrant.tabular.csv_output import escape_formula


@pytest.fixture(params=["predict", "apply"])
def predictor(request):
    """A command with its model file and a data file."""
    names = {"predict": ("model", "data"), "apply": ("calibrator", "probabilities")}
    return request.param, *map(request.getfixturevalue, names[request.param])


def escaped(names):
    return ["'=cmd()" if name == "=cmd()" else name for name in names]


def test_the_predicted_class_comes_first_then_the_classes(run, read_csv, predictor):
    command, model, data = predictor
    header, rows = read_csv(run(command, model, data, "--digits", "all").stdout)
    kind = TableModel if command == "predict" else ProbabilityCalibrator
    loaded = kind.load(model)
    assert header == ["predicted_class", "probability", *escaped(loaded.output_columns)]
    proba = loaded.predict_proba(read_table(data))
    np.testing.assert_array_equal(np.array([row[2:] for row in rows], dtype=float), proba)
    names = escaped(loaded.output_columns)
    assert [row[0] for row in rows] == [names[index] for index in proba.argmax(axis=1)]
    assert [float(row[1]) for row in rows] == proba.max(axis=1).tolist()


@pytest.mark.parametrize(("options", "digits"), [([], 6), (["--digits", 2], 2)])
def test_probabilities_are_rounded_and_sum_to_one_as_printed(
    run, read_csv, predictor, options, digits
):
    command, model, data = predictor
    _, rows = read_csv(run(command, model, data, *options).stdout)
    for row in rows:
        assert sum(map(Decimal, row[2:])) == 1
        assert all(len(cell.partition(".")[2]) <= digits for cell in row[2:])
        assert Decimal(row[1]) == max(map(Decimal, row[2:]))


@pytest.mark.parametrize("digits", ["0", "16", "some", "-1"])
def test_other_numbers_of_digits_are_refused(run, predictor, digits):
    command, model, data = predictor
    result = run(command, model, data, "--digits", digits)
    assert result.exit_code == 2
    assert "must be from 1 to 15, or all" in result.stderr
    assert result.stdout == ""


def test_costs_add_the_cheapest_decision(run, read_csv, predictor, write_csv):
    command, model, data = predictor
    header, rows = read_csv(run(command, model, data, "--digits", "all").stdout)
    names, proba = header[2:], np.array([row[2:] for row in rows], dtype=float)
    # The rows of the file are in another order than the classes of the model.
    matrix = [[3, 0, 1], [1, 5, 1], [0, 2, 1]]
    lines = [[name, *costs] for name, costs in zip(names, matrix, strict=True)]
    costs = write_csv("costs.csv", ["true class", "treat", "leave", "wait"], lines[::-1])
    header, rows = read_csv(run(command, model, data, "--costs", costs).stdout)
    assert header == ["predicted_class", "probability", "decision", "expected_cost", *names]
    expected = proba @ np.array(matrix)
    decisions = ["treat", "leave", "wait"]
    assert [row[2] for row in rows] == [decisions[index] for index in expected.argmin(axis=1)]
    np.testing.assert_allclose([float(row[3]) for row in rows], expected.min(axis=1), atol=1e-6)


def test_costs_that_do_not_fit_the_model_are_refused(run, is_refused, model, data, write_csv):
    costs = write_csv("costs.csv", ["true class", "a", "b"], [["🌲", 1, 0], ["=cmd", 0, 1]])
    result = run("predict", model, data, "--costs", costs)
    assert is_refused(result, "got '=cmd' in line 3. ")


def test_probabilities_are_adjusted_to_known_class_shares(run, read_csv, predictor, tmp_path):
    command, model, data = predictor
    header, rows = read_csv(run(command, model, data, "--digits", "all").stdout)
    proba = np.array([row[2:] for row in rows], dtype=float)
    kind = TableModel if command == "predict" else ProbabilityCalibrator
    loaded = kind.load(model)
    names, old = loaded.output_columns, np.array(loaded.class_count)
    shares = [f"{names[2]}=0.1", f"{names[0]}=0.7"]
    record = tmp_path / "result.json"
    options = ["--prevalence", *shares, "--digits", "all", "--json", record]
    result = run(command, *options, model, data)
    assert result.exit_code == 0
    assert "note: Adjusted the probabilities to these class shares: " in result.stderr
    adjusted_header, adjusted = read_csv(result.stdout)
    assert adjusted_header == header
    expected = proba * [0.7, 0.2, 0.1] / old
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.array([row[2:] for row in adjusted], dtype=float), expected)
    content = json.loads(record.read_text())["prevalence"]
    np.testing.assert_allclose(content["new"], [0.7, 0.2, 0.1])
    assert tuple(content["classes"]) == names
    listed = run(command, model, data, "--prevalence", ",".join(shares), "--digits", "all")
    assert listed.stdout == result.stdout


def test_class_shares_are_estimated_from_the_new_rows(run, predictor):
    command, model, data = predictor
    result = run(command, model, data, "--prevalence", "estimate")
    assert result.exit_code == 0
    assert "note: Class shares estimated from " in result.stderr
    assert "so the probabilities were" in result.stderr
    # The training rows have the shares of training.
    assert result.stdout == run(command, model, data).stdout


def test_class_shares_that_do_not_fit_the_model_are_refused(run, is_refused, predictor):
    command, model, data = predictor
    assert is_refused(run(command, model, data, "--prevalence", "x=0.1"), "got 'x'. Choose one of")


def test_the_last_line_says_what_was_written(run, predictor, tmp_path):
    command, model, data = predictor
    n_rows, output = len(read_table(data)), tmp_path / "out.csv"
    result = run(command, model, data, "-o", output)
    assert result.stdout == ""
    assert result.stderr == f"Wrote predictions for {n_rows} rows to {output}.\n"
    result = run(command, model, data)
    assert result.stderr == f"Wrote predictions for {n_rows} rows to standard output.\n"
    assert run(command, model, data, "--quiet").stderr == ""
    header, first, *_ = data.read_text(encoding="utf-8").splitlines()
    result = run(command, model, "-", "-o", output, input=f"{header}\n{first}\n")
    assert result.stderr == f"Wrote predictions for 1 row to {output}.\n"


def test_the_result_is_available_as_json(run, is_refused, read_csv, predictor, tmp_path):
    command, model, data = predictor
    output, file = tmp_path / "out.csv", tmp_path / "result.json"
    result = run(command, model, data, "-o", output, "--json", "-", "-q")
    assert result.stderr == ""
    content = json.loads(result.stdout)
    header, rows = read_csv(output.read_text(encoding="utf-8"))
    assert content["n_rows"] == len(rows)
    assert escaped(content["columns"]) == header
    assert content["notes"] == []
    run(command, model, data, "-o", output, "--json", file)
    assert json.loads(file.read_text()) == content
    message = "Only one of the table and the JSON can go to standard output"
    assert is_refused(run(command, model, data, "--json", "-"), message)
    missing = tmp_path / "no" / "result.json"
    assert is_refused(run(command, model, data, "--json", missing), "result.json must exist")


def test_columns_may_be_in_any_order_with_others_between(run, predictor, write_csv):
    command, model, data = predictor
    table = read_table(data)
    changed = table[[*reversed(table.columns)]].assign(extra="?")
    new = write_csv("new.csv", changed.columns, changed.fillna("").to_numpy().tolist())
    assert run(command, model, new).stdout == run(command, model, data).stdout


def test_standard_input_and_other_separators_give_the_same(run, predictor):
    command, model, data = predictor
    text = data.read_text(encoding="utf-8")
    expected = run(command, model, data).stdout
    assert run(command, model, "-", input=text).stdout == expected
    rows = csv.reader(text.splitlines())
    tabs = "\n".join("\t".join(cell.replace('"', '""').join('""') for cell in row) for row in rows)
    assert run(command, model, "-", input=tabs).stdout == expected


def test_kept_columns_are_copied_and_formulas_stay_text(
    run, is_refused, read_csv, model, data, odd, tmp_path
):
    output = tmp_path / "out.csv"
    result = run("predict", model, data, "--keep", odd[4], odd[0], "-o", output)
    assert result.exit_code == 0
    assert result.stdout == ""
    header, rows = read_csv(output.read_text(encoding="utf-8"))
    assert header[:2] == ["'=cmd()", "<script>alert(1)</script>"]
    assert read_table(output)[odd[4]].tolist() == read_table(data)[odd[4]].tolist()
    for row in [header, *rows]:
        assert not any(cell.startswith(("=", "+", "@")) for cell in row)
    assert is_refused(run("predict", model, data, "--keep", "none"), "keep must name a column")
    message = "keep must not name a column that is also a class"
    assert is_refused(run("predict", model, data, "--keep", "🌲"), message)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b"x,y\n1\n", "line 2 has 1"), (b"\xff\xfe", "is empty")],
)
def test_a_file_that_is_not_a_table_is_refused_and_nothing_is_written(
    run, is_refused, predictor, tmp_path, content, message
):
    command, model, _ = predictor
    path, output = tmp_path / "bad.csv", tmp_path / "out.csv"
    path.write_bytes(content)
    assert is_refused(run(command, model, path, "-o", output), message)
    assert not output.exists()


def test_the_output_is_checked_before_the_model_is_read(run, is_refused, predictor, tmp_path):
    command, _, data = predictor
    output = tmp_path / "no" / "out.csv"
    assert is_refused(run(command, "none.skops", data, "-o", output), "out.csv must exist")


def test_models_of_another_kind_name_the_command_that_uses_them(
    run, is_refused, model, calibrator, data, tmp_path
):
    assert is_refused(run("apply", model, data), "Use it with calibrant predict.")
    assert is_refused(run("predict", calibrator, data), "Use it with calibrant apply.")
    save(GaussianNB().fit(*make_waveform(30, random_state=0)), tmp_path / "other.skops")
    assert is_refused(run("predict", tmp_path / "other.skops", data), "with calibrant.load.")


def test_a_pickle_is_refused_and_not_executed(run, is_refused, data, tmp_path):
    marker = tmp_path / "was executed"

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(marker),)

    file = tmp_path / "model.skops"
    file.write_bytes(pickle.dumps(Bomb()))
    for command in ("predict", "apply"):
        assert is_refused(run(command, file, data), f"{file}")
    assert not marker.exists()


def test_neither_the_data_nor_the_model_is_replaced(run, is_refused, predictor, tmp_path):
    command, model, data = predictor
    before = model.read_bytes(), data.read_bytes()
    link = tmp_path / "link.csv"
    os.link(data, link)
    for output in (data, link, model):
        result = run(command, model, data, "-o", output)
        assert is_refused(result, "The output must not replace an input.")
    other = tmp_path / "other.skops"
    other.write_bytes(before[0])
    assert is_refused(run(command, model, data, "-o", other), "suffix .csv, .tsv or .xlsx")
    assert (model.read_bytes(), data.read_bytes()) == before


def test_the_suffix_of_the_output_tells_its_format(run, read_csv, predictor, tmp_path):
    command, model, data = predictor
    expected = read_csv(run(command, model, data).stdout)
    tsv, xlsx = tmp_path / "out.tsv", tmp_path / "out.xlsx"
    assert run(command, model, data, "-o", tsv).exit_code == 0
    header, *rows = csv.reader(tsv.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    assert (header, rows) == expected
    assert run(command, model, data, "-o", xlsx).exit_code == 0
    header, *rows = openpyxl.load_workbook(xlsx).active.iter_rows(values_only=True)
    assert [escape_formula(name) for name in header] == expected[0]
    assert [escape_formula(row[0]) for row in rows] == [row[0] for row in expected[1]]
    values = [np.array([row[1:] for row in table], dtype=float) for table in (rows, expected[1])]
    np.testing.assert_allclose(*values, rtol=1e-15)


def test_kept_numbers_are_numbers_in_excel_and_as_written_in_csv(
    run, read_csv, predictor, tmp_path
):
    command, model, data = predictor
    header, *lines = data.read_text(encoding="utf-8").splitlines()
    numbered = tmp_path / "numbered.csv"
    rows = [f"{number}0,{number:05d},{line}" for number, line in enumerate(lines, start=1)]
    numbered.write_text("\n".join([f"patient,ward,{header}", *rows]), encoding="utf-8")
    xlsx = tmp_path / "out.xlsx"
    options = [command, model, numbered, "--keep", "patient", "ward"]
    assert run(*options, "-o", xlsx).exit_code == 0
    sheet = openpyxl.load_workbook(xlsx).active
    assert [cell.value for cell in sheet[2][:2]] == [10, "00001"]
    _, written = read_csv(run(*options).stdout)
    assert written[0][:2] == ["10", "00001"]


def test_excel_output_without_openpyxl_is_refused(
    run, is_refused, predictor, tmp_path, monkeypatch
):
    command, model, data = predictor
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    output = tmp_path / "out.xlsx"
    assert is_refused(run(command, model, data, "-o", output), "calibrant[excel]")
    assert not output.exists()


def test_a_reader_that_has_seen_enough_is_no_error(model, data, tmp_path):
    header, *rows = data.read_text(encoding="utf-8").splitlines()
    (tmp_path / "long.csv").write_text("\n".join([header, *rows * 50]), encoding="utf-8")
    command = [sys.executable, "-m", "calibrant", "predict", str(model), "long.csv"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        errors = process.stderr.read()
    assert process.returncode == 1
    assert errors == b""


@pytest.mark.parametrize("options", [[], ["--digits", "all", "--keep", "=cmd()"]])
def test_predictions_do_not_depend_on_the_number_of_rows_at_once(
    run, model, data, tmp_path, monkeypatch, options
):
    # The first notation, marker and space of a kind come late.
    lines = data.read_text().splitlines()
    lines += [lines[1].replace(",", ", ", 1), "NA" + lines[2][lines[2].index(",") :]]
    new = tmp_path / "new.csv"
    new.write_text("\n".join(lines))
    whole = run("predict", model, new, *options)
    assert whole.exit_code == 0
    assert "Read as missing values: 'NA'" in whole.stderr
    monkeypatch.setattr(TableModel, "ROWS_AT_ONCE", 7)
    parts = run("predict", model, new, *options)
    assert (parts.stdout, parts.stderr) == (whole.stdout, whole.stderr)
    # An error in a late row leaves no output.
    new.write_text("\n".join([*lines, "x" + lines[2][lines[2].index(",") :]]))
    result = run("predict", model, new, "--output", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert "must hold numbers, got 'x' in line 104" in result.stderr
    assert not (tmp_path / "out.csv").exists()
    assert run("predict", model, new).stdout == ""


def test_intervals_and_possible_classes_are_those_of_the_model(run, read_csv, model, data):
    result = run("predict", model, data, "--intervals", "--sets", "--digits", "all")
    header, rows = read_csv(result.stdout)
    loaded = TableModel.load(model)
    inputs = loaded.select_inputs(read_table(data))
    classes = loaded.output_columns
    expected = []
    for name in classes:
        expected += [f"low_{name}", f"high_{name}", f"possible_{name}"]
    assert header[2 + len(classes) :] == expected
    cells = np.array([row[2 + len(classes) :] for row in rows], dtype=float)
    cells = cells.reshape(len(rows), len(classes), 3)
    np.testing.assert_array_equal(cells[:, :, :2], loaded.predict_interval(inputs))
    np.testing.assert_array_equal(cells[:, :, 2], loaded.predict_set(inputs))


def test_intervals_are_for_the_class_shares_of_the_training_data(run, is_refused, model, data):
    result = run("predict", model, data, "--intervals", "--prevalence", "estimate")
    is_refused(result, "Leave out --prevalence")
