import json
import subprocess
import sys

import numpy as np
import pytest

from calibrant.tabular import ProbabilityCalibrator, read_table


@pytest.mark.parametrize("method", ["auto", "temperature"])
def test_calibrate_describes_the_calibrator_that_it_saves(run, probabilities, tmp_path, method):
    output = tmp_path / "c.skops"
    options = ["--target", "truth", "--method", method, "-o", output]
    result = run("calibrate", probabilities, *options)
    assert result.exit_code == 0, result.output
    first, *_, last = result.stdout.splitlines()
    assert first == "Calibrator fitted to 90 rows with 3 classes."
    assert ProbabilityCalibrator.load(output).report in result.stdout
    assert last == f"Saved to {output}."


def test_apply_writes_what_the_calibrator_predicts(run, read_csv, calibrator, probabilities):
    result = run("apply", calibrator, probabilities, "--keep", "truth", "--digits", "all")
    header, rows = read_csv(result.stdout)
    assert header == ["truth", "predicted_class", "probability", "'=cmd()", "שלום", "🌲"]
    np.testing.assert_array_equal(
        np.array([row[3:] for row in rows], dtype=float),
        ProbabilityCalibrator.load(calibrator).predict_proba(read_table(probabilities)),
    )


def test_the_output_of_apply_can_be_calibrated_again(run, calibrator, probabilities, tmp_path):
    again = tmp_path / "again.csv"
    assert run("apply", calibrator, probabilities, "--keep", "truth", "-o", again).exit_code == 0
    result = run("calibrate", again, "--target", "truth", "-o", tmp_path / "d.skops")
    assert result.exit_code == 0, result.output


def test_classes_may_be_numbers(run, write_csv, tmp_path):
    rng = np.random.RandomState(0)
    rows = [[k % 2, p, 1 - p] for k, p in enumerate(rng.rand(40).tolist())]
    file, calibrator = write_csv("p.csv", ["y", "0", "1"], rows), tmp_path / "c.skops"
    options = ["--target", "y", "--method", "temperature", "-o", calibrator]
    assert run("calibrate", file, *options).exit_code == 0
    new = write_csv("new.csv", ["0", "1"], [row[1:] for row in rows])
    assert run("apply", calibrator, new).stdout.startswith("predicted_class,probability,0,1\n")


def test_logits_are_accepted_when_declared(run, is_refused, write_csv, tmp_path):
    rng = np.random.RandomState(0)
    rows = [["ab"[k % 2], *logits] for k, logits in enumerate(rng.normal(size=(40, 2)).tolist())]
    file, output = write_csv("logits.csv", ["y", "a", "b"], rows), tmp_path / "c.skops"
    calibrate = ["calibrate", file, "--target", "y", "--method", "temperature", "-o", output]
    assert is_refused(run(*calibrate), "use calibrant calibrate --logits")
    assert run(*calibrate, "--logits").exit_code == 0
    assert ProbabilityCalibrator.load(output).logits


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("🌲,0.5,0.2,0.2", "line 2 sums to 0.9"),
        ("🌲,-0.1,1.0,0.1", "line 2 has -0.1 for '🌲'"),
        ("🌲,,1.0,0.0", "line 2 has no value for '🌲'"),
        ("else,0.2,0.3,0.5", "It lacks 'else'"),
        (",0.2,0.3,0.5", "first in line 2"),
    ],
)
def test_invalid_probabilities_are_refused_and_no_calibrator_is_written(
    run, is_refused, probabilities, tmp_path, line, message
):
    output = tmp_path / "c.skops"
    header, _, *rest = probabilities.read_text(encoding="utf-8").splitlines()
    probabilities.write_text("\n".join([header, line, *rest]), encoding="utf-8")
    calibrate = ["calibrate", probabilities, "--target", "truth", "-o", output]
    assert is_refused(run(*calibrate), message)
    assert not output.exists()


