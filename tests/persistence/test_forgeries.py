"""Forgeries that once crashed the process, wrote outside of arrays or ran a function."""

import json

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from calibrant import load, save
from tests.persistence.forgeries import BARE, node, set_array, set_values
from tests.persistence.zoo import X, Y


@pytest.fixture
def forge(rewrite):
    """Replace an attribute of a saved model."""

    def forge(path, attribute, forged):
        def change(members):
            schema = json.loads(members["schema.json"])
            state = schema["content"]
            if attribute not in state["content"]:
                state["key_types"]["content"].append(node("TypeNode", "builtins.str"))
                state["key_types"].pop("__id__", None)
            state["content"][attribute] = forged
            return members | {"schema.json": json.dumps(schema).encode()}

        rewrite(path, change)

    return forge


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.mark.parametrize("kind", BARE.values())
def test_bare_parts_of_compiled_code_are_refused_before_they_are_built(path, forge, kind):
    save(KNeighborsClassifier().fit(X, Y), path)
    forge(path, "weights", node("ObjectNode", kind))
    with pytest.raises(ValueError, match=f"weights is {kind}, which model files cannot contain"):
        load(path)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
def test_search_trees_of_earlier_files_are_built_anew(path, save_unchecked, algorithm):
    model = KNeighborsClassifier(algorithm=algorithm).fit(X, Y)
    expected = model.predict_proba(X)
    state = list(model._tree.__getstate__())
    sizes = [np.shape(item) for item in state]
    bounds = next(place for place, size in enumerate(sizes) if len(size) == 3)
    state[bounds] = np.zeros((0, *sizes[bounds][1:]))  # node_bounds of length 0
    model._tree.__setstate__(tuple(state))
    save_unchecked(model, path)
    np.testing.assert_array_equal(load(path).predict_proba(X), expected)


@pytest.mark.parametrize("shift", [10**6, -(10**6)])
def test_labels_of_neighbors_beyond_the_classes_are_refused(path, shift):
    save(KNeighborsClassifier().fit(X, Y), path)
    path.write_bytes(set_array(path.read_bytes(), "_y", lambda labels: labels + shift))
    with pytest.raises(ValueError, match="_y "):
        load(path)


def test_the_columns_of_an_encoder_are_counted_anew(path, save_unchecked):
    encoder = OneHotEncoder().fit(X)
    expected = encoder.transform(X).toarray()
    encoder._n_features_outs = [10**6] * X.shape[1]
    save_unchecked(encoder, path)
    np.testing.assert_array_equal(load(path).transform(X).toarray(), expected)


def test_a_category_that_an_encoder_does_not_have_is_not_dropped(path, save_unchecked):
    encoder = OneHotEncoder(drop="first").fit(X)
    encoder._drop_idx_after_grouping[0] = -1
    save_unchecked(encoder, path)
    with pytest.raises(ValueError, match="_drop_idx_after_grouping"):
        load(path)


def test_functions_as_kernels_are_refused(path, forge):
    save(SVC().fit(X, Y), path)
    forge(path, "kernel", node("FunctionNode", "numpy.frompyfunc"))
    with pytest.raises(ValueError, match=r"kernel is numpy\.frompyfunc, which"):
        load(path)
    forge(path, "kernel", node("FunctionNode", "numpy.square"))
    with pytest.raises(ValueError, match="kernel must be one of"):
        load(path)


def test_boosting_with_another_preprocessor_is_refused(path, save_unchecked):
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]).fit(X, Y)
    columns = [("encoder", StandardScaler(), [0]), ("numerical", "drop", [1, 2, 3])]
    model._preprocessor = ColumnTransformer(columns).fit(X)
    save_unchecked(model, path)
    with pytest.raises(ValueError, match="_preprocessor must encode categories"):
        load(path)


def test_boosting_without_classes_is_refused(path):
    save(GradientBoostingClassifier(n_estimators=2).fit(X, Y), path)
    path.write_bytes(set_array(path.read_bytes(), "classes_", lambda classes: classes[:0]))
    with pytest.raises(ValueError, match="classes_ must be an array of at least 2 labels"):
        load(path)


def test_trees_with_more_nodes_than_there_are_are_refused_before_they_are_built(path):
    save(GradientBoostingClassifier(n_estimators=2).fit(X, Y), path)
    path.write_bytes(set_values(path.read_bytes(), "node_count", 10**6))
    with pytest.raises(ValueError, match="tree_ has sizes that do not match its nodes"):
        load(path)


def test_more_workers_than_processors_are_not_started(path):
    save(KNeighborsClassifier(n_jobs=1).fit(X, Y), path)
    path.write_bytes(set_values(path.read_bytes(), "n_jobs", 10**6))
    assert load(path).n_jobs <= 1024


def test_escape_codes_do_not_reach_the_terminal(path, rewrite, forge):
    save(KNeighborsClassifier().fit(X, Y), path)
    original = path.read_bytes()
    codes = "\x1b[2J\x07"
    forged = [
        lambda: path.write_bytes(
            set_array(original, "classes_", lambda labels: np.array([codes + x for x in labels]))
        ),
        lambda: path.write_bytes(set_values(original, "metric", codes)),
        lambda: forge(path, codes, node("TypeNode", "builtins.str")),
        lambda: forge(path, "metric", node("FunctionNode", f"os.{codes}")),
        lambda: rewrite(
            path,
            lambda members: (
                members
                | {
                    "calibrant.json": members["calibrant.json"].replace(
                        b'"model": "', b'"model": "\\u001b[2J'
                    )
                }
            ),
        ),
    ]
    for change in forged:
        path.write_bytes(original)
        change()
        with pytest.raises(ValueError, match=r"damaged|control characters") as raised:
            load(path)
        assert str(raised.value).isprintable()
