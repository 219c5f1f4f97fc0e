import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import json

import numpy as np
import onnx
from scipy.special import softmax
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import calibrant
from calibrant import CalibratedClassifier, to_onnx
from calibrant.calibrators import ENIR, TemperatureScaling
from calibrant.datasets import make_waveform
from calibrant.onnx.checking import run_model

X, Y = make_waveform(100, random_state=0)
SCORE = softmax(np.random.default_rng(0).normal(size=(100, 3)), axis=1)


def fit(y):
    return CalibratedClassifier(GaussianNB(), method="temperature", cv=3, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    "labels", [np.array([3, -1, 2**20]), np.array(["c", "äß", "a"]), np.array([0, 1, 2], np.int8)]
)
def test_labels_are_those_of_predict(labels):
    model = fit(labels[Y])
    label, proba = run_model(to_onnx(model), X)
    assert label.tolist() == model.predict(X).tolist()
    assert proba.dtype == np.float64


def test_the_model_is_valid_and_says_where_it_comes_from():
    import pandas as pd

    names = [f"x{k}" for k in range(X.shape[1])]
    model = CalibratedClassifier(GaussianNB(), method=None).fit(pd.DataFrame(X, columns=names), Y)
    converted = to_onnx(model)
    onnx.checker.check_model(converted, full_check=True)
    assert converted.producer_name == "calibrant"
    assert {each.key: each.value for each in converted.metadata_props} == {
        "calibrant": calibrant.__version__,
        "model": "CalibratedClassifier",
        "classes": "[0, 1, 2]",
        "features": json.dumps(names),
    }
    assert [each.name for each in converted.graph.input] == ["X"]
    assert [each.name for each in converted.graph.output] == ["label", "probabilities"]


def test_a_calibrator_takes_logits_and_names_of_classes():
    calibrator = TemperatureScaling().fit(SCORE, Y)
    logits = np.log(SCORE) + 7.0
    label, proba = run_model(to_onnx(calibrator, classes=["a", "b", "c"], logits=True), logits)
    assert np.allclose(proba, calibrator.predict_proba(SCORE), rtol=0, atol=1e-12)
    assert label.tolist() == [["a", "b", "c"][k] for k in calibrator.predict(SCORE)]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GaussianNB().fit(X, Y), r"got GaussianNB. Convert other models with skl2onnx"),
        (ENIR().fit(SCORE[:, 1], Y == 1), r"got the binary calibrator ENIR. Fit OneVsRest"),
        (LogisticRegression, r"got type. Convert other"),
    ],
)
def test_other_models_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        to_onnx(model)


def test_unfitted_models_are_refused():
    with pytest.raises(NotFittedError):
        to_onnx(CalibratedClassifier(GaussianNB()))


def test_labels_that_onnx_does_not_know_are_refused():
    calibrator = TemperatureScaling().fit(SCORE, Y)
    with pytest.raises(ValueError, match=r"must be integers or texts in ONNX, got float64. Pass"):
        to_onnx(calibrator, classes=[0.5, 1.5, 2.5])
    with pytest.raises(ValueError, match=r"each of the 3 classes, got shape \(2,\). Omit"):
        to_onnx(calibrator, classes=["a", "b"])


def test_logits_are_for_calibrators_only():
    with pytest.raises(ValueError, match=r"requires a calibrator.* got CalibratedClassifier. Omit"):
        to_onnx(fit(Y), logits=True)
