import inspect
import io
import itertools
import json
import os
import pickle
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import sklearn
import skops.io
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import Birch
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from calibrant import CalibratedClassifier, calibrators, load, persistence, save
from calibrant._core.registries import CALIBRATORS
from calibrant.datasets import make_waveform
from calibrant.exceptions import CalibrationWarning
from calibrant.generation import CrossFit, Generator, MonteCarloCV, OutOfBag, RepeatedFolds
from calibrant.persistence import read_info
from calibrant.persistence.model_files import INFO, TRUSTED
from calibrant.persistence.validation import validate_loaded_model
from calibrant.strategies import STRATEGIES, OutputCode, Strategy

X, NUMBERS = make_waveform(90, random_state=0)
Y = np.array(["<b>one</b>", "=cmd()", "שלוש 🎲"])[NUMBERS]
X_NEW = make_waveform(40, random_state=1)[0]
# More copies than one run: a process that loads them all is started once.
PREDICT_ALL = """
import sys
from pathlib import Path
import numpy as np
from calibrant import load
folder = Path(sys.argv[1])
rows = np.load(folder / "rows.npy")
for file in sorted(folder.glob("*.skops")):
    np.save(file.with_suffix(".npy"), load(file).predict_proba(rows))
"""


def combinations():
    for strategy in STRATEGIES:
        binary = STRATEGIES[strategy]().binary
        for method in [None, *CALIBRATORS]:
            calibrator = None if method is None else CALIBRATORS[method]()
            if not (binary and method != "auto" and hasattr(calibrator, "predict_proba")):
                yield strategy, method


def test_every_method_and_strategy_is_the_same_to_the_last_bit_in_a_new_process(tmp_path):
    np.save(tmp_path / "rows.npy", X_NEW)
    proba = {}
    for strategy, method in combinations():
        model = CalibratedClassifier(
            GaussianNB(), method=method, strategy=strategy, cv=3, random_state=0
        ).fit(X, Y)
        save(model, tmp_path / f"{strategy}-{method}.skops")
        proba[f"{strategy}-{method}"] = model.predict_proba(X_NEW)
    subprocess.run([sys.executable, "-c", PREDICT_ALL, str(tmp_path)], check=True)
    assert len(proba) > 30
    for name, expected in proba.items():
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), expected, err_msg=name)


CLASSIFIERS = [
    SVC(),
    LogisticRegression(max_iter=1000),
    KNeighborsClassifier(algorithm="brute"),
    KNeighborsClassifier(algorithm="kd_tree"),
    KNeighborsClassifier(algorithm="ball_tree"),
    RandomForestClassifier(5),
    GradientBoostingClassifier(n_estimators=3),
    HistGradientBoostingClassifier(max_iter=3),
    GaussianProcessClassifier(),
    make_pipeline(StandardScaler(), GaussianNB()),
    FrozenEstimator(RandomForestClassifier(5, random_state=0).fit(X, Y)),
]


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_common_classifiers_survive(estimator, tmp_path):
    model = CalibratedClassifier(estimator, method="matrix", cv=2, random_state=0).fit(X, Y)
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(X_NEW), model.predict_proba(X_NEW))
    np.testing.assert_array_equal(again.predict(X_NEW), model.predict(X_NEW))


def test_every_calibrator_survives_on_its_own(tmp_path):
    scores = GaussianNB().fit(X, Y).predict_proba(X)
    kinds = [getattr(calibrators, name) for name in calibrators.__all__]
    for kind in [kind for kind in kinds if hasattr(kind, "fit")]:
        whole_rows = hasattr(kind, "predict_proba")
        inner = (
            (calibrators.ENIR(),)
            if kind in (calibrators.OneVsRestCalibrator, calibrators.PairwiseCalibrator)
            else ()
        )
        fitted = kind(*inner).fit(
            *((scores, NUMBERS) if whole_rows else (scores[:, 0], NUMBERS == 0))
        )
        save(fitted, tmp_path / "calibrator.skops")
        again = load(tmp_path / "calibrator.skops")
        map_of, map_again = (
            (fitted.predict_proba(scores), again.predict_proba(scores))
            if whole_rows
            else (fitted.predict(scores[:, 0]), again.predict(scores[:, 0]))
        )
        np.testing.assert_array_equal(map_again, map_of, err_msg=kind.__name__)


