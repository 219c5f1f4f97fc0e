"""Trees, forests and gradient boosting as graphs.

A tree operator of ONNX finds the leaf of each tree, and the values of the leaves are looked up in
float64. scikit-learn compares features in float32 with thresholds in float64. The operator has
both in float32; thresholds are rounded down, which leaves all comparisons as they are. Its result
is float32 as well, which holds the number of a leaf exactly.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from calibrant._core.typing import FloatArray
from calibrant.onnx.graphs import ML, Tensor
from calibrant.onnx.rows import positive_to_both, softmax

# Float32 holds integers up to this one exactly.
MAX_LEAVES = 2**24


def _tree_proba(tree: Any, X: Tensor) -> Tensor:
    return _leaf_values([tree], X).sum(1, keep=False)


def _forest_proba(forest: Any, X: Tensor) -> Tensor:
    # Leaves of fully grown trees are pure, so that this sum is exact.
    return _leaf_values(forest.estimators_, X).sum(1, keep=False) / float(len(forest.estimators_))


def _boosting_proba(model: GradientBoostingClassifier, X: Tensor) -> Tensor:
    if model.init not in (None, "zero"):
        raise ValueError(
            "GradientBoostingClassifier must start from a constant to be exported to ONNX, got "
            f"init={model.init!r}. Omit init and fit the model again."
        )
    n_stages, n_columns = model.estimators_.shape
    steps = _leaf_values(list(model.estimators_.ravel()), X)
    stages = steps.op("Reshape", np.array([-1, n_stages, n_columns]))
    raw = stages.sum(1, keep=False) * float(model.learning_rate) + _initial_score(model)
    if n_columns > 1:
        return softmax(raw)
    return positive_to_both((raw * 2.0 if model.loss == "exponential" else raw).op("Sigmoid"))


def _initial_score(model: GradientBoostingClassifier) -> FloatArray:
    """Return the constant that the trees are added to: what they leave of the score of a row."""
    row = np.zeros((1, model.n_features_in_))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        score = np.reshape(model.decision_function(row), (1, -1))
    steps = [[tree.predict(row)[0] for tree in stage] for stage in model.estimators_]
    return score - model.learning_rate * np.sum(steps, axis=0)


TREES: dict[type, Callable[[Any, Tensor], Tensor]] = {
    DecisionTreeClassifier: _tree_proba,
    ExtraTreeClassifier: _tree_proba,
    RandomForestClassifier: _forest_proba,
    ExtraTreesClassifier: _forest_proba,
    GradientBoostingClassifier: _boosting_proba,
}


def _leaf_values(estimators: Sequence[Any], X: Tensor) -> Tensor:
    """Return the values of the leaves of each row, of shape (n_rows, n_trees, n_values)."""
    trees = [estimator.tree_ for estimator in estimators]
    values = np.concatenate([tree.value[:, 0, :] for tree in trees])
    if len(values) > MAX_LEAVES:
        raise ValueError(
            f"Trees must have at most {MAX_LEAVES} nodes together to be exported to ONNX, got "
            f"{len(values)}. Grow fewer or smaller trees."
        )
    counts = [tree.node_count for tree in trees]
    tree_of_node = np.repeat(np.arange(len(trees)), counts)
    node = np.concatenate([np.arange(count) for count in counts])
    left, right, feature, threshold, missing_left = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in (
            "children_left",
            "children_right",
            "feature",
            "threshold",
            "missing_go_to_left",
        )
    )
    is_leaf = left < 0
    leaves = np.flatnonzero(is_leaf)
    place = X.cast(TensorProto.FLOAT).op(
        "TreeEnsembleRegressor",
        domain=ML,
        n_targets=len(trees),
        nodes_treeids=_integers(tree_of_node),
        nodes_nodeids=_integers(node),
        nodes_featureids=_integers(np.where(is_leaf, 0, feature)),
        nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_values=np.where(is_leaf, 0.0, _round_down(threshold)).tolist(),
        nodes_truenodeids=_integers(np.where(is_leaf, 0, left)),
        nodes_falsenodeids=_integers(np.where(is_leaf, 0, right)),
        nodes_missing_value_tracks_true=_integers(np.where(is_leaf, 0, missing_left)),
        target_treeids=_integers(tree_of_node[leaves]),
        target_nodeids=_integers(node[leaves]),
        target_ids=_integers(tree_of_node[leaves]),
        target_weights=leaves.astype(float).tolist(),
    )
    return X.graph.op("Gather", values, place.cast(TensorProto.INT64), axis=0)


def _integers(values: NDArray[Any]) -> list[int]:
    return values.astype(int).tolist()


def _round_down(threshold: FloatArray) -> FloatArray:
    """Return the largest float32 numbers that are not above the thresholds."""
    nearest = threshold.astype(np.float32)
    below = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest > threshold, below, nearest).astype(np.float64)
