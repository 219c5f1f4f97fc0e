"""Random changes of model files: of the schema, of the arrays and of the archive itself."""

from __future__ import annotations

import contextlib
import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

SCHEMA = "schema.json"
INFO = "calibrant.json"
NUMBERS = [0, 1, -1, 2, 3, 7, 255, 256, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**64, 10**6]
VALUES = [
    *NUMBERS,
    *(0.5, -0.0, 1e-320, 1e100, 1e308, float("nan"), float("inf"), float("-inf")),
    *(None, True, False, "", "x", "auto", "\x1b[31m", "precomputed", "brute", "drop", "callable"),
]
LOADERS = [
    *("JsonNode", "DictNode", "ListNode", "TupleNode", "SetNode", "SliceNode", "TypeNode"),
    *("FunctionNode", "ObjectNode", "NdArrayNode", "SparseMatrixNode", "TreeNode", "LossNode"),
    *("RandomStateNode", "RandomGeneratorNode", "PartialNode", "MethodNode", "CachedNode"),
    *("ConstructorFromReduceNode", "OperatorFuncNode", "MaskedArrayNode", "DTypeNode"),
]
TYPES = [
    *("builtins.dict", "builtins.list", "builtins.object", "builtins.eval", "os.system"),
    *("numpy.ndarray", "numpy.float64", "numpy.int64", "numpy.log", "numpy.random.mtrand.seed"),
    *("sklearn.neighbors._kd_tree.KDTree", "sklearn.neighbors._ball_tree.BallTree"),
    *("sklearn.metrics._dist_metrics.EuclideanDistance64", "sklearn.tree._tree.Tree"),
    *("sklearn.naive_bayes.GaussianNB", "sklearn.svm._classes.SVC"),
    "sklearn.preprocessing._data.StandardScaler",
]
Members = dict[str, bytes]


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Change a model file in one to three places."""
    kind = rng.choices([_change_schema, _change_arrays, None], [55, 37, 8])[0]
    if kind is None:
        return _change_archive(content, rng)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        with contextlib.suppress(Exception):  # an earlier change can make a later one impossible
            kind(members, rng)
    return pack(members)


def pack(members: Members) -> bytes:
    """Return a zip archive of members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return buffer.getvalue()


def _change_schema(members: Members, rng: random.Random) -> None:
    schema = json.loads(members[SCHEMA])
    nodes = [node for node in walk(schema) if "__loader__" in node]
    if rng.random() < 0.8:  # else, most changes would only break the numbers of shared objects
        for node in nodes:
            node.pop("__id__", None)
    rng.choice(SCHEMA_CHANGES)(rng.choice(nodes), nodes, rng)
    members[SCHEMA] = json.dumps(schema).encode()


def walk(node: Any) -> list[dict[str, Any]]:
    """Return all dictionaries of a schema."""
    if isinstance(node, dict):
        return [node, *(each for item in node.values() for each in walk(item))]
    return [each for item in node for each in walk(item)] if isinstance(node, list) else []


def _set_value(node: Any, nodes: Any, rng: random.Random) -> None:
    plain = [node for node in nodes if node["__loader__"] == "JsonNode"]
    rng.choice(plain or nodes)["content"] = json.dumps(rng.choice(VALUES))


def _set_type(node: Any, nodes: Any, rng: random.Random) -> None:
    if rng.random() < 0.5:
        other = rng.choice(nodes)
        node["__module__"], node["__class__"] = other["__module__"], other["__class__"]
    else:
        node["__module__"], _, node["__class__"] = rng.choice(TYPES).rpartition(".")


def _set_loader(node: Any, nodes: Any, rng: random.Random) -> None:
    node["__loader__"] = rng.choice(LOADERS)


def _replace(node: Any, nodes: Any, rng: random.Random) -> None:
    other = json.loads(json.dumps(rng.choice(nodes)))
    node.clear()
    node.update(other)


def _swap(node: Any, nodes: Any, rng: random.Random) -> None:
    same = [other for other in nodes if other["__loader__"] == node["__loader__"]]
    other = rng.choice(same)
    first, second = json.loads(json.dumps(node)), json.loads(json.dumps(other))
    node.clear()
    other.clear()
    node.update(second)
    other.update(first)


def _of(nodes: Any, rng: random.Random, *loaders: str) -> Any:
    found = [
        node
        for node in nodes
        if node["__loader__"] in loaders and isinstance(node.get("content"), dict | list)
    ]
    return rng.choice(found) if found else None


def _change_attributes(node: Any, nodes: Any, rng: random.Random) -> None:
    state = _of(nodes, rng, "DictNode")
    if not state or not state["content"]:
        return
    names, kinds = list(state["content"]), state["key_types"]["content"]
    place = rng.randrange(len(names))
    change = rng.choice(["delete", "rename", "add", "keep type"])
    items = list(state["content"].items())
    if change == "delete":
        del items[place], kinds[place : place + 1]
    elif change == "rename":
        items[place] = (rng.choice(["predict", "fit", *names, "__class__"]), items[place][1])
    elif change == "add":
        items.append((rng.choice(["predict_proba", "extra_", "_tree"]), items[place][1]))
        kinds.append(json.loads(json.dumps(kinds[0])))
    else:
        del items[place]
    state["content"] = dict(items)


