import json

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
