import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant import save
from calibrant.datasets import make_waveform
from calibrant.tabular import (
    ProbabilityCalibrator,
    TableModel,
    describe_table,
    fit_probabilities,
    fit_table,
)
from calibrant.tabular.cells import as_cells
from calibrant.tabular.loading import load_model


def test_models_of_both_kinds_are_loaded(tmp_path):
    rng = np.random.RandomState(0)
    scores = rng.dirichlet([1.0] * 2, size=40)
    labels = as_cells("ab"[value] for value in (rng.uniform(size=40) > scores[:, 0]).tolist())
    table = pd.DataFrame({"y": labels, "a": scores[:, 0], "b": scores[:, 1]})
    table.index = pd.RangeIndex(1, 41, name="row")
    fit_probabilities(table, "y", method="temperature").save(tmp_path / "c.skops")
    schema = describe_table(table, "y")
    fit_table(table, schema, model="naive-bayes", method=None).save(tmp_path / "m.skops")
    assert type(load_model(tmp_path / "c.skops")) is ProbabilityCalibrator
    assert type(load_model(tmp_path / "m.skops")) is TableModel


def test_a_model_without_columns_is_for_python(tmp_path):
    save(GaussianNB().fit(*make_waveform(30, random_state=0)), tmp_path / "m.skops")
    with pytest.raises(ValueError, match=r"Use it in Python, with calibrant\.load"):
        load_model(tmp_path / "m.skops")
