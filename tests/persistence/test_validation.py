"""Forged numbers, which compiled code would follow out of its arrays, are refused."""

import inspect
import io

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from calibrant import CalibratedClassifier, load, save
from calibrant.datasets import make_waveform
from calibrant.persistence.validation import validate_loaded_model

X, Y = make_waveform(90, random_state=0)
SPARSE = csr_array(X)


@pytest.fixture
def change_arrays(rewrite):
    """Replace the arrays of a saved file for which ``change`` returns something."""

    def change_arrays(path, change):
        def change_members(members):
            for name, content in members.items():
                changed = change(np.load(io.BytesIO(content))) if name.endswith(".npy") else None
                if changed is not None:
                    buffer = io.BytesIO()
                    np.save(buffer, changed)
                    members[name] = buffer.getvalue()
            return members

        rewrite(path, change_members)

    return change_arrays


@pytest.mark.parametrize(
    "estimator",
    [RandomForestClassifier(1, random_state=0), HistGradientBoostingClassifier(max_iter=1)],
    ids=["forest", "boosting"],
)
@pytest.mark.parametrize("forged", ["child", "cycle", "feature"])
def test_files_with_forged_trees_are_refused(change_arrays, estimator, forged, tmp_path):
    model = CalibratedClassifier(FrozenEstimator(clone(estimator).fit(X, Y)), cv=2).fit(X, Y)
    file = tmp_path / "model.skops"
    save(model, file)
    load(file)

    def forge(nodes):
        fields = nodes.dtype.names or ()
        if "left_child" not in fields and "left" not in fields:
            return None
        left = "left_child" if "left_child" in fields else "left"
        feature = "feature" if "feature" in fields else "feature_idx"
        # The padding between fields must be the same wherever the tree occurs in the file, and
        # zeros_like leaves it as it was in memory.
        nodes, loaded = np.zeros(nodes.shape, nodes.dtype), nodes
        for name in fields:
            nodes[name] = loaded[name]
        nodes[0][left] = {"child": 10**6, "cycle": 0}.get(forged, nodes[0][left])
        nodes[0][feature] = 10**6 if forged == "feature" else nodes[0][feature]
        return nodes

    change_arrays(file, forge)
    with pytest.raises(ValueError, match=r"tree node that points outside the \w+\. It was saved"):
        load(file)


def test_a_tree_with_more_features_than_its_forest_is_refused():
    forest = RandomForestClassifier(2, random_state=0).fit(X, Y)
    validate_loaded_model(forest)
    forest.estimators_[1] = DecisionTreeClassifier().fit(np.hstack([X, X]), Y)
    with pytest.raises(ValueError, match=r"estimators_\[1\] must have size n_features = 21"):
        validate_loaded_model(forest)


# Each of the following functions changes a fitted model in place.


def set_left_child(model):
    model.tree_.children_left[0] = -5


def set_right_child_of_leaf(model):
    leaf = np.flatnonzero(model.tree_.children_left == -1)[0]
    model.tree_.children_right[leaf] = -7


def set_only_one_child_to_leaf(model):
    model.tree_.children_left[0] = -1


def set_bitset(model):
    model._bin_mapper.is_categorical_[0] = 1
    for tree in model._predictors[0]:
        tree.nodes["is_categorical"][0] = 1
        tree.nodes["feature_idx"][0] = 0
        tree.nodes["bitset_idx"][0] = 10**6


def set_category_of_number(model):
    for tree in model._predictors[0]:
        tree.nodes["is_categorical"][0] = 1
        tree.raw_left_cat_bitsets = np.zeros((1, 8), dtype=np.uint32)
        tree.nodes["bitset_idx"][0] = 0


def set_short_bitsets(model):
    for tree in model._predictors[0]:
        tree.raw_left_cat_bitsets = np.zeros((5, 1), dtype=np.uint32)


def set_attribute(name, change):
    def set_it(model):
        setattr(model, name, change(getattr(model, name)))

    set_it.__name__ = name
    return set_it


def set_initial_prediction(model):
    model.init_.class_prior_ = np.array([0.5, 0.5])
    model.init_.classes_ = np.array([0, 1])
    model.init_.n_classes_ = 2


