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
    result = run("apply", calibrator, probabilities, "--keep", "truth")
    header, rows = read_csv(result.stdout)
    assert header == ["truth", "'=cmd()", "שלום", "🌲"]
    np.testing.assert_array_equal(
        np.array([row[1:] for row in rows], dtype=float),
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
    assert run("apply", calibrator, new).stdout.startswith("0,1\n")


def test_logits_are_accepted_when_declared(run, is_refused, write_csv, tmp_path):
    rng = np.random.RandomState(0)
    rows = [["ab"[k % 2], *logits] for k, logits in enumerate(rng.normal(size=(40, 2)).tolist())]
    file, output = write_csv("logits.csv", ["y", "a", "b"], rows), tmp_path / "c.skops"
    calibrate = ["calibrate", file, "--target", "y", "--method", "temperature", "-o", output]
    assert is_refused(run(*calibrate), "use the option logits")
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
