"""The form in which calibrant stores models: schemas of skops without what is made anew."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier

from calibrant.persistence.declarations import DECLARATIONS
from calibrant.persistence.declarations._language import type_path
from calibrant.persistence.declarations.composition import SEARCHES
from calibrant.persistence.nodes import attribute_nodes, type_name
from calibrant.persistence.schema import ROOT_KEYS

SEARCH_PATHS = frozenset(map(type_path, SEARCHES))
NULL = {
    "__class__": "str",
    "__module__": "builtins",
    "__loader__": "JsonNode",
    "content": "null",
    "is_json": True,
}
GENERATORS = frozenset({"RandomGeneratorNode", "RandomStateNode"})


def simplify(node: Any) -> Any:
    """Return a schema without what model files do not store.

    Left out is what declarations name as not stored, such as search trees; older files have them.
    A generator of random numbers becomes None, and a fitted search its best estimator.

    Parameters
    ----------
    node : dict, list or plain value
        The schema or a part of it, which may be changed in place.

    Returns
    -------
    dict, list or plain value
        The simplified schema.
    """
    if isinstance(node, list):
        return [simplify(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("__loader__") in GENERATORS:
        return dict(NULL)
    path = type_name(node)
    attributes = attribute_nodes(node)
    if path in SEARCH_PATHS and "best_estimator_" in attributes:
        kept = {name: node[name] for name in ROOT_KEYS & node.keys()}
        return {**simplify(attributes["best_estimator_"]), **kept}
    declaration = DECLARATIONS.get(path) if node.get("__loader__") == "ObjectNode" else None
    if declaration is not None and declaration.not_stored & attributes.keys():
        _delete_keys(node["content"], declaration.not_stored)
    if path == type_path(HistGradientBoostingClassifier) and "_preprocessor" in attributes:
        # It converts numbers by a function, which is made anew.
        attributes["_preprocessor"] = _without_partials(attributes["_preprocessor"])
    return {name: simplify(item) for name, item in node.items()}


def _delete_keys(state: dict[str, Any], names: frozenset[str]) -> None:
    """Delete attributes, and the types of their names, which are in the same order."""
    key_types = state["key_types"]["content"]
    kept = [name not in names for name in state["content"]]
    state["key_types"]["content"] = [
        kind for kind, is_kept in zip(key_types, kept, strict=True) if is_kept
    ]
    # The list of types is no longer that of another object with the same number.
    state["key_types"].pop("__id__", None)
    for name in names & state["content"].keys():
        del state["content"][name]


def _without_partials(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_partials(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("__loader__") == "PartialNode":
        return dict(NULL)
    return {name: _without_partials(item) for name, item in node.items()}
