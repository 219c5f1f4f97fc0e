"""Forged model files, written by hand: known attacks, and one of each kind for every type."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tests.persistence.mutations import Members, pack, walk

SCHEMA = "schema.json"


class Forgery(NamedTuple):
    """A forged file, and the name of what was forged."""

    name: str
    content: bytes


def plain(value: Any) -> dict[str, Any]:
    """Return the node of a plain value."""
    return {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value),
        "is_json": True,
    }


def node(loader: str, path: str, **content: Any) -> dict[str, Any]:
    """Return a node of any type."""
    module, _, name = path.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": loader, **content}


BARE = {
    "a bare KDTree": "sklearn.neighbors._kd_tree.KDTree",
    "a bare BallTree": "sklearn.neighbors._ball_tree.BallTree",
    "a bare distance": "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "a bare tree": "sklearn.tree._tree.Tree",
    "a bare loss": "sklearn._loss._loss.CyHalfBinomialLoss",
}
FUNCTIONS = {
    "a ufunc": node("FunctionNode", "numpy.frompyfunc"),
    "an allowed ufunc": node("FunctionNode", "numpy.square"),
    "a generator": node("RandomGeneratorNode", "numpy.random._generator.Generator", content={}),
    "a type": node("TypeNode", "builtins.object"),
}


def forge(name: str, content: bytes) -> Iterator[Forgery]:
    """Forge a model file in every way.

    Parameters
    ----------
    name : str
        The name of the model.
    content : bytes
        Its genuine file.

    Yields
    ------
    Forgery
        Files that must be refused, or predict finite numbers.
    """
    for forged, path in BARE.items():
        yield Forgery(
            f"{forged} in {name}", _with_attribute(content, None, node("ObjectNode", path))
        )
    for kind, change in CHANGES.items():
        forged_content = change(content)
        if forged_content is not None:
            yield Forgery(f"{kind} in {name}", forged_content)
    for attribute in PARAMETERS & _root(content).keys():
        for forged, replacement in FUNCTIONS.items():
            yield Forgery(
                f"{forged} as {attribute} of {name}",
                _with_attribute(content, attribute, replacement),
            )


def set_array(content: bytes, attribute: str, change: Callable[[Any], Any]) -> bytes | None:
    """Change the arrays of all attributes of a name."""
    members = _members(content)
    schema = json.loads(members[SCHEMA])
    found = False
    for item in walk(schema):
        state = item.get("content")
        attributes = state.get("content") if isinstance(state, dict) else None
        target = attributes.get(attribute) if isinstance(attributes, dict) else None
        if isinstance(target, dict) and str(target.get("file", "")).endswith(".npy"):
            buffer = io.BytesIO()
            np.save(buffer, change(np.load(io.BytesIO(members[target["file"]]))))
            members[target["file"]] = buffer.getvalue()
            found = True
    return pack(members) if found else None


def set_values(content: bytes, attribute: str, value: Any) -> bytes | None:
    """Change the plain values of all attributes of a name."""
    members = _members(content)
    schema = json.loads(members[SCHEMA])
    found = False
    for item in walk(schema):
        item.pop("__id__", None)
        target = item.get(attribute)
        if isinstance(target, dict) and target.get("__loader__") == "JsonNode":
            target["content"] = json.dumps(value)
            found = True
    members[SCHEMA] = json.dumps(schema).encode()
    return pack(members) if found else None


PARAMETERS = {"kernel", "metric", "weights", "init", "func", "score_func", "optimizer", "init_"}
CHANGES: dict[str, Callable[[bytes], bytes | None]] = {
    "a method as attribute": lambda content: _with_attribute(content, "predict", plain(1)),
    "a node without loader": lambda content: _with_attribute(content, "n_features_in_", {}),
    "twice the features": lambda content: set_values(content, "n_features_in_", 8),
    "no features": lambda content: set_values(content, "n_features_in_", 0),
    "a class less": lambda content: set_array(content, "classes_", lambda labels: labels[:-1]),
    "no classes": lambda content: set_array(content, "classes_", lambda labels: labels[:0]),
    "labels beyond classes": lambda content: set_array(content, "_y", lambda y: y + 10**6),
    "negative labels": lambda content: set_array(content, "_y", lambda y: y - 10**6),
    "huge support": lambda content: set_array(content, "support_", lambda rows: rows + 10**6),
    "coefficients of another shape": lambda content: set_array(
        content, "coef_", lambda coef: coef[..., :1]
    ),
    "coefficients that are not numbers": lambda content: set_array(
        content, "coef_", lambda coef: coef * np.nan
    ),
    "an unknown search": lambda content: set_values(content, "_fit_method", "kd_tree"),
    "trees without nodes": lambda content: set_array(content, "nodes", lambda nodes: nodes[:0]),
    "more nodes than there are": lambda content: set_values(content, "node_count", 10**6),
    "trees of no iteration": lambda content: set_values(content, "n_trees_per_iteration_", 0),
    "escape codes": lambda content: set_array(
        content, "classes_", lambda labels: np.array([f"\x1b[31m{label}" for label in labels])
    ),
    "a folder of pickles": lambda content: set_values(content, "memory", "/tmp/cache"),
    "a thousand workers": lambda content: set_values(content, "n_jobs", 1000),
    "all numbers huge": lambda content: _all_arrays(content, lambda values: values * 0 + 1e308),
    "all arrays empty": lambda content: _all_arrays(content, lambda values: values[:0]),
    "all arrays of one dimension more": lambda content: _all_arrays(
        content, lambda values: values[None]
    ),
    "an archive without arrays": lambda content: pack(
        {name: item for name, item in _members(content).items() if not name.endswith(".npy")}
    ),
}


def _all_arrays(content: bytes, change: Callable[[Any], Any]) -> bytes:
    members = _members(content)
    for name, member in members.items():
        if name.endswith(".npy"):
            array = np.load(io.BytesIO(member))
            if array.dtype.kind in "fi" and array.ndim:
                buffer = io.BytesIO()
                np.save(buffer, change(array))
                members[name] = buffer.getvalue()
    return pack(members)


def _members(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _root(content: bytes) -> dict[str, Any]:
    state = json.loads(_members(content)[SCHEMA]).get("content", {})
    return state.get("content", {}) if isinstance(state, dict) else {}


def _with_attribute(content: bytes, attribute: str | None, forged: dict[str, Any]) -> bytes:
    """Set an attribute of the model; None replaces the model."""
    members = _members(content)
    schema = json.loads(members[SCHEMA])
    if attribute is None:
        schema = {**forged, "protocol": schema["protocol"], "_skops_version": "0.16"}
    else:
        state = schema["content"]
        if attribute not in state["content"]:
            state["key_types"]["content"].append(node("TypeNode", "builtins.str"))
            state["key_types"].pop("__id__", None)
        state["content"][attribute] = forged
    members[SCHEMA] = json.dumps(schema).encode()
    return pack(members)
