import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
from onnx import TensorProto
from onnxruntime import InferenceSession
from sklearn.isotonic import IsotonicRegression

from calibrant.onnx.binary import map_scores
from calibrant.onnx.graphs import Graph
from experiments.onnx_differences import BINARY


def run(calibrators, score):
    graph = Graph()
    mapped = map_scores(calibrators, graph.input("X", TensorProto.DOUBLE, score.shape[1]))
    outputs = {"out": (mapped, TensorProto.DOUBLE, [None, score.shape[1]])}
    model = graph.to_model(outputs, ["X"], {})
    return InferenceSession(model.SerializeToString()).run(None, {"X": score})[0]


def draw(name):
    """Scores, which are probabilities if the calibrator requires them, and targets."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=200).round(2) if name in ("beta", "sigmoid") else rng.normal(size=200)
    return x, (rng.uniform(size=200) < 1 / (1 + np.exp(-x))).astype(float)


def test_calibrators_of_different_families_keep_their_columns():
    fitted, columns = [], []
    for name, calibrator in BINARY.items():
        x, y = draw(name)
        fitted.append(calibrator.fit(x, y))
        columns.append(x)
    order = np.random.default_rng(1).permutation(len(fitted))
    score = np.column_stack(columns)[:, order]
    found = run([fitted[k] for k in order], score)
    for k, column, expected in zip(order, score.T, found.T, strict=True):
        assert np.allclose(fitted[k].predict(column), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in BINARY if name != "beta"])
def test_scores_of_any_size_agree(name):
    x, y = draw("decision values")
    fitted = BINARY[name].fit(x, y)
    huge = np.array([-1e300, -1e9, -1e-300, 0.0, 1e-300, 1e9, 1e300])
    score = np.concatenate([huge, x, np.nextafter(x, 9.0), np.nextafter(x, -9.0)])[:, None]
    assert np.allclose(run([fitted], score)[:, 0], fitted.predict(score), rtol=0, atol=1e-12)


def test_isotonic_regression_of_scikit_learn_is_interpolated():
    x, y = draw("isotonic")
    score = np.linspace(-5.0, 5.0, 400)[:, None]
    clipped = IsotonicRegression(out_of_bounds="clip").fit(x, y)
    assert np.allclose(run([clipped], score)[:, 0], clipped.predict(score), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match=r"out_of_bounds='clip' .* got 'nan'. Set it"):
        run([IsotonicRegression().fit(x, y)], score)
