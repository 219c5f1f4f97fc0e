"""Schemas of skops, and their check before anything is built from them.

A schema describes a model as nested nodes, each with a loader and a type. Only a few loaders are
needed for models. Those that call functions, build generators of random numbers or load search
trees are refused, as are types without a declaration and attributes that the declaration of their
type does not name.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from calibrant.persistence.archive import Archive, parse_array
from calibrant.persistence.declarations import DECLARATIONS
from calibrant.persistence.declarations._language import type_path
from calibrant.persistence.declarations.trees import TREE
from calibrant.persistence.nodes import attribute_nodes, plain_value, type_name
from calibrant.persistence.refusals import RefusedPartError, is_harmless
from calibrant.persistence.specifications import ALLOWED_VALUES

# Loaders changed in meaning between protocols; calibrant never wrote a lower one.
LOWEST_PROTOCOL = 2
NODE_KEYS = frozenset({"__class__", "__id__", "__loader__", "__module__"})
ROOT_KEYS = frozenset({"_skops_version", "protocol"})
LARGEST_INTEGER = 2**64
KEY_TYPES = frozenset(
    {"builtins.str", "builtins.int", "builtins.float", "numpy.str_"}
    | {f"numpy.{np.dtype(code).name}" for code in "bhiqBHIQfd"}
)
SCALARS = frozenset({"numpy.str_", "numpy.bool", "numpy.bool_", "numpy.datetime64"}) | {
    f"numpy.{np.dtype(code).name}" for code in "bhiqBHIQefd"
}
SPARSE = frozenset({"scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix"})
TREE_STATE = frozenset({"max_depth", "node_count", "nodes", "values"})


def check_schema(archive: Archive) -> None:
    """Check a schema before any object is built from it.

    Parameters
    ----------
    archive : Archive
        The schema and its arrays.

    Raises
    ------
    ValueError
        If it contains anything that is not declared.
    """
    schema = archive.schema
    protocol = schema.get("protocol")
    if type(protocol) is not int or protocol < LOWEST_PROTOCOL:
        raise ValueError(f"The protocol must be at least {LOWEST_PROTOCOL}, got {protocol!r}.")
    root = {name: item for name, item in schema.items() if name not in ROOT_KEYS}
    _SchemaChecker(archive).check(root, "")


class _SchemaChecker:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._form_of: dict[int, int] = {}  # by the number of a node
        self._forms: dict[Any, int] = {}
        self._form_cache: dict[int, int] = {}  # by the identity of a node in memory

    def check(self, node: Any, part: str) -> None:
        if not isinstance(node, dict) or not all(
            isinstance(node.get(name), str) for name in ("__class__", "__loader__", "__module__")
        ):
            raise RefusedPartError(part, "is not described")
        self._check_identity(node, part)
        loader = node["__loader__"]
        check = self.CHECKS.get(loader)
        if check is None:
            raise RefusedPartError(part, f"is {type_name(node)}, which model files cannot contain")
        check(self, node, part)

    def _check_identity(self, node: dict[str, Any], part: str) -> None:
        """Check that nodes with the same number are the same, since skops builds one of them."""
        number = node.get("__id__")
        if number is None:
            return
        form = self._form(node)
        if type(number) is not int or self._form_of.setdefault(number, form) != form:
            raise RefusedPartError(part, "has the number of another object")

    def _form(self, item: Any) -> int:
        """Return a number that nodes with the same content, apart from numbers, have in common."""
        if isinstance(item, str):
            item = self._archive.arrays.get(item, item)  # the content of an array, not its name
        if not isinstance(item, dict | list):
            return self._forms.setdefault((type(item), item), len(self._forms))
        if id(item) not in self._form_cache:
            if isinstance(item, dict):
                key: Any = tuple(
                    (name, self._form(value)) for name, value in item.items() if name != "__id__"
                )
            else:
                key = (list, *map(self._form, item))
            self._form_cache[id(item)] = self._forms.setdefault(key, len(self._forms))
        return self._form_cache[id(item)]

    def _keys(self, node: dict[str, Any], part: str, *names: str) -> None:
        if node.keys() - NODE_KEYS != set(names):
            raise RefusedPartError(part, "is not described as expected")

    def _type(self, node: dict[str, Any], part: str, allowed: Any) -> str:
        path = type_name(node)
        if path not in allowed:
            raise RefusedPartError(part, f"is {path}, which model files cannot contain")
        return path

    def _items(self, items: Any, part: str) -> None:
        if not isinstance(items, list):
            raise RefusedPartError(part, "is not described as expected")
        for number, item in enumerate(items):
            self.check(item, f"{part}[{number}]")

    def _check_plain(self, node: dict[str, Any], part: str) -> None:
        self._keys(node, part, "content", "is_json")
        self._type(node, part, {"builtins.str"})
        if not isinstance(node["content"], str):
            raise RefusedPartError(part, "is not described as expected")
        value = json.loads(node["content"])
        is_number = isinstance(value, int | float) and (
            not isinstance(value, int) or abs(value) <= LARGEST_INTEGER
        )
        is_text = isinstance(value, str) and is_harmless(value)
        if not (value is None or is_number or is_text):
            raise RefusedPartError(part, "must be a plain value without control characters")

    def _check_dict(self, node: dict[str, Any], part: str) -> None:
        self._keys(node, part, "content", "key_types")
        self._type(node, part, {"builtins.dict"})
        content = node["content"]
        if not isinstance(content, dict) or not all(map(is_harmless, content)):
            raise RefusedPartError(part, "must have keys without control characters")
        key_types = node["key_types"]
        self.check(key_types, part)
        if key_types["__loader__"] != "ListNode" or len(key_types["content"]) != len(content):
            raise RefusedPartError(part, "must have one type per key")
        for key_type in key_types["content"]:
            if key_type["__loader__"] != "TypeNode" or type_name(key_type) not in KEY_TYPES:
                raise RefusedPartError(part, "must have plain keys")
        for key, item in content.items():
            self.check(item, f"{part}[{key!r}]")

    def _check_list(self, node: dict[str, Any], part: str) -> None:
        self._keys(node, part, "content")
        self._type(node, part, {"builtins.list"})
        self._items(node["content"], part)

    def _check_tuple(self, node: dict[str, Any], part: str) -> None:
        self._keys(node, part, "content")
        self._type(node, part, {"builtins.tuple"})
        self._items(node["content"], part)

    def _check_slice(self, node: dict[str, Any], part: str) -> None:
        self._keys(node, part, "content")
        self._type(node, part, {"builtins.slice"})
        ends = node["content"]
        if (
            not isinstance(ends, dict)
            or ends.keys() != {"start", "step", "stop"}
            or not all(end is None or type(end) is int for end in ends.values())
        ):
            raise RefusedPartError(part, "must be a slice of integers")

    def _check_type_or_function(self, node: dict[str, Any], part: str) -> None:
        self._type(node, part, ALLOWED_VALUES.paths() | KEY_TYPES)
        self._keys(node, part)

    def _check_dtype(self, node: dict[str, Any], part: str) -> None:
        self._keys(node, part, "content")
        self._type(node, part, {"numpy.dtype"})
        self.check(node["content"], part)
        if node["content"]["__loader__"] != "NdArrayNode":
            raise RefusedPartError(part, "is not described as expected")

    def _check_array(self, node: dict[str, Any], part: str) -> None:
        if node.get("type") == "json":
            self._keys(node, part, "content", "shape", "type")
            self._type(node, part, {"numpy.ndarray"})
            self._check_object_array(node, part)
            return
        self._keys(node, part, "file", "type")
        path = self._type(node, part, {"numpy.ndarray", *SCALARS})
        if node["type"] != "numpy":
            raise RefusedPartError(part, "is not described as expected")
        array = self._array(node, part)
        if path != "numpy.ndarray" and (
            array.shape or f"numpy.{array.dtype.type.__name__}" != path
        ):
            raise RefusedPartError(part, f"is not a number of type {path}")
        if array.dtype.kind == "U" and not all(map(is_harmless, np.unique(array).tolist())):
            raise RefusedPartError(part, "must be text without control characters")

    def _check_object_array(self, node: dict[str, Any], part: str) -> None:
        self.check(node["shape"], part)
        shape = plain_value(node["shape"])
        self._check_nesting(node["content"], shape, part)

    def _check_nesting(self, items: Any, shape: Any, part: str) -> None:
        """Check the items of an array of objects, whose rows are lists."""
        if (
            type(shape) is not list
            or not shape
            or not isinstance(items, list)
            or type(shape[0]) is not int
            or len(items) != shape[0]
        ):
            raise RefusedPartError(part, "must have as many items as its shape says")
        for number, item in enumerate(items):
            self.check(item, f"{part}[{number}]")
            if len(shape) > 1:
                if item["__loader__"] != "ListNode":
                    raise RefusedPartError(part, "must have as many dimensions as its shape says")
                self._check_nesting(item["content"], shape[1:], part)

    def _check_sparse(self, node: dict[str, Any], part: str) -> None:
        self._keys(node, part, "file", "type")
        self._type(node, part, SPARSE)
        if self._file(node, part, ".npz") is None or node["type"] != "scipy":
            raise RefusedPartError(part, "is not described as expected")

    def _check_object(self, node: dict[str, Any], part: str) -> None:
        path = type_name(node)
        declaration = DECLARATIONS.get(path)
        if declaration is None or declaration.kind is TREE:
            raise RefusedPartError(part, f"is {path}, which model files cannot contain")
        if node.keys() == NODE_KEYS or node.keys() == NODE_KEYS - {"__id__"}:
            return None
        self._keys(node, part, "content")
        state = node["content"]
        if isinstance(state, dict) and state.get("content") == "null":
            return self.check(state, part)
        if not isinstance(state, dict) or state.get("__loader__") != "DictNode":
            raise RefusedPartError(part, "is not described as expected")
        for name in attribute_nodes(node):
            if declaration.specification(name) is None:
                raise RefusedPartError(f"{part}.{name}".lstrip("."), "is not declared")
        self.check_state(state, part)
        return None

    def check_state(self, state: dict[str, Any], part: str) -> None:
        """Check the attributes of an object, which are named in messages as attributes."""
        self._check_identity(state, part)
        self._keys(state, part, "content", "key_types")
        self._type(state, part, {"builtins.dict"})
        attributes = state["content"]
        self.check(state["key_types"], part)
        kinds = state["key_types"].get("content")
        if (
            not isinstance(attributes, dict)
            or len(kinds) != len(attributes)
            or any(type_name(kind) != "builtins.str" for kind in kinds)
        ):
            raise RefusedPartError(part, "must have attributes with names")
        for name, item in attributes.items():
            self.check(item, f"{part}.{name}".lstrip("."))

    def _check_tree(self, node: dict[str, Any], part: str) -> None:
        """Check the numbers with which compiled code allocates a tree and copies its nodes."""
        self._keys(node, part, "__reduce__", "content")
        self._type(node, part, {type_path(TREE)})
        reduced = node["__reduce__"]
        if not isinstance(reduced, dict) or reduced.keys() != {"args"}:
            raise RefusedPartError(part, "is not described as expected")
        self.check(reduced["args"], part)
        self.check_state(node["content"], part)
        arguments = reduced["args"]
        state = node["content"]["content"]
        if (
            arguments["__loader__"] != "TupleNode"
            or len(arguments["content"]) != 3
            or state.keys() != TREE_STATE
        ):
            raise RefusedPartError(part, "is not described as expected")
        n_features, n_classes, n_outputs = arguments["content"]
        counts = self._array(n_classes, part)
        nodes, values = self._array(state["nodes"], part), self._array(state["values"], part)
        n_nodes = plain_value(state["node_count"])
        depth = plain_value(state["max_depth"])
        if (
            counts.dtype != np.intp
            or counts.shape != (1,)
            or counts[0] < 1
            or plain_value(n_outputs) != 1
            or type(plain_value(n_outputs)) is not int
            or type(n_nodes) is not int
            or n_nodes < 1
            or nodes.shape != (n_nodes,)
            or nodes.dtype.names is None
            or values.dtype != np.float64
            or values.shape != (n_nodes, 1, counts[0])
            or not values.flags.c_contiguous
            or type(depth) is not int
            or not 0 <= depth <= n_nodes
            or type(plain_value(n_features)) is not int
            or not 1 <= plain_value(n_features) < 2**31
        ):
            raise RefusedPartError(part, "has sizes that do not match its nodes")

    # By the names of skops.
    CHECKS: ClassVar[dict[str, Callable[[_SchemaChecker, dict[str, Any], str], None]]] = {
        "DTypeNode": _check_dtype,
        "DictNode": _check_dict,
        "FunctionNode": _check_type_or_function,
        "JsonNode": _check_plain,
        "ListNode": _check_list,
        "NdArrayNode": _check_array,
        "ObjectNode": _check_object,
        "SliceNode": _check_slice,
        "SparseMatrixNode": _check_sparse,
        "TreeNode": _check_tree,
        "TupleNode": _check_tuple,
        "TypeNode": _check_type_or_function,
    }

    def _array(self, node: Any, part: str) -> Any:
        if not isinstance(node, dict) or node.get("__loader__") != "NdArrayNode":
            raise RefusedPartError(part, "must be an array")
        name = self._file(node, part, ".npy")
        return parse_array(self._archive.arrays[name])

    def _file(self, node: dict[str, Any], part: str, suffix: str) -> str:
        name = node.get("file")
        if not isinstance(name, str) or not name.endswith(suffix):
            raise RefusedPartError(part, "must refer to an array")
        if name not in self._archive.arrays:
            raise RefusedPartError(part, "refers to an array that is not in the file")
        return name
