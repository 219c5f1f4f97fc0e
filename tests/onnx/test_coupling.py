import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
from onnx import TensorProto
from onnxruntime import InferenceSession

from calibrant import combination
from calibrant._core import coupling
from calibrant.onnx.coupling import COUPLINGS, couple_pairs
from calibrant.onnx.graphs import Graph


def run(proba, class_count, method):
    graph = Graph()
    coupled = couple_pairs(
        graph.input("X", TensorProto.DOUBLE, proba.shape[1]), class_count, method
    )
    outputs = {"out": (coupled, TensorProto.DOUBLE, [None, len(class_count)])}
    model = graph.to_model(outputs, ["X"], {})
    return InferenceSession(model.SerializeToString()).run(None, {"X": proba})[0]


def test_every_coupling_has_a_graph():
    assert set(COUPLINGS) == set(coupling.COUPLINGS)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
@pytest.mark.parametrize("method", COUPLINGS)
def test_couplings_agree_on_random_contradictory_and_certain_pairs(method, n_classes):
    rng = np.random.default_rng(0)
    shape = (100, n_classes * (n_classes - 1) // 2)
    proba = np.vstack(
        [
            rng.uniform(size=shape),
            rng.beta(0.05, 0.05, size=shape),
            rng.choice([0.0, 1.0], size=shape),
            rng.choice([0.0, 1e-300, 1e-12, 0.3, 0.5, 1.0], size=shape),
            np.zeros((1, shape[1])),
        ]
    )
    count = np.r_[0.0, 5.0 * np.arange(1, n_classes)]
    expected = combination.couple_pairs(proba, count, method)
    assert np.allclose(run(proba, count, method), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", COUPLINGS)
def test_a_row_without_probabilities_leaves_the_others_as_they_are(method):
    proba = np.array([[np.nan, 0.5, 0.2], [1.0 - 1e-9, 0.9, 1e-9]])
    found = run(proba, np.ones(3), method)
    expected = combination.couple_pairs(proba[1:], np.ones(3), method)
    assert np.allclose(found[1:], expected, rtol=0, atol=1e-10)
