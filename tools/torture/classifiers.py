"""Cases of the classifier, around every classifier of scikit-learn."""

from __future__ import annotations

import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import parallel_config
from numpy.random import Generator
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.discovery import all_estimators
from threadpoolctl import threadpool_limits

from calibrant import CalibratedClassifier, load, save
from calibrant._core.registries import CALIBRATORS
from calibrant.generation import MonteCarloCV
from tools.torture.inputs import (
    Untouched,
    draw_class_index,
    draw_labels,
    draw_n_classes,
    draw_weight,
    labels_in_some_form,
)
from tools.torture.invariants import check_close, check_distributions

STRATEGIES = ("direct", "one-vs-rest", "all-pairs", "output-code")
FAST = [
    GaussianNB(var_smoothing=1e-3),
    BernoulliNB(),
    KNeighborsClassifier(1),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    LogisticRegression(max_iter=50),
]
# Parameters without which a classifier cannot be built, or takes long.
PARAMETERS: dict[str, dict[str, Any]] = {
    "AdaBoostClassifier": {"n_estimators": 3},
    "BaggingClassifier": {"n_estimators": 3},
    "CategoricalNB": {"min_categories": 20},
    "ExtraTreesClassifier": {"n_estimators": 3},
    "GradientBoostingClassifier": {"n_estimators": 3},
    "HistGradientBoostingClassifier": {"max_iter": 3},
    "LogisticRegressionCV": {"Cs": 2, "cv": 2},
    "MLPClassifier": {"hidden_layer_sizes": (3,), "max_iter": 5},
    "NuSVC": {"nu": 0.2},
    "RadiusNeighborsClassifier": {"radius": 100.0},
    "RandomForestClassifier": {"n_estimators": 3},
    "SelfTrainingClassifier": {"estimator": GaussianNB()},
    "StackingClassifier": {"estimators": [("nb", GaussianNB())], "cv": 2},
    "VotingClassifier": {"estimators": [("nb", GaussianNB())], "voting": "soft"},
    "FixedThresholdClassifier": {"estimator": GaussianNB()},
    "TunedThresholdClassifierCV": {"estimator": GaussianNB(), "cv": 2},
    "CalibratedClassifierCV": {"estimator": GaussianNB(), "cv": 2},
    "OneVsOneClassifier": {"estimator": LogisticRegression()},
    "OneVsRestClassifier": {"estimator": LogisticRegression()},
}
# Classifiers of two classes only.
BINARY = ("FixedThresholdClassifier", "TunedThresholdClassifierCV")
# Classifiers of several targets at once, and one without scores, which is refused.
NOT_FOR_CALIBRATION = ("ClassifierChain", "MultiOutputClassifier", "OutputCodeClassifier")


