import csv
import os
import pickle

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant import save
from calibrant.datasets import make_waveform
from calibrant.tabular import ProbabilityCalibrator, TableModel, read_table


@pytest.fixture(params=["predict", "apply"])
def predictor(request):
    """A command with its model file and a data file."""
    names = {"predict": ("model", "data"), "apply": ("calibrator", "probabilities")}
    return request.param, *map(request.getfixturevalue, names[request.param])


def test_columns_are_the_classes_and_rows_sum_to_one(run, read_csv, predictor):
    command, model, data = predictor
    header, rows = read_csv(run(command, model, data).stdout)
    kind = TableModel if command == "predict" else ProbabilityCalibrator
    assert header == [
        "'=cmd()" if name == "=cmd()" else name for name in kind.load(model).output_columns
    ]
    values = np.array(rows, dtype=float)
    assert values.shape == (len(read_table(data)), 3)
    np.testing.assert_allclose(values.sum(axis=1), 1, rtol=1e-12)


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
    [(b"", "is empty"), (b"x,y\n1\n", "line 2 has 1"), (b"\xff\xfe", "UTF-16")],
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
