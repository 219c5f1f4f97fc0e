"""Validation of loaded models: indices and shapes that compiled code does not check.

Allowing only known types does not make a file safe. For example, scikit-learn follows the node
numbers of a fitted tree without checking bounds, so a forged tree could make it read arbitrary
memory.
This is the only module that reads private attributes of scikit-learn's models; `allowed_types` is
the only one that names its private types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.svm import SVC, NuSVC

from calibrant._core.voting import VotingEnsemble

GRADIENT_BOOSTING = (GradientBoostingClassifier, GradientBoostingRegressor)
NEIGHBORS = (KNeighborsClassifier, RadiusNeighborsClassifier)
# The child number of a leaf in scikit-learn's trees.
LEAF = -1
# Histogram gradient boosting stores a set of up to 256 categories in words of 32 bits.
WORDS_PER_BITSET = 8


def validate_loaded_model(model: Any) -> None:
    """Check all numbers in a model that compiled code uses without checking them.

    Parameters
    ----------
    model : estimator
        A model loaded from a file.

    Raises
    ------
    ValueError
        If an index points outside its array, or if the shapes of arrays do not match.

    Notes
    -----
    The checks cover the nodes of decision trees and of k-d and ball trees, the support vectors
    of support vector machines, the classes of gradient boosting, the labels of nearest
    neighbors, and the indices of sparse matrices.
    """
    for part in iterate_objects(model):
        if isinstance(part, FrozenEstimator):
            continue  # it has the attributes of its estimator, which is checked separately
        if hasattr(part, "tree_"):
            _check_tree(part)
        # Voters check the number of features themselves; the trees of a forest do not.
        is_voting = isinstance(part, VotingEnsemble)
        for tree in [] if is_voting else _flatten(getattr(part, "estimators_", [])):
            if hasattr(tree, "tree_") and tree.n_features_in_ > part.n_features_in_:
                raise ValueError("A tree has more features than its forest.")
        if hasattr(part, "_predictors"):
            _check_histogram_gradient_boosting(part)
        if isinstance(part, GRADIENT_BOOSTING) and hasattr(part, "estimators_"):
            _check_gradient_boosting(part)
        if hasattr(part, "_n_support"):
            _check_support_vectors(part)
        if hasattr(part, "get_arrays"):
            _check_neighbor_tree(*part.get_arrays())
        if isinstance(part, NEIGHBORS) and hasattr(part, "_fit_X"):
            _check_neighbor_labels(part)
        if sparse.issparse(part):
            _check_sparse(part)


def iterate_objects(value: Any) -> Iterator[Any]:
    """Iterate over the objects in a model at any depth, including the model itself.

    Parameters
    ----------
    value : object
        The model.

    Yields
    ------
    object
        Each object once, except plain values, containers, arrays and types.
    """
    return _iterate_objects(value, set())


def _iterate_objects(value: Any, seen: set[int]) -> Iterator[Any]:
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
        yield from _iterate_objects(item, seen)


def _flatten(items: Any) -> Iterator[Any]:
    """Iterate over the items of nested lists and object arrays."""
    for item in items:
        if isinstance(item, list | np.ndarray):
            yield from _flatten(item)
        else:
            yield item


def _check_tree(model: Any) -> None:
    tree = model.tree_
    _check_nodes(
        tree.children_left,
        tree.children_right,
        tree.feature,
        is_leaf=(tree.children_left == LEAF) & (tree.children_right == LEAF),
        n_features=min(model.n_features_in_, tree.n_features),
    )


def _check_nodes(left: Any, right: Any, feature: Any, *, is_leaf: Any, n_features: int) -> None:
    node = np.flatnonzero(~is_leaf)
    for child in (left[node], right[node]):
        # Children have higher numbers than their parent, so that every path ends in a leaf.
        if len(is_leaf) == 0 or np.any(child <= node) or np.any(child >= len(is_leaf)):
            raise ValueError("A tree node points outside the tree.")
    if np.any(feature[node] < 0) or np.any(feature[node] >= n_features):
        raise ValueError("A tree node points outside the features.")


def _check_histogram_gradient_boosting(model: Any) -> None:
    is_categorical = np.asarray(model._bin_mapper.is_categorical_)
    if is_categorical.shape != (model.n_features_in_,):
        raise ValueError("The bins of gradient boosting do not match the features.")
    for tree in _flatten(model._predictors):
        nodes = tree.nodes
        is_leaf = nodes["is_leaf"] != 0
        _check_nodes(
            nodes["left"],
            nodes["right"],
            nodes["feature_idx"],
            is_leaf=is_leaf,
            n_features=model.n_features_in_,
        )
        split = nodes[~is_leaf & (nodes["is_categorical"] != 0)]
        n_bitsets, n_words = tree.raw_left_cat_bitsets.shape
        if (
            n_words != WORDS_PER_BITSET
            or np.any(split["bitset_idx"] >= n_bitsets)
            or not np.all(is_categorical[split["feature_idx"]])
        ):
            raise ValueError("A tree node points outside the categories.")


def _check_gradient_boosting(model: Any) -> None:
    """Check the shapes of the trees, which compiled code adds to the initial prediction."""
    shape: tuple[int, ...]
    if isinstance(model, GradientBoostingClassifier):
        n_classes = len(model.classes_)
        n_trees = 1 if n_classes == 2 else n_classes
        initial_type, predict, shape = DummyClassifier, "predict_proba", (1, n_classes)
    else:
        n_trees, initial_type, predict, shape = 1, DummyRegressor, "predict", (1,)
    if (
        np.shape(model.estimators_)[1:] != (n_trees,)
        or model.n_trees_per_iteration_ != n_trees
        or model._loss.is_multiclass != (n_trees > 1)
    ):
        raise ValueError("The trees of gradient boosting do not match the classes.")
    if isinstance(model.init_, str) and model.init_ == "zero":
        return
    # The shape of another estimator's prediction is unknown until it has run.
    if type(model.init_) is not initial_type:
        raise ValueError("Gradient boosting has an initial estimator other than the default.")
    if getattr(model.init_, predict)(np.zeros((1, model.n_features_in_))).shape != shape:
        raise ValueError("The initial prediction of gradient boosting does not match the classes.")


def _check_support_vectors(model: Any) -> None:
    is_classifier = isinstance(model, SVC | NuSVC)
    n_classes = len(model.classes_) if is_classifier else 2
    n_pairs = n_classes * (n_classes - 1) // 2
    n_vectors = len(model.support_)
    is_sparse = sparse.issparse(model.support_vectors_)
    is_precomputed = model.kernel == "precomputed"  # has row numbers instead of vectors
    count = np.asarray(model._n_support)
    dual_coefs = (model._dual_coef_, model.dual_coef_)
    intercepts = (model._intercept_, model.intercept_)
    if (
        count.shape != (n_classes,)
        or np.any(count < 0)
        or (is_classifier and count.sum() != n_vectors)
        or np.any((model.support_ < 0) | (model.support_ >= model.shape_fit_[0]))
        or (is_precomputed and (is_sparse or model.shape_fit_[0] != model.n_features_in_))
        or model.support_vectors_.shape
        != ((0, 0) if is_precomputed else (n_vectors, model.n_features_in_))
        or any(coef.shape != (n_classes - 1, n_vectors) for coef in dual_coefs)
        or any(sparse.issparse(coef) is not is_sparse for coef in dual_coefs)
        or any(np.shape(intercept) != (n_pairs,) for intercept in intercepts)
        or any(np.shape(prob) not in ((0,), (n_pairs,)) for prob in (model._probA, model._probB))
        or model._sparse is not is_sparse
        or not 0 <= model._gamma < np.inf
    ):
        raise ValueError("The support vectors do not match their counts or coefficients.")
    if is_sparse and any(coef.nnz != (n_classes - 1) * n_vectors for coef in dual_coefs):
        raise ValueError("The support vectors do not have one coefficient per class.")


def _check_neighbor_tree(data: Any, index: Any, nodes: Any, bounds: Any) -> None:
    """Check a k-d or ball tree, in which node i has the children 2 i + 1 and 2 i + 2."""
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
        raise ValueError("A tree node points outside the tree.")


def _check_neighbor_labels(model: Any) -> None:
    n_rows = model._fit_X.shape[0]
    if model.n_samples_fit_ != n_rows or len(model._y) != n_rows:
        raise ValueError("The rows of nearest neighbors do not match their labels.")


def _check_sparse(matrix: Any) -> None:
    if matrix.format != "csr":
        raise ValueError(f"A sparse matrix is in {matrix.format} format rather than csr.")
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"A sparse matrix has invalid indices ({error}).") from None
