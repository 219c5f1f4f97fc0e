import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
from onnx import TensorProto
from onnxruntime import InferenceSession

from calibrant._core import probability_floor, rowwise
from calibrant.combination import normalize
from calibrant.onnx import rows
from calibrant.onnx.graphs import Graph


def run(make, X):
    graph = Graph()
    out = make(graph.input("X", TensorProto.DOUBLE, X.shape[1]))
    model = graph.to_model({"out": (out, TensorProto.DOUBLE, None)}, ["X"], {})
    return InferenceSession(model.SerializeToString()).run(None, {"X": X})[0]


def draw(n_classes, seed=0):
    X = np.random.default_rng(seed).uniform(size=(200, n_classes)) ** 4
    X[:20] = X[:20].round(1)
    X[0] = 0.0
    X[1] = 1e-300
    return X


@pytest.mark.parametrize("n_classes", [2, 3, 7, 8, 9, 17, 100, 130, 300])
def test_rows_are_normalized_to_the_last_bit(n_classes):
    X = draw(n_classes)
    found = run(lambda x: rows.normalize_rows(x, n_classes), X)
    assert np.array_equal(found, rowwise.normalize_rows(X))


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_rows_are_computed_as_by_numpy(n_classes):
    X = draw(n_classes)
    proba = rowwise.normalize_rows(X)
    count = np.r_[0.0, np.arange(1.0, n_classes)]
    fallback = np.full((1, n_classes), 1.0 / n_classes)
    for found, expected in [
        (run(rows.softmax, 100.0 * X), rowwise.softmax(100.0 * X)),
        (run(lambda x: rows.log_floored(x, 1e-12), X), np.log(np.maximum(X, 1e-12))),
        (
            run(lambda x: rows.apply_probability_floor(x, count), proba),
            probability_floor.apply_probability_floor(proba, count),
        ),
        (run(lambda x: rows.normalize(x, fallback), X), normalize(X, np.tile(fallback, (200, 1)))),
    ]:
        assert np.allclose(found, expected, rtol=1e-14, atol=0)