@cache
def sklearn_classifiers() -> dict[str, Any]:
    """Return an instance of every classifier of scikit-learn that can be calibrated, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # deprecated classifiers count too
        return {
            name: kind(**PARAMETERS.get(name, {}))
            for name, kind in all_estimators(type_filter="classifier")
            if name not in NOT_FOR_CALIBRATION
        }


def torture_classifier(rng: Generator) -> str:
    """Check a calibrated classifier: its probabilities, and what they must not depend on."""
    n_classes = draw_n_classes(rng, 6)
    n_rows = n_classes + int(rng.integers(10, 60))
    y, weight = draw_class_index(rng, n_rows, n_classes), draw_weight(rng, n_rows)
    if weight is not None:  # every class keeps a row
        weight[np.unique(y, return_index=True)[1]] += 1.0
        weight = np.minimum(weight, 1e3)
    X = _draw_features(rng, y)
    strategy = str(rng.choice(STRATEGIES))
    binary = ("enir", "sigmoid", "beta", "isotonic", "venn-abers", "histogram")
    names = binary if strategy != "direct" else tuple(CALIBRATORS)
    model = CalibratedClassifier(
        clone(FAST[rng.integers(len(FAST))]),
        strategy=strategy,
        method=rng.choice([*names, None]),
        cv=[3, "auto", MonteCarloCV(60, group_size=10)][rng.integers(3)]
        if strategy == "direct"
        else [3, MonteCarloCV(60, group_size=10)][rng.integers(2)],
        random_state=0,
    )
    # A probability that is not a number is refused by beta calibration of decision values only.
    labels = draw_labels(rng, n_classes)
    passed, given = _features_in_some_form(rng, X, model.estimator), labels[y]
    untouched = Untouched(given, weight)
    model.fit(passed, labels_in_some_form(rng, given), sample_weight=weight)
    untouched.check()
    proba = model.predict_proba(passed)
    check_distributions(proba, (n_rows, n_classes))
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.predict(passed), labels[proba.argmax(axis=1)])

    again = clone(model)
    kind = int(rng.integers(4))
    if kind == 0:
        again.set_params(n_jobs=2)
        with parallel_config(backend="threading"):
            again.fit(passed, given, sample_weight=weight)
        np.testing.assert_array_equal(again.predict_proba(passed), proba, "n_jobs")
    elif kind == 1:
        again.fit(passed, y, sample_weight=weight)
        np.testing.assert_array_equal(again.predict_proba(passed), proba, "class names")
    elif kind == 2:
        rows = rng.permutation(n_rows)
        permuted = model.predict_proba(_take(passed, rows))
        check_close(permuted, proba[rows], "order of the rows to predict", 1e-9)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.skops"
            save(model, path)
            np.testing.assert_array_equal(load(path).predict_proba(passed), proba, "save and load")
    return f"classifier {strategy}"


def torture_sklearn(rng: Generator) -> str:
    """Check one of scikit-learn's classifiers with one of the strategies, or frozen."""
    name = str(rng.choice(list(sklearn_classifiers())))
    return check_sklearn_classifier(name, str(rng.choice([*STRATEGIES, "frozen"])), rng)


def check_sklearn_classifier(name: str, strategy: str, rng: Generator) -> str:
    """Check a classifier of scikit-learn with a strategy, or frozen."""
    n_classes = 2 if name in BINARY else int(rng.integers(2, 5))
    y = np.concatenate([np.repeat(np.arange(n_classes), 8), rng.integers(n_classes, size=12)])
    X = np.abs(rng.normal(size=(len(y), 3)) + y[:, None]).round(1)
    estimator = clone(sklearn_classifiers()[name])
    if strategy == "frozen":
        model = CalibratedClassifier(FrozenEstimator(estimator.fit(X, y)), random_state=0)
    else:
        model = CalibratedClassifier(estimator, strategy=strategy, cv=3, random_state=0)
    untouched = Untouched(X, y)
    with threadpool_limits(1):  # threads only slow down fits that are this small
        check_distributions(model.fit(X, y).predict_proba(X), (len(y), n_classes))
    untouched.check()
    return f"{name} {strategy}"


def _draw_features(rng: Generator, y: Any) -> Any:
    """Draw features: informative or not, tied, constant, repeated or large."""
    X = rng.normal(size=(len(y), 3)) + rng.choice([0.0, 1.0, 5.0]) * y[:, None]
    kind = rng.integers(5)
    if kind == 0:
        X = X.round()
    elif kind == 1:
        X[:, 0] = 1.0
    elif kind == 2:
        X = X[rng.integers(max(1, len(y) // 2), size=len(y))]
    elif kind == 3:
        X *= 10.0 ** rng.choice([-6.0, 6.0])
    return X


def _features_in_some_form(rng: Generator, X: Any, estimator: Any) -> Any:
    kind = rng.integers(5)
    if kind == 0:
        return pd.DataFrame(X, columns=["a", "b", "c"])
    if kind == 1:
        return np.asfortranarray(X)
    if kind == 2:
        return X.astype(np.float32)
    if kind == 3 and isinstance(estimator, LogisticRegression | KNeighborsClassifier):
        return csr_array(X)
    return X


def _take(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