def test_both_outputs_are_checked_before_anything_is_read(run, is_refused, tmp_path):
    calibrate = ["calibrate", "none.csv", "--target", "truth"]
    missing = tmp_path / "no"
    assert is_refused(run(*calibrate, "-o", missing / "c.skops"), "c.skops must exist")
    options = ["-o", tmp_path / "c.skops", "--report", missing / "page.html"]
    assert is_refused(run(*calibrate, *options), "page.html must exist")


def test_calibrate_replaces_neither_its_input_nor_its_other_output(
    run, is_refused, probabilities, tmp_path
):
    before = probabilities.read_bytes()
    calibrate = ["calibrate", probabilities, "--target", "truth"]
    assert is_refused(run(*calibrate, "-o", probabilities), "must not replace an input")
    options = ["-o", tmp_path / "c", "--report"]
    assert is_refused(run(*calibrate, *options, probabilities), "must not replace an input")
    assert is_refused(run(*calibrate, *options, tmp_path / "c"), "given for two of them")
    assert list(tmp_path.iterdir()) == [probabilities]
    assert probabilities.read_bytes() == before


@pytest.fixture
def vendor(write_csv):
    """A file of a vendor: one column of percentages for two classes."""
    rng = np.random.RandomState(0)
    score = rng.beta(0.5, 0.5, size=80)
    truth = np.where(rng.rand(80) < 0.25 + 0.5 * score, "malignant", "benign")
    rows = [[k, truth[k], f"{100 * score[k]:.1f}%"] for k in range(80)]
    return write_csv("vendor.csv", ["case", "truth", "risk"], rows)


def test_a_vendors_column_is_calibrated_and_applied_without_repeating_options(
    vendor, write_csv, read_csv, tmp_path
):
    def calibrant(*arguments):
        command = [sys.executable, "-m", "calibrant", *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8")

    options = ["--target", "truth", "--method", "temperature", "-o", "c.skops"]
    done = calibrant("calibrate", vendor, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert "with --positive" in done.stderr
    done = calibrant("calibrate", vendor, *options, "--positive", "malignant")
    assert done.returncode == 0, done.stderr
    name, form = done.stderr.splitlines()
    assert name == "note: 'risk' is read as the probability of 'malignant'."
    assert form.startswith("note: 'risk' holds percentages")
    new = write_csv("new.csv", ["risk"], [["0.2%"], ["97.5%"]])
    done = calibrant("apply", "c.skops", new)
    header, rows = read_csv(done.stdout)
    assert header == ["predicted_class", "probability", "benign", "malignant"]
    assert [row[0] for row in rows] == ["benign", "malignant"]


def test_columns_of_any_name_are_matched_to_classes(run, read_csv, write_csv, tmp_path):
    rng = np.random.RandomState(0)
    rows = [["xy"[k % 2], round(p, 2), round(1 - p, 2)] for k, p in enumerate(rng.rand(40))]
    file, calibrator = write_csv("p.csv", ["truth", "a", "b=c"], rows), tmp_path / "c.skops"
    # Options may come before the file.
    options = ["--columns", "a=x", "b=c=y", file, "--target", "truth", "--method", "temperature"]
    result = run("calibrate", *options, "-o", calibrator, "--json", "-")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert content["columns"] == ["a", "b=c"]
    assert content["calibration_report"]["n_rows"] == 40
    assert result.stderr == f"Saved to {calibrator}.\n"
    header, _ = read_csv(run("apply", calibrator, file).stdout)
    assert header == ["predicted_class", "probability", "x", "y"]


def test_the_page_repeats_the_options_that_match_columns(run, vendor, tmp_path):
    page = tmp_path / "page.html"
    options = ["--target", "truth", "--columns", "risk=malignant", "--method", "temperature"]
    result = run("calibrate", vendor, *options, "-o", tmp_path / "c.skops", "--report", page)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith(f"Open {page} in a browser.")
    text = page.read_text(encoding="utf-8")
    assert "--columns=risk=malignant" in text
    assert "--positive=malignant" in text