def _change_items(node: Any, nodes: Any, rng: random.Random) -> None:
    items = _of(nodes, rng, "ListNode", "TupleNode", "NdArrayNode")
    if not items or not isinstance(items["content"], list) or not items["content"]:
        return
    content = items["content"]
    change = rng.choice(["drop", "repeat", "reverse", "empty", "nest"])
    if change == "drop":
        del content[rng.randrange(len(content))]
    elif change == "repeat":
        content.append(json.loads(json.dumps(rng.choice(content))))
    elif change == "reverse":
        content.reverse()
    elif change == "empty":
        content.clear()
    else:
        content[0] = json.loads(json.dumps(items))


def _set_file(node: Any, nodes: Any, rng: random.Random) -> None:
    files = [node for node in nodes if "file" in node]
    if files:
        other = rng.choice([*(node["file"] for node in files), "0.npy", "../x.npy", SCHEMA])
        rng.choice(files)["file"] = other


def _set_number(node: Any, nodes: Any, rng: random.Random) -> None:
    node["__id__"] = rng.choice([1, -1, "x", rng.choice(nodes).get("__id__")])


def _set_key(node: Any, nodes: Any, rng: random.Random) -> None:
    node[rng.choice(list(node))] = rng.choice([None, [], {}, "", 0, "x", [[]], {"a": 1}])


SCHEMA_CHANGES: list[Callable[[Any, Any, random.Random], None]] = [
    *([_set_value] * 4),
    *([_change_attributes] * 2),
    *([_change_items] * 2),
    *([_swap] * 2),
    *(_set_type, _set_loader, _replace, _set_file, _set_number, _set_key),
]


def _change_arrays(members: Members, rng: random.Random) -> None:
    names = [name for name in members if name.endswith(".npy")]
    if not names:
        return
    name = rng.choice(names)
    if rng.random() < 0.1:
        members[name] = _change_bytes(members[name], rng)
        return
    try:
        array = np.load(io.BytesIO(members[name]))
    except Exception:
        return  # already damaged by an earlier change
    if rng.random() < 0.15:
        members[name] = members[rng.choice(names)]
        return
    buffer = io.BytesIO()
    np.save(buffer, rng.choice(ARRAY_CHANGES)(array, rng), allow_pickle=False)
    members[name] = buffer.getvalue()


def _extreme(array: Any, rng: random.Random) -> Any:
    array = array.copy()
    if array.dtype.names:
        field = rng.choice(array.dtype.names)
        array[field] = _extreme(array[field], rng)
        return array
    if not array.size:
        return array
    flat = array.reshape(-1)
    places = slice(None) if rng.random() < 0.1 else rng.randrange(array.size)
    with np.errstate(all="ignore"):
        if array.dtype.kind == "U":
            flat[places] = rng.choice(["", "x", "\x1b[2J", flat[0]])
        elif array.dtype.kind == "f":
            choices = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, -1e308, 1e-320, 1e99, 1e9]
            flat[places] = rng.choice(choices)
        elif array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            flat[places] = rng.choice(
                [limits.min, limits.max, 0, 1, int(array.max() // 2), min(100, limits.max)]
            )
        elif array.dtype.kind == "b":
            flat[places] = rng.choice([True, False])
    return flat.reshape(array.shape)


def _change_dtype(array: Any, rng: random.Random) -> Any:
    kinds = ["f8", "f4", "f2", "i8", "i4", "u1", "b1", "U3", "c16", ">f8", "M8[ns]", "V8"]
    try:
        return array.astype(rng.choice(kinds))
    except (TypeError, ValueError):
        return np.zeros(array.shape)


def _change_shape(array: Any, rng: random.Random) -> Any:
    changes = [
        lambda: array[:-1] if array.ndim else array.reshape(1),
        lambda: array[:0] if array.ndim else array,
        lambda: np.concatenate([array, array]) if array.ndim else array.reshape(1, 1),
        lambda: array.T,
        lambda: np.asfortranarray(array),
        lambda: array.reshape(-1),
        lambda: array[None],
        lambda: array[..., :-1] if array.ndim else array,
        lambda: np.repeat(array, 2, axis=-1) if array.ndim else array,
        lambda: array[::-1] if array.ndim else array,
    ]
    return rng.choice(changes)()


ARRAY_CHANGES = [_extreme, _extreme, _extreme, _change_dtype, _change_shape, _change_shape]


def _change_bytes(content: bytes, rng: random.Random) -> bytes:
    change = rng.choice(["flip", "cut", "header", "append"])
    place = rng.randrange(max(1, len(content)))
    if change == "flip":
        changed = bytearray(content or b"\0")
        changed[place] ^= 1 << rng.randrange(8)
        return bytes(changed)
    if change == "cut":
        return content[:place]
    if change == "append":
        return content + bytes(rng.choice([1, 8, 10**6]))
    return content.replace(b"'shape': (", b"'shape': (99999999999, ", 1)


def _change_archive(content: bytes, rng: random.Random) -> bytes:
    change = rng.choice(["bytes", "bytes", "repeat", "remove", "bomb", "info"])
    if change == "bytes":
        return _change_bytes(content, rng)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(members))
    if change == "remove":
        del members[name]
    elif change == "bomb":
        members[name] += bytes(50 * 2**20)
    elif change == "info":
        fields = json.loads(members[INFO])
        fields[rng.choice(list(fields))] = rng.choice([*VALUES, [], {}, [[]], {"a": {}}])
        members[INFO] = json.dumps(fields).encode()
    changed = pack(members)
    if change == "repeat":
        buffer = io.BytesIO(changed)
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr(name, members[rng.choice(list(members))])
        return buffer.getvalue()
    return changed