def set_sparse_index(model):
    model.support_vectors_.indices[0] = 10**6


def set_sparse_pointer(model):
    model.support_vectors_.indptr[1] = 10**6


TREE = DecisionTreeClassifier(random_state=0)
HISTOGRAM_BOOSTING = HistGradientBoostingClassifier(max_iter=1)
BOOSTING = GradientBoostingClassifier(n_estimators=2)
FORGERIES = [
    (TREE, X, set_left_child),
    (TREE, X, set_right_child_of_leaf),
    (TREE, X, set_only_one_child_to_leaf),
    (HISTOGRAM_BOOSTING, X, set_bitset),
    (HISTOGRAM_BOOSTING, X, set_category_of_number),
    (HISTOGRAM_BOOSTING, X, set_short_bitsets),
    *(
        (SVC(kernel=kernel), rows, set_attribute(name, change))
        for kernel, rows in (("rbf", X), ("rbf", SPARSE), ("precomputed", X @ X.T))
        for name, change in (
            ("_n_support", lambda count: np.array([-9, count.sum() + 9, 0], np.int32)),
            ("_n_support", lambda count: count * 1000),
            ("_n_support", lambda count: count[:2]),
            ("_dual_coef_", lambda coef: coef[:1]),
            ("_dual_coef_", lambda coef: coef[:, :5]),
            ("_intercept_", lambda intercept: intercept[:1]),
            ("_gamma", lambda gamma: np.nan),
            ("_probA", lambda prob: np.zeros(1)),
            ("support_", lambda rows: rows[:5]),
            ("support_", lambda rows: rows + 1000),
            ("_sparse", lambda is_sparse: not is_sparse),
        )
    ),
    (SVC(), X, set_attribute("support_vectors_", lambda vectors: vectors[:5])),
    (SVC(), X, set_attribute("support_vectors_", lambda vectors: vectors[:, :5].copy())),
    (SVC(), SPARSE, set_attribute("_dual_coef_", lambda coef: csr_array(coef.shape))),
    (SVC(), SPARSE, set_sparse_index),
    (SVC(), SPARSE, set_sparse_pointer),
    (BOOSTING, X, set_attribute("estimators_", lambda trees: np.hstack([trees] * 50))),
    (BOOSTING, X, set_attribute("classes_", lambda classes: classes[:2])),
    (BOOSTING, X, set_attribute("n_trees_per_iteration_", lambda n_trees: 1)),
    (BOOSTING, X, set_attribute("init_", lambda init: GaussianNB().fit(X, Y == 0))),
    (BOOSTING, X, set_initial_prediction),
    (KNeighborsClassifier(algorithm="brute"), X, set_attribute("_y", lambda labels: labels[:3])),
    (KNeighborsClassifier(), X, set_attribute("n_samples_fit_", lambda n_rows: 10**6)),
]


@pytest.mark.parametrize(
    ("estimator", "rows", "forge"),
    FORGERIES,
    ids=lambda value: value.__name__ if inspect.isfunction(value) else type(value).__name__,
)
def test_forged_models_are_neither_saved_nor_loaded(
    save_unchecked, estimator, rows, forge, tmp_path
):
    model = clone(estimator).fit(rows, Y)
    file = tmp_path / "forged.skops"
    save_unchecked(model, file)
    np.testing.assert_array_equal(load(file).predict(rows), model.predict(rows))
    forge(model)
    with pytest.raises(ValueError, match=r"model files support\. \w.*[^.]\. Replace that part"):
        save(model, tmp_path / "other.skops")
    save_unchecked(model, file)
    with pytest.raises(ValueError, match=r"damaged or has been changed: .*[^.]\. It was saved"):
        load(file)
    assert not (tmp_path / "other.skops").exists()


def test_sparse_matrices_of_other_formats_are_refused(save_unchecked, tmp_path):
    model = SVC().fit(SPARSE, Y)
    model.support_vectors_ = model.support_vectors_.tocsc()
    file = tmp_path / "model.skops"
    save_unchecked(model, file)
    with pytest.raises(ValueError, match="csc"):
        load(file)
