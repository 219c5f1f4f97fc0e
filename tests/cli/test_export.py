import json

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")
runtime = pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")

from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier, save
from calibrant.datasets import make_waveform
from calibrant.onnx.checking import run_model
from calibrant.tabular import ProbabilityCalibrator, TableModel, read_table, select_features


def test_a_model_of_a_table_takes_its_columns_by_name(run, model, data, tmp_path, odd):
    output = tmp_path / "model.onnx"
    result = run("export", model, output)
    assert result.exit_code == 0, result.output
    inputs, compared, last = result.stdout.splitlines()
    assert inputs.startswith(f"Inputs: {odd[0]} (number), {odd[1]} (number), {odd[2]} (text)")
    assert compared.startswith("On random rows, its probabilities differ by at most")
    assert last == f"Saved to {output}."
    saved = TableModel.load(model)
    features = select_features(read_table(data), saved.schema)
    label, proba = run_model(onnx.load(output), features)
    expected = saved.classifier.predict_proba(features)
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-9)
    assert set(label) <= set(saved.output_columns)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("random-forest", "none"),
        ("logistic", "enir"),
        ("svm", "enir"),
        ("boosting", "none"),
        ("neighbors", "enir"),
    ],
)
def test_every_classifier_of_fit_can_be_exported(run, data, tmp_path, odd, name, method):
    saved, output = tmp_path / "other.skops", tmp_path / "model.onnx"
    options = ["--target", odd[4], "--model", name, "--method", method, "--jobs", 1]
    assert run("fit", data, *options, "-o", saved).exit_code == 0
    result = run("export", saved, output, "--json", "-")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["largest_difference"] < 1e-9


def test_calibrators_are_exported_with_their_classes_also_after_an_update(
    run, calibrator, probabilities, tmp_path
):
    updated = tmp_path / "updated.skops"
    assert run("update", calibrator, probabilities, "-o", updated).exit_code == 0
    for saved in (calibrator, updated):
        output = tmp_path / "c.onnx"
        assert run("export", saved, output).exit_code == 0
        loaded = ProbabilityCalibrator.load(saved)
        scores = loaded.select_inputs(read_table(probabilities))
        label, proba = run_model(onnx.load(output), scores)
        expected = loaded.calibrator.predict_proba(scores)
        np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-9)
        assert label[0] == loaded.classes[expected[0].argmax()]


def test_a_calibrator_of_logits_takes_logits(run, write_csv, tmp_path):
    rng = np.random.RandomState(0)
    rows = [["ab"[k % 2], *logits] for k, logits in enumerate(rng.normal(size=(40, 2)).tolist())]
    saved, output = tmp_path / "c.skops", tmp_path / "c.onnx"
    file = write_csv("logits.csv", ["y", "a", "b"], rows)
    options = ["--target", "y", "--logits", "--method", "temperature", "-o", saved]
    assert run("calibrate", file, *options).exit_code == 0
    assert run("export", saved, output).exit_code == 0
    logits = np.array([row[1:] for row in rows])
    expected = ProbabilityCalibrator.load(saved).predict_proba(read_table(file))
    np.testing.assert_allclose(run_model(onnx.load(output), logits)[1], expected, atol=1e-9)


def test_models_saved_in_python_are_exported(run, tmp_path):
    X, y = make_waveform(60, random_state=0)
    save(CalibratedClassifier(GaussianNB(), method="matrix").fit(X, y), tmp_path / "m.skops")
    result = run("export", tmp_path / "m.skops", tmp_path / "m.onnx")
    assert result.stdout.startswith("Inputs: X.\nOn random rows")


def test_a_file_is_not_written_if_its_probabilities_differ(
    run, is_refused, model, tmp_path, monkeypatch
):
    from calibrant.tabular import onnx_models

    monkeypatch.setattr(onnx_models, "TOLERANCE", -1.0)
    output = tmp_path / "model.onnx"
    assert is_refused(run("export", model, output), "so it was not saved")
    assert not output.exists()


def test_without_onnxruntime_the_file_is_not_compared(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = run("export", model, tmp_path / "model.onnx")
    assert result.exit_code == 0
    assert "was not compared" in result.stderr


def test_outputs_are_protected(run, is_refused, model, tmp_path):
    assert is_refused(run("export", model, model), "must not replace an input")
    assert is_refused(run("export", model, tmp_path / "m.csv"), "the suffix .onnx")


def test_binary_strategies_are_refused_in_one_line(run, is_refused, tmp_path):
    X, y = make_waveform(60, random_state=0)
    binary = CalibratedClassifier(GaussianNB(), method="sigmoid", strategy="all-pairs").fit(X, y)
    save(binary, tmp_path / "m.skops")
    result = run("export", tmp_path / "m.skops", tmp_path / "m.onnx")
    assert is_refused(result, "The strategy must be direct")
