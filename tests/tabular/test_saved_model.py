import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant import load, save
from calibrant.datasets import make_waveform
from calibrant.persistence import read_info
from calibrant.tabular import (
    ProbabilityCalibrator,
    TableModel,
    describe_table,
    fit_probabilities,
    fit_table,
)
from calibrant.tabular.cells import as_cells
from calibrant.tabular.saved_model import WrongKindError

rng = np.random.RandomState(0)
SCORES = rng.dirichlet([0.3] * 3, size=90)
LABELS = as_cells("abc"[rng.choice(3, p=0.5 * row + 0.5 / 3)] for row in SCORES)
TABLE = pd.DataFrame({"y": LABELS, "a": SCORES[:, 0], "b": SCORES[:, 1], "c": SCORES[:, 2]})
TABLE.index = pd.RangeIndex(1, 91, name="row")
KINDS = (TableModel, ProbabilityCalibrator)


def fit(kind, method="temperature"):
    if kind is ProbabilityCalibrator:
        return fit_probabilities(TABLE, "y", method=method)
    return fit_table(TABLE, describe_table(TABLE, "y"), model="naive-bayes", method=method)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["auto", "temperature", "venn-abers"])
def test_a_loaded_model_predicts_the_same_to_the_last_bit(kind, method, tmp_path):
    fitted = fit(kind, method)
    fitted.save(tmp_path / "m.skops")
    loaded = kind.load(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.predict_proba(TABLE), fitted.predict_proba(TABLE))
    assert loaded.input_columns == fitted.input_columns == ("a", "b", "c")
    assert loaded.output_columns == fitted.output_columns == ("a", "b", "c")
    assert loaded.settings == fitted.settings
    assert loaded.report == fitted.report


@pytest.mark.parametrize(("kind", "other"), [KINDS, KINDS[::-1]])
def test_another_kind_of_model_is_refused(kind, other, tmp_path):
    fit(other).save(tmp_path / "m.skops")
    with pytest.raises(WrongKindError, match=f"must hold a {kind.KIND}.* a {other.KIND}") as raised:
        kind.load(tmp_path / "m.skops")
    assert raised.value.found == other.KIND
    save(GaussianNB().fit(*make_waveform(30, random_state=0)), tmp_path / "m.skops")
    with pytest.raises(WrongKindError, match="model of another kind") as raised:
        kind.load(tmp_path / "m.skops")
    assert raised.value.found == ""


def changed_descriptions(kind, description):
    """Descriptions with other classes or columns, in another order, or with nothing at all.

    A calibrator knows its columns by position, so that other names for them are not noticed.
    """
    nested = description if kind is ProbabilityCalibrator else description["schema"]
    classes = nested["classes"]
    renamed = [[*classes[1:], "~"]] if kind is TableModel else []
    for other in (classes[::-1], classes[1:], [*classes, "~"], *renamed):
        nested["classes"] = other
        yield json.loads(json.dumps(description))
    nested["classes"] = classes
    if kind is ProbabilityCalibrator:
        for columns in (["a", "b"], ["a", "b", "b"], ["a", "b", None], [None, None, None]):
            yield description | {"columns": columns}
    if kind is TableModel:
        columns = nested["columns"]
        for other in (columns[::-1], columns[1:]):
            nested["columns"] = other
            yield json.loads(json.dumps(description))
    yield {"kind": kind.KIND}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_whose_model_and_description_differ_is_refused(kind, tmp_path):
    path = tmp_path / "m.skops"
    fit(kind).save(path)
    description, estimator = read_info(path).training, load(path)
    foreign = GaussianNB().fit(*make_waveform(30, random_state=0))
    save(foreign, path, training=description)
    with pytest.raises(ValueError, match="matches its description"):
        kind.load(path)
    for changed in changed_descriptions(kind, json.loads(json.dumps(description))):
        save(estimator, path, training=changed)
        with pytest.raises(ValueError, match="matches its description"):
            kind.load(path)
    save(estimator, path, training=description)
    kind.load(path)