def test_records_and_parameters_survive(tmp_path):
    parts = {
        "cv": [MonteCarloCV(500), CrossFit(3), RepeatedFolds(3, 90), RepeatedStratifiedKFold()],
        "strategy": [OutputCode(), "direct", "direct", "direct"],
        "method": [IsotonicRegression(out_of_bounds="clip"), "auto", "matrix", "auto"],
    }
    for cv, strategy, method in zip(*parts.values(), strict=True):
        model = CalibratedClassifier(
            GaussianNB(),
            cv=cv,
            strategy=strategy,
            method=method,
            random_state=np.random.RandomState(3),
        ).fit(X, Y)
        save(model, tmp_path / "model.skops")
        again = load(tmp_path / "model.skops")
        assert repr(again.cv) == repr(cv)
        assert type(again.strategy_) is type(model.strategy_)
        assert vars(again.strategy_) == vars(model.strategy_)
        assert getattr(again, "calibration_report_", None) == getattr(
            model, "calibration_report_", None
        )
        np.testing.assert_array_equal(
            again.random_state.get_state()[1], model.random_state.get_state()[1]
        )
        np.testing.assert_array_equal(again.predict_proba(X_NEW), model.predict_proba(X_NEW))


def test_votes_out_of_bag_survive(tmp_path):
    model = CalibratedClassifier(
        RandomForestClassifier(50), method="matrix", cv=OutOfBag(), random_state=0
    ).fit(X, Y)
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert again.cv == OutOfBag()
    np.testing.assert_array_equal(again.predict_proba(X_NEW), model.predict_proba(X_NEW))


def concrete(kind):
    for own in kind.__subclasses__():
        yield from concrete(own)
        if not inspect.isabstract(own):
            yield own


def test_every_part_of_calibrant_that_a_model_may_hold_is_known():
    parts = [*concrete(Generator), *concrete(Strategy), *CALIBRATORS.values()]
    names = {f"{part.__module__}.{part.__qualname__}" for part in parts}
    assert len(names) > 15
    # What the published numbers rest on is for the bench alone.
    own = {name for name in names if name.startswith("calibrant.")}
    assert {name for name in own if not name.startswith("experiments.")} <= TRUSTED


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.skops"
    model = CalibratedClassifier(GaussianNB(), method="matrix", cv=2, random_state=0)
    save(model.fit(X, Y), path)
    return path


def test_the_file_says_what_it_holds(saved):
    info = read_info(saved)
    assert info.model == "CalibratedClassifier"
    assert info.classes == tuple(np.unique(Y))
    assert info.versions["scikit-learn"] == sklearn.__version__
    assert info.versions["numpy"] == np.__version__
    assert set(info.versions) >= {"calibrant", "scipy", "skops", "python"}


def test_notes_and_feature_names_are_kept(tmp_path):
    import pandas as pd

    names = [f"<x>{number}" for number in range(X.shape[1])]
    model = CalibratedClassifier(GaussianNB(), cv=2).fit(pd.DataFrame(X, columns=names), Y)
    save(model, tmp_path / "model.skops", training={"rows": 90, "by": ["me", None]})
    info = read_info(tmp_path / "model.skops")
    assert info.features == tuple(names)
    assert info.training == {"rows": 90, "by": ["me", None]}


class Bomb:
    """Pickles that run code when they are read."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


def test_a_pickle_is_refused_and_not_run(tmp_path):
    marker = tmp_path / "was run"
    file = tmp_path / "model.skops"
    file.write_bytes(pickle.dumps(Bomb(marker)))
    with pytest.raises(ValueError, match="must be a file that calibrant saved"):
        load(file)
    assert not marker.exists()
    pickle.loads(file.read_bytes())
    assert marker.exists()  # the bomb was real


def rewrite(path, change):
    """Change members of a saved file: ``change`` takes and returns {name: bytes}."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in change(members).items():
            archive.writestr(name, content)
    path.write_bytes(buffer.getvalue())


ids = itertools.count(1)


def node(loader, module, name, **content):
    described = {"__loader__": loader, "__module__": module, "__class__": name}
    return described | {"__id__": next(ids)} | content


