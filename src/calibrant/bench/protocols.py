"""How the experiment is done: folds, preprocessing, classifiers and scenarios."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import Bunch

from calibrant.bench import as_published
from calibrant.bench.preprocessing import paper_pipeline
from calibrant.bench.scenarios import SCENARIOS, Scenario
from calibrant.datasets import load_dataset

FloatArray = NDArray[np.float64]
Rows = NDArray[np.intp]

N_TREES = 500
CLASSIFIERS = {"nb": "naive Bayes", "rf": "random forest"}


@dataclass(frozen=True, eq=False)
class Fold:
    """One split of a data set, prepared for a classifier.

    Attributes
    ----------
    X, X_test : ndarray
        Features of the training and the held-out rows.
    y, y_test : ndarray
        Their classes.
    classifier : classifier
        The classifier to calibrate, with its seed.
    """

    X: FloatArray
    y: NDArray[np.intp]
    X_test: FloatArray
    y_test: NDArray[np.intp]
    classifier: Any


class ExperimentProtocol(Protocol):
    """What differs between the experiment done properly and as published."""

    name: str

    def scenarios(self) -> list[Scenario]:
        """Return the scenarios to run."""

    def fold(self, data_set: str, number: int, n_folds: int, classifier: str, seed: int) -> Fold:
        """Prepare one fold."""

    def views(self, scenario: Scenario, model: Any) -> dict[str, Any]:
        """Return the fitted model by the name of each scenario that it serves."""


class Proper:
    """Stratified folds, preprocessing inside the fold, scikit-learn's estimators."""

    name = "proper"

    def scenarios(self) -> list[Scenario]:
        """Return the five scenarios of the paper."""
        return list(SCENARIOS.values())

    def fold(self, data_set: str, number: int, n_folds: int, classifier: str, seed: int) -> Fold:
        """Split, and fit the preprocessing on the training rows alone."""
        data = cached_dataset(data_set)
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=0)
        train, test = list(splitter.split(data.data, data.target))[number]
        X, X_test = data.data[train], data.data[test]
        if data.categorical:
            columns = [data.feature_names.index(name) for name in data.categorical]
            encoder = make_column_transformer(
                (OneHotEncoder(sparse_output=False), columns), remainder="passthrough"
            )
            X, X_test = encoder.fit_transform(X), encoder.transform(X_test)
        steps = paper_pipeline("passthrough").fit(X)
        return Fold(
            X=steps.transform(X),
            y=data.target[train],
            X_test=steps.transform(X_test),
            y_test=data.target[test],
            classifier=GaussianNB() if classifier == "nb" else random_forest(seed),
        )

    def views(self, scenario: Scenario, model: Any) -> dict[str, Any]:
        """Return the model under the name of its scenario."""
        return {scenario.name: model}


class AsPublished:
    """The authors' folds, preprocessing and estimators, and their coupling beside ours."""

    name = "as-published"

    def scenarios(self) -> list[Scenario]:
        """Return the five scenarios, calibrated probabilities left as they come."""
        return [
            replace(scenario, maker=as_published.PlainClassifier) for scenario in SCENARIOS.values()
        ]

    def fold(self, data_set: str, number: int, n_folds: int, classifier: str, seed: int) -> Fold:
        """Take the authors' fold of the data set, prepared as a whole."""
        if n_folds != as_published.N_FOLDS:
            raise ValueError(
                f"n_folds must be {as_published.N_FOLDS}, the number of published folds. "
                f"Got {n_folds}. Use the paper suite."
            )
        data = cached_dataset(data_set)
        X, categorical = as_published.prepare(data)
        train, test = list(as_published.published_folds(data_set))[number]
        estimator = (
            as_published.E1071NaiveBayes(categorical=categorical)
            if classifier == "nb"
            else as_published.tuned_forest(random_forest(seed), X[train], data.target[train])
        )
        return Fold(X[train], data.target[train], X[test], data.target[test], estimator)

    def views(self, scenario: Scenario, model: Any) -> dict[str, Any]:
        """Return the model, and for all pairs the same models coupled as published."""
        if scenario.approach != "all-pairs":
            return {scenario.name: model}
        faulty = copy(model)
        faulty.strategy_ = as_published.FaultyAllPairs()
        return {scenario.name: model, f"{scenario.name}_as_published": faulty}


PROTOCOLS: dict[str, ExperimentProtocol] = {
    protocol.name: protocol for protocol in (Proper(), AsPublished())
}


@lru_cache(maxsize=2)
def cached_dataset(name: str) -> Bunch:
    """Load a data set once a process."""
    return load_dataset(name)


def random_forest(seed: int) -> Any:
    """Return a forest of 500 trees: scikit-learn-intelex's, many times faster, if installed."""
    if find_spec("sklearnex"):
        from sklearnex.ensemble import RandomForestClassifier as FastForest

        return FastForest(N_TREES, random_state=seed, n_jobs=1)
    return RandomForestClassifier(N_TREES, random_state=seed, n_jobs=1)