def shifted_rows():
    """Rows of which those of class a are mostly missing."""
    kept = [label != "a" or number % 8 == 0 for number, label in enumerate(LABELS)]
    rows = pd.concat([TABLE[kept]] * 3)
    rows.index = pd.RangeIndex(1, len(rows) + 1, name="row")
    return rows, np.array(["abc".index(label) for label in rows["y"]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["auto", "temperature"])
def test_the_performance_at_fit_is_recorded_and_saved(kind, method, tmp_path):
    fitted = fit(kind, method)
    fitted.save(tmp_path / "m.skops")
    loaded = kind.load(tmp_path / "m.skops")
    assert loaded.performance == fitted.performance
    assert fitted.performance.n_rows == 90
    counts = [LABELS.tolist().count(name) for name in "abc"]
    assert list(fitted.performance.class_count) == pytest.approx(counts)
    assert list(loaded.class_count) == counts
    # Held-out rows are predicted worse than training rows.
    proba = fitted.predict_proba(TABLE)
    y = np.array(["abc".index(label) for label in LABELS])
    training_loss = -np.log(proba[np.arange(90), y]).mean()
    assert fitted.performance.log_loss.estimate > training_loss - 0.01


def test_a_model_without_calibration_has_no_record():
    schema = describe_table(TABLE, "y")
    fitted = fit_table(TABLE, schema, model="naive-bayes", method=None)
    assert fitted.performance is None
    assert fitted.class_count == schema.class_count


@pytest.mark.parametrize("kind", KINDS)
def test_an_updated_model_is_saved_with_its_history(kind, tmp_path):
    fitted = fit(kind)
    rows, y = shifted_rows()
    before = fitted.predict_proba(rows)
    updated, report = fitted.update(rows, y)
    again, _ = updated.update(rows, y)
    assert report.choice != "none"
    np.testing.assert_array_equal(fitted.predict_proba(rows), before)
    assert updated.predict_proba(rows)[:, 0].mean() < before[:, 0].mean()
    assert (fitted.history, len(updated.history), len(again.history)) == ((), 1, 2)
    assert updated.history[0].reason == report.reason
    assert updated.performance == report.performance
    assert sum(updated.class_count) == len(y)
    for model in (updated, again):
        model.save(tmp_path / "m.skops")
        loaded = kind.load(tmp_path / "m.skops")
        np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
        assert (loaded.history, loaded.report) == (model.history, model.report)
        assert loaded.performance == model.performance


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_agree_with_a_model_change_only_its_history(kind):
    fitted = fit(kind)
    proba = fitted.predict_proba(TABLE)
    rng = np.random.RandomState(1)
    y = (rng.uniform(size=(90, 1)) >= proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    updated, report = fitted.update(TABLE, y)
    assert report.choice == "none"
    np.testing.assert_array_equal(updated.predict_proba(TABLE), proba)
    assert updated.performance == fitted.performance
    assert updated.history[0].n_rows == 90


@pytest.mark.parametrize("kind", KINDS)
def test_forged_histories_and_updates_are_refused(kind, tmp_path):
    path = tmp_path / "m.skops"
    updated, _ = fit(kind).update(*shifted_rows())
    updated.save(path)
    description, estimator = read_info(path).training, load(path)
    for history in ([{"choice": "none"}], ["none"], 3):
        save(estimator, path, training={**description, "history": history})
        with pytest.raises(ValueError, match="matches its description"):
            kind.load(path)
    estimator.calibrator_ = GaussianNB().fit(*make_waveform(30, random_state=0))
    with pytest.raises(ValueError, match="parts that model files support"):
        save(estimator, path, training=description)


def save_and_load(model, path):
    """Save and load a model: what only its description contradicts is refused by load."""
    model.save(path)
    return type(model).load(path)


def set_in(content, path, value):
    """Set a value of nested dictionaries and lists."""
    *parents, last = path
    for key in parents:
        content = content[key]
    content[last] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["history"], [{"n_rows": float("inf"), "choice": "none", "reason": "r"}]),
        (["history"], [{"n_rows": "3", "choice": "none", "reason": "r"}]),
        (["history"], [{"n_rows": 3, "choice": 1, "reason": "r"}]),
        (["schema", "target"], 5),
        (["schema", "groups"], 5),
        (["schema", "classes"], ["a", "b", 3]),
        (["schema", "class_names"], {"x": 5}),
        (["schema", "class_names"], 5),
        (["schema", "class_count"], [0, 0, 0]),
        (["schema", "class_count"], [-5, 5, 5]),
        (["schema", "class_count"], ["1", "2", "3"]),
        (["schema", "class_count"], "123"),
        (["schema", "class_count"], [1.5, 2, 3]),
        (["schema", "columns", 0], 5),
        (["schema", "columns", 0, "name"], 5),
        (["schema", "columns", 0, "low"], "a"),
        (["schema", "columns", 0, "high"], [1]),
        (["schema", "columns", 0, "high"], float("inf")),
        (["schema", "columns", 0, "number_format"], {"decimal": 5}),
        (["schema", "columns", 0, "number_format"], {"unit": None}),
        (["schema", "columns", 0, "missing"], [5]),
    ],
)
def test_descriptions_with_values_of_another_type_are_refused(path, value, tmp_path):
    file = tmp_path / "m.skops"
    fit(TableModel).save(file)
    description = read_info(file).training
    set_in(description, path, value)
    replace_training(file, description)
    with pytest.raises(ValueError, match="matches its description"):
        TableModel.load(file)