def function(module, name):
    older = {"module_path": module, "function": name}  # skops' first protocol
    return node("FunctionNode", module, name, content=older)


def plain(value):
    return node("JsonNode", "builtins", "str", content=json.dumps(value), is_json=True)


def arguments(*values):
    return node("TupleNode", "builtins", "tuple", content=[plain(own) for own in values])


def malicious_nodes(marker):
    path = str(marker)
    empty = node(
        "DictNode",
        "builtins",
        "dict",
        content={},
        key_types=node("ListNode", "builtins", "list", content=[]),
    )
    return {
        "a function of the system": function("os", "system"),
        "a constructor with arguments": node(
            "ConstructorFromReduceNode", "os", "mkdir", content=arguments(path)
        ),
        "a partial call": node(
            "PartialNode",
            "functools",
            "partial",
            content={
                "func": function("os", "mkdir"),
                "args": arguments(path),
                "kwds": empty,
                "namespace": plain(None),
            },
        ),
        "a method caller": node(
            "OperatorFuncNode", "operator", "methodcaller", attrs=arguments("mkdir", path)
        ),
        "a type": node("TypeNode", "subprocess", "Popen"),
        "an object": node("ObjectNode", "subprocess", "Popen", content=empty),
        "a method of a trusted type": node(
            "MethodNode",
            "calibrant.classifier",
            "CalibratedClassifier",
            content={
                "func": "fit",
                "obj": node("ObjectNode", "calibrant.classifier", "CalibratedClassifier"),
            },
        ),
        "a list of a class of its own": node(
            "ListNode", "subprocess", "Popen", content=[plain("mkdir"), plain(path)]
        ),
        "an array of a class of its own": node(
            "NdArrayNode",
            "subprocess",
            "Popen",
            type="json",
            content=[plain("mkdir")],
            shape=arguments(1),
        ),
        "a loss of another class": node(
            "LossNode",
            "subprocess",
            "Popen",
            content=empty,
            __reduce__={"args": arguments(f"mkdir {path}")},
        ),
    }


@pytest.mark.parametrize("protocol", [0, 1, 2])
@pytest.mark.parametrize("name", malicious_nodes("x"))
@pytest.mark.parametrize("at_root", [True, False])
def test_a_malicious_skops_file_is_refused_and_not_run(saved, tmp_path, name, protocol, at_root):
    marker = tmp_path / "was run"

    def plant(members):
        schema = json.loads(members["schema.json"])
        bomb = malicious_nodes(marker)[name]
        if at_root:
            schema = bomb | {"_skops_version": schema["_skops_version"]}
        else:
            schema["content"]["content"]["estimator"] = bomb
        schema["protocol"] = protocol
        return members | {"schema.json": json.dumps(schema).encode()}

    rewrite(saved, plant)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="must be made of types of calibrant") as raised:
            load(saved)
    assert "\n" not in str(raised.value)
    assert not marker.exists()


def test_the_malicious_skops_files_would_run_if_they_were_trusted(saved, tmp_path):
    marker = tmp_path / "was run"
    schema = malicious_nodes(marker)["a constructor with arguments"] | {"protocol": 2}
    rewrite(saved, lambda members: members | {"schema.json": json.dumps(schema).encode()})
    skops.io.loads(saved.read_bytes(), trusted=["os.mkdir"])
    assert marker.exists()


def test_what_is_refused_is_named(saved):
    def plant(members):
        schema = json.loads(members["schema.json"])
        schema["content"]["content"]["estimator"] = function("os", "system")
        return members | {"schema.json": json.dumps(schema).encode()}

    rewrite(saved, plant)
    with pytest.raises(ValueError, match=r"Got os\.system\."):
        load(saved)


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    file = tmp_path / "model.skops"
    odd = make_pipeline(FunctionTransformer(np.asarray), GaussianNB())
    with pytest.raises(ValueError, match="asarray"):
        save(CalibratedClassifier(odd, cv=2).fit(X, Y), file)
    splits = iter([(np.arange(45), np.arange(45, 90))])
    with pytest.raises(ValueError, match="must be made of"):
        save(CalibratedClassifier(GaussianNB(), cv=splits).fit(X, Y), file)
    with pytest.raises(ValueError, match="Birch are not supported"):
        save(Birch().fit(X), file)
    with pytest.raises(ValueError, match="not fitted"):
        save(CalibratedClassifier(), file)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_values_alone_is_refused(saved):
    schema = json.dumps(plain("text") | {"protocol": 2}).encode()
    rewrite(saved, lambda members: members | {"schema.json": schema})
    with pytest.raises(ValueError, match="It holds something else"):
        load(saved)


