"""Refuse forged models: numbers that compiled code would follow out of its arrays.

Types alone do not make a file safe. scikit-learn follows the nodes of trees without a look, as
it may where it grew them itself; a changed file could send it anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def refuse_forged(model: Any) -> None:
    """Check all trees in a model.

    Parameters
    ----------
    model : estimator
        A model that was loaded from a file.

    Raises
    ------
    ValueError
        If a tree has nodes that point outside of it, or of the features.
    """
    for part in _parts_of(model, set()):
        if hasattr(part, "tree_"):
            tree = part.tree_
            _check_nodes(
                tree.children_left,
                tree.children_right,
                tree.feature,
                tree.children_left < 0,
                min(part.n_features_in_, tree.n_features),
            )
        for tree in _flat(getattr(part, "estimators_", [])):
            if hasattr(tree, "tree_") and tree.n_features_in_ > part.n_features_in_:
                raise ValueError("a tree has more features than its forest")
        for tree in _flat(getattr(part, "_predictors", [])):  # of histogram gradient boosting
            nodes = tree.nodes
            _check_nodes(
                nodes["left"],
                nodes["right"],
                nodes["feature_idx"],
                nodes["is_leaf"] != 0,
                part.n_features_in_,
            )
        if hasattr(part, "get_arrays"):
            _check_neighbors(*part.get_arrays())


def _check_nodes(left: Any, right: Any, feature: Any, is_leaf: Any, n_features: int) -> None:
    node = np.flatnonzero(~is_leaf)
    for child in (left[node], right[node]):
        # Children come after their parent: a walk from the root ends.
        if np.any(child <= node) or np.any(child >= len(is_leaf)):
            raise ValueError("a tree has nodes that point outside of it")
    if np.any(feature[node] < 0) or np.any(feature[node] >= n_features):
        raise ValueError("a tree has nodes that point outside of the features")


def _check_neighbors(data: Any, index: Any, nodes: Any, bounds: Any) -> None:
    """Nodes of a k-d or ball tree: node i has children 2 i + 1 and 2 i + 2."""
    nodes, index = np.asarray(nodes), np.asarray(index)
    n_rows, n_features = np.shape(data)
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    ends = np.concatenate([nodes["idx_start"], nodes["idx_end"]])
    if (
        len(index) != n_rows
        or np.any((index < 0) | (index >= n_rows))
        or np.any((ends < 0) | (ends > n_rows))
        or np.any(2 * inner + 2 >= len(nodes))
        or np.shape(bounds)[1:] != (len(nodes), n_features)
    ):
        raise ValueError("a tree has nodes that point outside of it")


def _flat(items: Any) -> Iterator[Any]:
    """Yield what is in nested lists and arrays of objects."""
    for item in items:
        if isinstance(item, list | np.ndarray):
            yield from _flat(item)
        else:
            yield item


def _parts_of(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield all objects in a model, at any depth."""
    if id(value) in seen or isinstance(value, str | bytes | int | float | type | None):
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        items: Any = value.values()
    elif isinstance(value, list | tuple):
        items = value
    elif isinstance(value, np.ndarray):
        items = value.ravel() if value.dtype == object else ()
    else:
        yield value
        items = vars(value).values() if hasattr(value, "__dict__") else ()
    for item in items:
        yield from _parts_of(item, seen)
