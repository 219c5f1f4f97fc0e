import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from calibrant import CalibratedClassifier, save
from calibrant.calibrators import TemperatureScaling
from calibrant.tabular import describe_table, fit_table
from calibrant.tabular.onnx_models import export_model

TABLE = pd.DataFrame(
    {
        "size": np.tile([1.0, 2.0, 3.0, 4.0, np.nan], 20),
        "color": np.tile(np.array(["red", "blue", None, "red"], dtype=object), 25),
        "kind": np.tile(["a", "b", "b", "a", "a", "b"], 17)[:100],
    }
)


def test_random_rows_of_a_table_are_like_its_rows_and_beyond(tmp_path):
    schema = describe_table(TABLE, "kind")
    fit_table(TABLE, schema, model="logistic", method="temperature").save(tmp_path / "m.skops")
    exported = export_model(tmp_path / "m.skops")
    assert exported.inputs == ["size (number)", "color (text)"]
    assert exported.probes["size"].isna().any()
    assert exported.probes["size"].max() > 4.0
    assert set(exported.probes["color"].dropna()) > {"red", "blue"}
    assert exported.check() < 1e-9


def test_random_rows_of_numbers_have_the_names_of_the_features(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    model = CalibratedClassifier(LogisticRegression(), cv=3, method="temperature")
    save(model.fit(X, np.arange(60) % 2), tmp_path / "m.skops")
    exported = export_model(tmp_path / "m.skops")
    assert list(exported.probes.columns) == ["a", "b"]
    assert exported.check() < 1e-9


def test_random_rows_of_a_calibrator_are_probabilities(tmp_path):
    score = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    save(TemperatureScaling().fit(score, np.arange(60) % 3), tmp_path / "c.skops")
    exported = export_model(tmp_path / "c.skops")
    assert np.allclose(exported.probes.sum(axis=1), 1.0)
    assert exported.check() < 1e-9


def test_a_model_of_texts_has_no_random_rows(tmp_path):
    X, y = TABLE[["color"]].fillna("none"), np.arange(100) % 2
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    base = make_pipeline(ColumnTransformer([("a", encoder, ["color"])]), LogisticRegression())
    model = CalibratedClassifier(FrozenEstimator(base.fit(X, y)), method="temperature").fit(X, y)
    save(model, tmp_path / "m.skops")
    assert export_model(tmp_path / "m.skops").check() is None