def test_without_skops_it_is_said_what_to_install(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(ImportError, match=r"pip install 'calibrant\[cli\]'"):
        load(saved)


def test_a_skops_file_of_another_program_is_refused(tmp_path):
    file = tmp_path / "model.skops"
    skops.io.dump(GaussianNB().fit(X, Y), file)
    with pytest.raises(ValueError, match="must be a file that calibrant saved"):
        load(file)


def with_info(**changed):
    def change(members):
        return members | {INFO: json.dumps(json.loads(members[INFO]) | changed).encode()}

    return change


def test_another_format_says_what_to_do(saved):
    rewrite(saved, with_info(format=2, versions={"calibrant": "9.0"}, more="new"))
    with pytest.raises(ValueError, match=r"newer than .* Upgrade to calibrant 9\.0"):
        load(saved)
    rewrite(saved, with_info(format=0, versions={"calibrant": "0.0.1"}))
    with pytest.raises(ValueError, match=r"older than .* or use calibrant 0\.0\.1"):
        load(saved)


def test_another_scikit_learn_says_what_to_do(saved):
    rewrite(saved, with_info(versions={"calibrant": "0.1", "scikit-learn": "1.0.2"}))
    with pytest.warns(CalibrationWarning, match=r"scikit-learn 1\.0\.2.* Fit it again"):
        load(saved)


@pytest.mark.parametrize(
    "info",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b'{"format": 1}',
        b"[" * 100_000,
        b'{"format": true}',
        b'{"format": 1, "versions": 3}',
    ],
)
def test_other_notes_are_refused(saved, info):
    rewrite(saved, lambda members: members | {INFO: info})
    with pytest.raises(ValueError, match="must be a file that calibrant saved"):
        load(saved)


@pytest.mark.parametrize(
    "notes", [{"training": 3}, {"versions": "1.0"}, {"classes": 1}, {"features": None}, {"more": 1}]
)
def test_changed_notes_are_refused(saved, notes):
    rewrite(saved, with_info(**notes))
    for read in (load, read_info):
        with pytest.raises(ValueError, match="in it was changed"):
            read(saved)


@pytest.mark.parametrize("schema", [b"", b"[]", b"{}", b"null", b"[" * 100_000])
def test_changed_content_is_refused(saved, schema):
    rewrite(saved, lambda members: members | {"schema.json": schema})
    with pytest.raises(ValueError, match="damaged or was changed"):
        load(saved)


def test_damaged_files_are_refused(saved):
    content = saved.read_bytes()
    for size in (0, 200, len(content) // 2, len(content) - 100):
        saved.write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"must (hold|be)") as raised:
            load(saved)
        assert "\n" not in str(raised.value)


def test_a_changed_byte_is_refused_or_changes_nothing(saved):
    content = saved.read_bytes()
    expected = load(saved).predict_proba(X_NEW)
    refused = 0
    places = range(0, len(content), 101)
    for place in places:
        saved.write_bytes(content[:place] + bytes([content[place] ^ 64]) + content[place + 1 :])
        try:
            np.testing.assert_array_equal(load(saved).predict_proba(X_NEW), expected)
        except ValueError:
            refused += 1
    assert refused > len(places) / 2


def test_missing_files_and_folders_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none.skops"):
        with pytest.raises(ValueError, match="must be a file that calibrant saved"):
            load(path)


