"""Refuse forged models: numbers that compiled code would follow out of its arrays.

Types alone do not make a file safe. scikit-learn follows the nodes of trees without a look, as
it may where it grew them itself; a changed file could send it anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.svm import SVC, NuSVC

BOOSTING = (GradientBoostingClassifier, GradientBoostingRegressor)
NEIGHBORS = (KNeighborsClassifier, RadiusNeighborsClassifier)
# What tells children from leaves in the trees of scikit-learn.
LEAF = -1
# Categories of histogram gradient boosting: 256 bits in words of 32.
BITSET_WORDS = 8


def validate_loaded_model(model: Any) -> None:
    """Check all parts of a model that compiled code follows.

    Parameters
    ----------
    model : estimator
        A model that was loaded from a file.

    Raises
    ------
    ValueError
        If a tree has nodes that point outside of it or of the features, or if arrays of a
        model do not fit each other.
    """
    for part in _parts_of(model, set()):
        if hasattr(part, "tree_"):
            tree = part.tree_
            _check_nodes(
                tree.children_left,
                tree.children_right,
                tree.feature,
                (tree.children_left == LEAF) & (tree.children_right == LEAF),
                min(part.n_features_in_, tree.n_features),
            )
        for tree in _flat(getattr(part, "estimators_", [])):
            if hasattr(tree, "tree_") and tree.n_features_in_ > part.n_features_in_:
                raise ValueError("a tree has more features than its forest")
        if hasattr(part, "_predictors"):
            _check_histogram_boosting(part)
        if isinstance(part, BOOSTING) and hasattr(part, "estimators_"):
            _check_boosting(part)
        if hasattr(part, "_n_support"):
            _check_support_vectors(part)
        if hasattr(part, "get_arrays"):
            _check_neighbors(*part.get_arrays())
        if isinstance(part, NEIGHBORS) and hasattr(part, "_fit_X"):
            _check_labels(part)
        if sparse.issparse(part):
            _check_sparse(part)


def _check_sparse(matrix: Any) -> None:
    if matrix.format != "csr":
        raise ValueError("sparse matrices are not kept by rows")
    matrix.check_format(full_check=True)


def _check_nodes(left: Any, right: Any, feature: Any, is_leaf: Any, n_features: int) -> None:
    node = np.flatnonzero(~is_leaf)
    for child in (left[node], right[node]):
        # Children come after their parent: a walk from the root ends.
        if len(is_leaf) == 0 or np.any(child <= node) or np.any(child >= len(is_leaf)):
            raise ValueError("a tree has nodes that point outside of it")
    if np.any(feature[node] < 0) or np.any(feature[node] >= n_features):
        raise ValueError("a tree has nodes that point outside of the features")


def _check_histogram_boosting(model: Any) -> None:
    is_categorical = np.asarray(model._bin_mapper.is_categorical_)
    if is_categorical.shape != (model.n_features_in_,):
        raise ValueError("gradient boosting has bins of other features")
    for tree in _flat(model._predictors):
        nodes = tree.nodes
        is_leaf = nodes["is_leaf"] != 0
        _check_nodes(
            nodes["left"], nodes["right"], nodes["feature_idx"], is_leaf, model.n_features_in_
        )
        split = nodes[~is_leaf & (nodes["is_categorical"] != 0)]
        n_bitsets, n_words = tree.raw_left_cat_bitsets.shape
        if (
            n_words != BITSET_WORDS
            or np.any(split["bitset_idx"] >= n_bitsets)
            or not np.all(is_categorical[split["feature_idx"]])
        ):
            raise ValueError("a tree has nodes that point outside of the categories")


def _check_boosting(model: Any) -> None:
    """Trees add to the columns of the first estimate, however many there are."""
    shape: tuple[int, ...]
    if isinstance(model, GradientBoostingClassifier):
        n_classes = len(model.classes_)
        n_trees = 1 if n_classes == 2 else n_classes
        first, predict, shape = DummyClassifier, "predict_proba", (1, n_classes)
    else:
        n_trees, first, predict, shape = 1, DummyRegressor, "predict", (1,)
    if (
        np.shape(model.estimators_)[1:] != (n_trees,)
        or model.n_trees_per_iteration_ != n_trees
        or model._loss.is_multiclass != (n_trees > 1)
    ):
        raise ValueError("gradient boosting has trees of other classes")
    if isinstance(model.init_, str) and model.init_ == "zero":
        return
    # What another estimator would do is not known before it is run.
    if type(model.init_) is not first:
        raise ValueError("gradient boosting begins with an estimator of its own")
    if getattr(model.init_, predict)(np.zeros((1, model.n_features_in_))).shape != shape:
        raise ValueError("gradient boosting begins with shares of other classes")


def _check_support_vectors(model: Any) -> None:
    is_classifier = isinstance(model, SVC | NuSVC)
    n_classes = len(model.classes_) if is_classifier else 2
    n_pairs = n_classes * (n_classes - 1) // 2
    n_vectors = len(model.support_)
    is_sparse = sparse.issparse(model.support_vectors_)
    is_precomputed = model.kernel == "precomputed"  # vectors are then numbers of rows alone
    count = np.asarray(model._n_support)
    weights = (model._dual_coef_, model.dual_coef_)
    if (
        count.shape != (n_classes,)
        or np.any(count < 0)
        or (is_classifier and count.sum() != n_vectors)
        or np.any((model.support_ < 0) | (model.support_ >= model.shape_fit_[0]))
        or (is_precomputed and (is_sparse or model.shape_fit_[0] != model.n_features_in_))
        or model.support_vectors_.shape
        != ((0, 0) if is_precomputed else (n_vectors, model.n_features_in_))
        or any(own.shape != (n_classes - 1, n_vectors) for own in weights)
        or any(sparse.issparse(own) is not is_sparse for own in weights)
        or any(np.shape(own) != (n_pairs,) for own in (model._intercept_, model.intercept_))
        or any(np.shape(own) not in ((0,), (n_pairs,)) for own in (model._probA, model._probB))
        or model._sparse is not is_sparse
        or not 0 <= model._gamma < np.inf
    ):
        raise ValueError("support vectors, their counts and their weights do not fit together")
    if is_sparse and any(own.nnz != (n_classes - 1) * n_vectors for own in weights):
        raise ValueError("support vectors do not have a weight for each class")


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


def _check_labels(model: Any) -> None:
    n_rows = model._fit_X.shape[0]
    if model.n_samples_fit_ != n_rows or len(model._y) != n_rows:
        raise ValueError("neighbors have other rows than labels")


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
