"""The nodes of a schema of skops: dictionaries with a loader, a type and content."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def type_name(node: dict[str, Any]) -> str:
    """Return the name of the type of a node."""
    return f"{node.get('__module__')}.{node.get('__class__')}"


def attribute_nodes(node: dict[str, Any]) -> dict[str, Any]:
    """Return the nodes of the attributes of an object by name; empty for other nodes."""
    state = node.get("content")
    content = state.get("content") if isinstance(state, dict) else None
    return content if isinstance(content, dict) else {}


def plain_value(node: Any) -> Any:
    """Return the value of a checked node of a plain value, a tuple or a list of them."""
    if isinstance(node, dict) and node.get("__loader__") == "JsonNode":
        return json.loads(node["content"])
    if isinstance(node, dict) and node.get("__loader__") in ("TupleNode", "ListNode"):
        return [plain_value(item) for item in node["content"]]
    return None


def iterate_nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Iterate over the nodes of a schema."""
    if isinstance(node, dict):
        if "__loader__" in node:
            yield node
        for item in node.values():
            yield from iterate_nodes(item)
    elif isinstance(node, list):
        for item in node:
            yield from iterate_nodes(item)