@pytest.mark.parametrize(
    "estimator",
    [RandomForestClassifier(1, random_state=0), HistGradientBoostingClassifier(max_iter=1)],
    ids=["forest", "boosting"],
)
@pytest.mark.parametrize("forged", ["child", "cycle", "feature"])
def test_trees_that_point_outside_are_refused(estimator, forged, tmp_path):
    model = CalibratedClassifier(FrozenEstimator(estimator.fit(X, Y)), cv=2).fit(X, Y)
    file = tmp_path / "model.skops"
    save(model, file)
    load(file)

    def forge(members):
        for name, content in members.items():
            if name.endswith(".npy"):
                nodes = np.load(io.BytesIO(content))
                fields = nodes.dtype.names or ()
                left, feature = (
                    ("left_child", "feature") if "left_child" in fields else ("left", "feature_idx")
                )
                if left in fields:
                    nodes = nodes.copy()
                    nodes[0][left] = {"child": 10**6, "cycle": 0}.get(forged, nodes[0][left])
                    nodes[0][feature] = 10**6 if forged == "feature" else nodes[0][feature]
                    buffer = io.BytesIO()
                    np.save(buffer, nodes)
                    members[name] = buffer.getvalue()
        return members

    rewrite(file, forge)
    with pytest.raises(ValueError, match="point outside"):
        load(file)


def test_a_tree_of_more_features_than_its_forest_is_refused():
    forest = RandomForestClassifier(2, random_state=0).fit(X, Y)
    validate_loaded_model(forest)
    wide = np.hstack([X, X])
    forest.estimators_[1] = DecisionTreeClassifier().fit(wide, NUMBERS)
    with pytest.raises(ValueError, match="more features than its forest"):
        validate_loaded_model(forest)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
def test_neighbors_that_point_outside_are_refused(algorithm, tmp_path):
    neighbors = KNeighborsClassifier(algorithm=algorithm, leaf_size=5).fit(X, Y)
    file = tmp_path / "model.skops"
    save(neighbors, file)
    np.testing.assert_array_equal(load(file).predict_proba(X_NEW), neighbors.predict_proba(X_NEW))

    def forge(members):
        for name, content in members.items():
            values = np.load(io.BytesIO(content)) if name.endswith(".npy") else np.empty(0)
            if values.dtype.kind == "i" and sorted(values.ravel()) == list(range(len(X))):
                buffer = io.BytesIO()
                np.save(buffer, np.where(values == 0, 10**9, values))
                members[name] = buffer.getvalue()
        return members

    rewrite(file, forge)
    with pytest.raises(ValueError, match="point outside"):
        load(file)


# What follows is changed in a fitted model: each takes one, and changes it in place.


def set_left_child(model):
    model.tree_.children_left[0] = -5


def set_right_child_of_leaf(model):
    leaf = np.flatnonzero(model.tree_.children_left == -1)[0]
    model.tree_.children_right[leaf] = -7


def set_leaf_half(model):
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


def set_first_estimate(model):
    model.init_.class_prior_ = np.array([0.5, 0.5])
    model.init_.classes_ = np.array([0, 1])
    model.init_.n_classes_ = 2


def set_index(model):
    model.support_vectors_.indices[0] = 10**6


def set_pointer(model):
    model.support_vectors_.indptr[1] = 10**6


SPARSE = csr_array(X)
TREE = DecisionTreeClassifier(random_state=0)
HISTOGRAM = HistGradientBoostingClassifier(max_iter=1)
BOOSTED = GradientBoostingClassifier(n_estimators=2)
FORGED = [
    (TREE, X, set_left_child),
    (TREE, X, set_right_child_of_leaf),
    (TREE, X, set_leaf_half),
    (HISTOGRAM, X, set_bitset),
    (HISTOGRAM, X, set_category_of_number),
    (HISTOGRAM, X, set_short_bitsets),
    *(
        (SVC(kernel=kernel), rows, set_attribute(name, change))
        for kernel, rows in (("rbf", X), ("rbf", SPARSE), ("precomputed", X @ X.T))
        for name, change in (
            ("_n_support", lambda count: np.array([-9, count.sum() + 9, 0], np.int32)),
            ("_n_support", lambda count: count * 1000),
            ("_n_support", lambda count: count[:2]),
            ("_dual_coef_", lambda weights: weights[:1]),
            ("_dual_coef_", lambda weights: weights[:, :5]),
            ("_intercept_", lambda own: own[:1]),
            ("_gamma", lambda gamma: np.nan),
            ("_probA", lambda own: np.zeros(1)),
            ("support_", lambda rows: rows[:5]),
            ("support_", lambda rows: rows + 1000),
            ("_sparse", lambda own: not own),
        )
    ),
    (SVC(), X, set_attribute("support_vectors_", lambda rows: rows[:5])),
    (SVC(), X, set_attribute("support_vectors_", lambda rows: rows[:, :5].copy())),
    (SVC(), SPARSE, set_attribute("_dual_coef_", lambda own: csr_array(own.shape))),
    (SVC(), SPARSE, set_index),
    (SVC(), SPARSE, set_pointer),
    (BOOSTED, X, set_attribute("estimators_", lambda own: np.hstack([own] * 50))),
    (BOOSTED, X, set_attribute("classes_", lambda own: own[:2])),
    (BOOSTED, X, set_attribute("n_trees_per_iteration_", lambda own: 1)),
    (BOOSTED, X, set_attribute("init_", lambda own: GaussianNB().fit(X, NUMBERS == 0))),
    (BOOSTED, X, set_first_estimate),
    (KNeighborsClassifier(algorithm="brute"), X, set_attribute("_y", lambda own: own[:3])),
    (KNeighborsClassifier(), X, set_attribute("n_samples_fit_", lambda own: 10**6)),
]


