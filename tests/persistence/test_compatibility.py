"""Files saved by earlier versions; save_models.py and save_estimators.py in fixtures saved them."""

import io
import json
import warnings
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from calibrant import load
from calibrant.cli import app
from calibrant.exceptions import CalibrationWarning
from calibrant.persistence.validation import iterate_objects

FIXTURES = Path(__file__).parent / "fixtures"
FOLDERS = [path.parent for path in sorted(FIXTURES.glob("*/predicted.csv"))]
ESTIMATORS = FIXTURES / "0.1.0-estimators"
EXPECTED = {folder: json.loads((folder / "expected.json").read_text()) for folder in FOLDERS}
MODELS = [(folder, name) for folder in FOLDERS for name in EXPECTED[folder]["proba"]]

each_model = pytest.mark.parametrize(
    ("folder", "name"), MODELS, ids=lambda part: str(getattr(part, "name", part))
)


@pytest.fixture(autouse=True)
def _any_scikit_learn():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        yield


@each_model
def test_models_of_earlier_versions_predict_the_same(folder, name):
    rows, scores = (np.array(EXPECTED[folder][key]) for key in ("rows", "scores"))
    expected = np.array(EXPECTED[folder]["proba"][name])
    model = load(folder / f"{name}.skops")
    if hasattr(model, "estimator"):
        proba = model.predict_proba(rows)
    elif expected.ndim == 2:
        proba = model.predict_proba(scores)
    else:
        proba = model.predict(scores[:, 0])
    np.testing.assert_allclose(proba, expected, rtol=1e-9)


@each_model
def test_estimators_of_earlier_versions_have_the_current_parameters(folder, name):
    for part in iterate_objects(load(folder / f"{name}.skops")):
        if isinstance(part, BaseEstimator):
            assert (
                clone(part).get_params(deep=False).keys() == signature(type(part)).parameters.keys()
            )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize(
    ("command", "model", "new", "expected"),
    [
        ("predict", "table.skops", "new_rows.csv", "predicted.csv"),
        ("apply", "calibrator.skops", "new_scores.csv", "applied.csv"),
    ],
)
def test_table_models_of_earlier_versions_predict_the_same(folder, command, model, new, expected):
    files = [str(folder / model), str(folder / new)]
    result = CliRunner().invoke(app, [command, *files, "--digits", "all"])
    assert result.exit_code == 0, result.output
    proba = np.genfromtxt(io.StringIO(result.stdout), delimiter=",", names=True)
    kept = np.genfromtxt(folder / expected, delimiter=",", names=True)
    for name in "abc":
        np.testing.assert_allclose(proba[name], kept[name], rtol=1e-9)


def test_a_forged_report_of_an_earlier_version_is_refused(rewrite, tmp_path):
    path = tmp_path / "model.skops"
    earlier = Path(__file__).parent / "fixtures" / "before_0.1.0" / "default.skops"
    path.write_bytes(earlier.read_bytes())

    def forge(members):
        schema = members["schema.json"].replace(b'"interval"', b'"other"')
        assert schema != members["schema.json"]
        return members | {"schema.json": schema}

    rewrite(path, forge)
    with pytest.raises(ValueError, match="damaged or has been changed"):
        load(path)


@pytest.mark.parametrize("path", sorted(ESTIMATORS.glob("*.skops")), ids=lambda path: path.stem)
def test_estimators_of_earlier_versions_predict_the_same(path):
    expected = json.loads((ESTIMATORS / "expected.json").read_text())
    prediction = expected["predictions"][path.stem]
    model = load(path)
    values = getattr(model, prediction["method"])(np.array(expected["rows"]))
    np.testing.assert_allclose(values, prediction["values"], rtol=1e-7, atol=1e-12)


def test_parameters_that_scikit_learn_does_not_accept_are_named(save_unchecked, tmp_path):
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    model.set_params(solver="other", max_iter=-1, warm_start="deprecated")
    path = tmp_path / "model.skops"
    save_unchecked(model, path)
    with pytest.warns(CalibrationWarning) as caught:
        loaded = load(path)
    message = "\n".join(str(warning.message) for warning in caught)
    assert "solver='other' of LogisticRegression, max_iter=-1 of LogisticRegression" in message
    assert "warm_start" not in message
    assert caught[0].filename == __file__
    assert (loaded.solver, loaded.max_iter, loaded.warm_start) == ("lbfgs", 100, False)
