"""Graphs under construction: tensors with arithmetic, in float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    compose,
    helper,
    numpy_helper,
)

# The operators of onnxruntime 1.15 and newer. Those of skl2onnx are requested in these versions.
OPSETS = {"": 19, "ai.onnx.ml": 3}
# The first version of the file format that has these operators.
IR_VERSION = 9
ML = "ai.onnx.ml"


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value in a graph, with the arithmetic of NumPy.

    Attributes
    ----------
    graph : Graph
        The graph.
    name : str
        Its name in the graph.
    """

    graph: Graph
    name: str

    def op(self, kind: str, *others: Any, **attributes: Any) -> Tensor:
        """Apply an operator whose first input is this tensor."""
        return self.graph.op(kind, self, *others, **attributes)

    def __add__(self, other: Any) -> Tensor:
        return self.op("Add", other)

    def __sub__(self, other: Any) -> Tensor:
        return self.op("Sub", other)

    def __mul__(self, other: Any) -> Tensor:
        return self.op("Mul", other)

    def __truediv__(self, other: Any) -> Tensor:
        return self.op("Div", other)

    def __rsub__(self, other: Any) -> Tensor:
        return self.graph.op("Sub", other, self)

    def __rtruediv__(self, other: Any) -> Tensor:
        return self.graph.op("Div", other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return self.op("MatMul", other)

    def clip(self, low: Any, high: Any) -> Tensor:
        """Clip to bounds, which may be arrays."""
        return self.op("Max", low).op("Min", high)

    def take(self, index: Sequence[int] | NDArray[Any], axis: int = 1) -> Tensor:
        """Take columns, or positions along another axis."""
        return self.op("Gather", np.asarray(index, dtype=np.int64), axis=axis)

    def slice(self, start: int, stop: int, axis: int) -> Tensor:
        """Take a range of positions along an axis, which is kept."""
        return self.op("Slice", *(np.array([value]) for value in (start, stop, axis)))

    def sum(self, axis: int, *, keep: bool = True) -> Tensor:
        """Sum along an axis."""
        return self.op("ReduceSum", np.array([axis]), keepdims=int(keep))

    def expand(self, axis: int) -> Tensor:
        """Insert an axis of length 1."""
        return self.op("Unsqueeze", np.array([axis]))

    def within(self, graph: Graph) -> Tensor:
        """Return the same tensor, for use in the graph of a loop."""
        return Tensor(graph, self.name)

    def cast(self, kind: int) -> Tensor:
        """Convert to a type of `onnx.TensorProto`."""
        return self.op("Cast", to=kind)


class Graph:
    """A graph under construction.

    Numbers and arrays that are passed to an operator become constants; Python floats are float64.
    """

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._inputs: dict[str, ValueInfoProto] = {}
        self._n_names = 0
        self._prefix = "calibrant_"

    def input(self, name: str, kind: int, n_columns: int) -> Tensor:
        """Return an input of shape (n_rows, n_columns); the same one if it is there already.

        Parameters
        ----------
        name : str
            Its name.
        kind : int
            A type of `onnx.TensorProto`.
        n_columns : int
            The number of columns.
        """
        if name not in self._inputs:
            shape = (None, n_columns)
            self._inputs[name] = helper.make_tensor_value_info(name, kind, shape)
        return Tensor(self, name)

    def op(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> Tensor:
        """Apply an operator and return its first output."""
        return self.ops(kind, *inputs, n_outputs=1, domain=domain, **attributes)[0]

    def ops(
        self, kind: str, *inputs: Any, n_outputs: int, domain: str = "", **attributes: Any
    ) -> list[Tensor]:
        """Apply an operator and return its outputs."""
        names = [self._name_input(value) for value in inputs]
        outputs = [self._new_name() for _ in range(n_outputs)]
        # Old versions of onnxruntime require names in order to fuse nodes.
        node = helper.make_node(kind, names, outputs, outputs[0], domain=domain, **attributes)
        self._nodes.append(node)
        return [Tensor(self, name) for name in outputs]

    def embed(self, model: ModelProto, inputs: Mapping[str, Tensor]) -> list[Tensor]:
        """Add another model and return its outputs.

        Parameters
        ----------
        model : ModelProto
            The model, with operators of `OPSETS`.
        inputs : mapping of str to Tensor
            What its inputs are, by name.
        """
        prefix = f"{self._new_name()}_"
        inner = compose.add_prefix(model, prefix).graph
        for name, tensor in inputs.items():
            self._nodes.append(helper.make_node("Identity", [tensor.name], [prefix + name]))
        self._nodes.extend(inner.node)
        self._constants.extend(inner.initializer)
        return [Tensor(self, output.name) for output in inner.output]

    def loop(
        self, state: Tensor, step: Callable[[Tensor], tuple[Tensor, Tensor]], n_steps: int
    ) -> Tensor:
        """Repeat a step and return the last state.

        Parameters
        ----------
        state : Tensor
            The first state, of float64.
        step : callable
            Takes a state and returns the next, and whether to go on. Both are in a graph of their
            own, where `Tensor.within` makes other tensors of this graph available.
        n_steps : int
            The largest number of steps.
        """
        body = Graph()
        body._prefix = f"{self._new_name()}_"
        names = [body._new_name() for _ in range(3)]
        following, goes_on = step(Tensor(body, names[2]))
        kinds = (TensorProto.INT64, TensorProto.BOOL, TensorProto.DOUBLE)
        shapes: tuple[list[int] | None, ...] = ([], [], None)
        inputs = [
            helper.make_tensor_value_info(*described)
            for described in zip(names, kinds, shapes, strict=True)
        ]
        outputs = [
            helper.make_tensor_value_info(goes_on.name, TensorProto.BOOL, []),
            helper.make_tensor_value_info(following.name, TensorProto.DOUBLE, None),
        ]
        inner = helper.make_graph(body._nodes, body._prefix, inputs, outputs, body._constants)
        return self.op("Loop", np.array(n_steps), np.array(True), state, body=inner)

    def to_model(
        self,
        outputs: Mapping[str, tuple[Tensor, int, Sequence[int | None]]],
        order: Sequence[str],
        properties: Mapping[str, str],
    ) -> ModelProto:
        """Return the finished model.

        Parameters
        ----------
        outputs : mapping of str to tuple
            The tensor, the type and the shape of each output, by name.
        order : sequence of str
            The order of the inputs, by name. It may hold names of columns that are not inputs.
        properties : mapping of str to str
            The metadata.
        """
        described = []
        for name, (tensor, kind, shape) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [tensor.name], [name]))
            described.append(helper.make_tensor_value_info(name, kind, shape))
        names = sorted(self._inputs, key=list(order).index)
        graph: GraphProto = helper.make_graph(
            self._nodes,
            "calibrant",
            [self._inputs[name] for name in names],
            described,
            self._constants,
        )
        opsets = [helper.make_opsetid(domain, number) for domain, number in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        helper.set_model_props(model, dict(properties))
        return model

    def _name_input(self, value: Any) -> str:
        if isinstance(value, Tensor):
            return value.name
        name = self._new_name()
        self._constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def _new_name(self) -> str:
        self._n_names += 1
        return f"{self._prefix}{self._n_names}"
