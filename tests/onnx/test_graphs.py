import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from calibrant.onnx.graphs import OPSETS, Graph

X = np.arange(6.0).reshape(3, 2)


def run(make, **inputs):
    """Build a graph with one output and run it in the reference implementation of ONNX."""
    graph = Graph()
    tensors = [
        graph.input(name, TensorProto.DOUBLE, value.shape[1]) for name, value in inputs.items()
    ]
    outputs = {"out": (make(*tensors), TensorProto.DOUBLE, None)}
    model = graph.to_model(outputs, list(inputs), {"key": "value"})
    return ReferenceEvaluator(model).run(None, inputs)[0]


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x + 2.0,
        lambda x: 1.0 - x,
        lambda x: x - 1.0,
        lambda x: x * np.array([2.0, 3.0]),
        lambda x: x / 3.0,
        lambda x: 1.0 / (x + 1.0),
        lambda x: x @ np.array([[1.0, 2.0], [3.0, 4.0]]),
        lambda x: x.clip(1.0, np.array([2.0, 4.0])),
        lambda x: x.sum(1),
    ],
)
def test_tensors_have_the_arithmetic_of_numpy(compute):
    assert run(compute, X=X).ravel().tolist() == compute(X).ravel().tolist()


def test_positions_are_taken_along_axes():
    assert run(lambda x: x.take([1, 0]), X=X).tolist() == X[:, [1, 0]].tolist()
    assert run(lambda x: x.slice(1, 3, 0), X=X).tolist() == X[1:3].tolist()
    assert run(lambda x: x.expand(2), X=X).shape == (3, 2, 1)


def test_an_embedded_model_is_computed_twice_without_a_clash_of_names():
    inner = Graph()
    doubled = inner.input("X", TensorProto.DOUBLE, 2) * 2.0
    model = inner.to_model({"Y": (doubled, TensorProto.DOUBLE, [None, 2])}, ["X"], {})

    def twice(x):
        [once] = x.graph.embed(model, {"X": x})
        return x.graph.embed(model, {"X": once})[0]

    assert run(twice, X=X).tolist() == (4.0 * X).tolist()


def test_a_model_states_its_operators_inputs_and_metadata():
    graph = Graph()
    second = graph.input("second", TensorProto.DOUBLE, 1)
    first = graph.input("first", TensorProto.DOUBLE, 1)
    assert graph.input("first", TensorProto.DOUBLE, 1).name == first.name
    outputs = {"out": (first + second, TensorProto.DOUBLE, [None, 1])}
    model = graph.to_model(outputs, ["first", "absent", "second"], {"key": "value"})
    assert [each.name for each in model.graph.input] == ["first", "second"]
    assert {each.domain: each.version for each in model.opset_import} == OPSETS
    assert [(each.key, each.value) for each in model.metadata_props] == [("key", "value")]