@pytest.mark.parametrize(
    ("estimator", "rows", "change"),
    FORGED,
    ids=lambda own: own.__name__ if inspect.isfunction(own) else type(own).__name__,
)
def test_forged_numbers_are_refused(estimator, rows, change, tmp_path, monkeypatch):
    model = clone(estimator).fit(rows, Y)
    file = tmp_path / "model.skops"
    save(model, file)
    np.testing.assert_array_equal(load(file).predict(rows), model.predict(rows))
    change(model)
    with pytest.raises(ValueError, match="made of parts that load takes"):
        save(model, file)
    with monkeypatch.context() as patch:
        patch.setattr(persistence, "validate_loaded_model", lambda model: None)
        save(model, file)
    with pytest.raises(ValueError, match="damaged or was changed"):
        load(file)


def test_sparse_matrices_of_another_form_are_refused(tmp_path, monkeypatch):
    model = SVC().fit(SPARSE, Y)
    model.support_vectors_ = model.support_vectors_.tocsc()
    file = tmp_path / "model.skops"
    monkeypatch.setattr(persistence, "_check_types", lambda *args: None)
    with monkeypatch.context() as patch:
        patch.setattr(persistence, "validate_loaded_model", lambda model: None)
        save(model, file)
    # skops itself trusts a matrix that says no more than that it is sparse.
    with pytest.raises(ValueError, match="Untrusted types"):
        load(file)

    def forge(members):
        schema = members["schema.json"]
        schema = schema.replace(b"csc_matrix", b"spmatrix").replace(
            b"sparse._csc", b"sparse._matrix"
        )
        return members | {"schema.json": schema}

    rewrite(file, forge)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="sparse matrices are not kept by rows"):
        load(file)


@pytest.mark.parametrize(
    "estimator",
    [SVR(), NuSVR(), OneClassSVM(), NuSVC(nu=0.1), GradientBoostingRegressor(n_estimators=2)],
    ids=lambda own: type(own).__name__,
)
@pytest.mark.parametrize("rows", [X, SPARSE], ids=["dense", "sparse"])
def test_other_models_of_the_same_code_survive(estimator, rows, tmp_path):
    fitted = clone(estimator).fit(rows, NUMBERS)
    save(fitted, tmp_path / "model.skops")
    np.testing.assert_array_equal(
        load(tmp_path / "model.skops").predict(X_NEW), fitted.predict(X_NEW)
    )


def test_a_file_is_replaced_whole_or_not_at_all(saved, monkeypatch):
    before = saved.read_bytes()

    def interrupted(self, content):
        with self.open("wb") as file:
            file.write(content[:100])
        raise KeyboardInterrupt

    model = load(saved)
    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(model, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_file_that_cannot_be_written_is_refused(saved, tmp_path):
    model = load(saved)
    with pytest.raises(ValueError, match="It is a folder"):
        save(model, tmp_path)
    with pytest.raises(ValueError, match="The folder of .* must exist"):
        save(model, tmp_path / "none" / "model.skops")


def test_a_link_and_a_device_stay_what_they_are(saved, tmp_path):
    model = load(saved)
    link = tmp_path / "link.skops"
    link.symlink_to(saved)
    save(model, link)
    assert link.is_symlink()
    save(model, os.devnull)
    assert not Path(os.devnull).is_file()