def replace_training(file, description):
    """Replace the description in a model file, as JSON with infinities."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    info = json.loads(members["calibrant.json"]) | {"training": description}
    members["calibrant.json"] = json.dumps(info).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["class_count"], [0, 0, 0]),
        (["class_count"], [-5, 5, 5]),
        (["class_count"], ["1", "2", "3"]),
        (["log_loss", "standard_error"], "0.1"),
        (["log_loss", "n_rows"], float("inf")),
        (["by_class", 0, "estimate"], float("inf")),
        (["n_rows"], -1),
    ],
)
def test_forged_performances_are_refused(path, value, tmp_path):
    file = tmp_path / "m.skops"
    fit(ProbabilityCalibrator).save(file)
    description = read_info(file).training
    set_in(description["calibration_report"]["performance"], path, value)
    replace_training(file, description)
    with pytest.raises(ValueError, match="matches its description"):
        ProbabilityCalibrator.load(file)


def test_a_calibrator_with_a_target_that_is_no_text_is_refused(tmp_path):
    file = tmp_path / "m.skops"
    fit(ProbabilityCalibrator).save(file)
    description = read_info(file).training
    description["settings"]["target"] = 5
    replace_training(file, description)
    with pytest.raises(ValueError, match="matches its description"):
        ProbabilityCalibrator.load(file)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("slope_", "1"),
        ("slope_", float("nan")),
        ("intercept_", np.zeros(5)),
        ("intercept_", np.array([np.inf, 0.0, 0.0])),
        ("intercept_", np.array(["a", "b", "c"])),
        ("intercept_", None),
        ("n_features_in_", 2),
        ("calibrator_", "temperature"),
    ],
)
def test_updates_with_unusable_parameters_are_refused(kind, attribute, value, tmp_path):
    updated, _ = fit(kind).update(*shifted_rows())
    setattr(updated._estimator.calibrator_, attribute, value)
    with pytest.raises(ValueError, match=r"parts that model files support|matches its description"):
        save_and_load(updated, tmp_path / "m.skops")


def test_a_damaged_model_predicts_nothing_rather_than_nan():
    fitted = fit(ProbabilityCalibrator)
    fitted.calibrator.temperature_ = np.nan
    with pytest.raises(ValueError, match="its file is damaged"):
        fitted.predict_proba(TABLE)
