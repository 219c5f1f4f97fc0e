"""How an experiment is done: folds, preprocessing, classifiers and scenarios."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from experiments.arena.methods import OUT_OF_BAG_METHODS, Arena
from experiments.classifiers import cached_dataset, prepare_fold, random_forest
from experiments.paper import as_published
from experiments.paper.methods import SCENARIOS, Scenario
from experiments.store import Run
from experiments.tasks import Unit, versions

FloatArray = NDArray[np.float64]

N_TREES = 500
CLASSIFIERS = {"nb": "naive Bayes", "rf": "random forest"}


class ExperimentProtocol(Protocol):
    """What a runner must know of an experiment."""

    @property
    def name(self) -> str:
        """The name in stores and files."""

    def approaches(self) -> list[str]:
        """Return what is run apart on each fold."""

    def scenario_names(self, unit: Unit) -> list[str]:
        """Return the names of the runs without which a unit is not done."""

    def run(self, unit: Unit) -> list[Run]:
        """Run a unit."""


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


class PaperProtocol(ABC):
    """The paper's experiment; what differs between proper and published is abstract."""

    name: str

    @abstractmethod
    def scenarios(self) -> list[Scenario]:
        """Return the scenarios to run."""

    @abstractmethod
    def fold(self, data_set: str, number: int, n_folds: int, classifier: str, seed: int) -> Fold:
        """Prepare one fold."""

    def views(self, scenario: Scenario, model: Any) -> dict[str, Any]:
        """Return the fitted model by the name of each scenario that it serves."""
        return {scenario.name: model}

    def approaches(self) -> list[str]:
        """Return multi-class, one-vs-rest and all pairs."""
        return list(dict.fromkeys(scenario.approach for scenario in self.scenarios()))

    def scenario_names(self, unit: Unit) -> list[str]:
        """Return the names of the scenarios of a unit's approach."""
        return [scenario.name for scenario in self._scenarios_of(unit)]

    def run(self, unit: Unit) -> list[Run]:
        """Fit and predict all scenarios of one approach on one fold."""
        fold = self.fold(unit.data_set, unit.fold, unit.n_folds, unit.classifier, unit.seed)
        runs: list[Run] = []
        model_seconds = 0.0
        for scenario in self._scenarios_of(unit):
            model = scenario.estimator(fold.classifier, random_state=unit.seed)
            began = time.perf_counter()
            model.fit(fold.X, fold.y)
            seconds = time.perf_counter() - began
            # The same models are fitted without and with calibration, in this order.
            if not scenario.calibrates:
                model_seconds = seconds
            for name, view in self.views(scenario, model).items():
                runs.append(
                    Run(
                        *unit.identity(name),
                        seed=unit.seed,
                        implementation=type(fold.classifier).__module__.split(".")[0],
                        versions=versions(),
                        n_problems=(
                            len(getattr(model, "estimators_", ())) if scenario.parameters else 1
                        ),
                        model_seconds=model_seconds,
                        calibration_seconds=(
                            seconds - model_seconds if scenario.calibrates else None
                        ),
                        true=fold.y_test,
                        proba=view.predict_proba(fold.X_test),
                    )
                )
        return runs

    def _scenarios_of(self, unit: Unit) -> list[Scenario]:
        return [scenario for scenario in self.scenarios() if scenario.approach == unit.approach]


class Proper(PaperProtocol):
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
        X, X_test = prepare_fold(data, train, test)
        return Fold(
            X=X,
            y=data.target[train],
            X_test=X_test,
            y_test=data.target[test],
            classifier=GaussianNB() if classifier == "nb" else random_forest(seed, N_TREES),
        )


class AsPublished(PaperProtocol):
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
            else as_published.tuned_forest(
                random_forest(seed, N_TREES), X[train], data.target[train]
            )
        )
        return Fold(X[train], data.target[train], X[test], data.target[test], estimator)

    def views(self, scenario: Scenario, model: Any) -> dict[str, Any]:
        """Return the model, and for all pairs the same models coupled as published."""
        if scenario.approach != "all-pairs":
            return {scenario.name: model}
        faulty = copy(model)
        faulty.strategy_ = as_published.FaultyAllPairs()
        return {scenario.name: model, f"{scenario.name}_as_published": faulty}


_PROTOCOLS: list[ExperimentProtocol] = [Proper(), AsPublished(), Arena()]
_PROTOCOLS += [Arena(f"arena-{n_train}", n_train) for n_train in (50, 100, 200)]
_PROTOCOLS.append(Arena("out-of-bag", methods=OUT_OF_BAG_METHODS))
PROTOCOLS = {protocol.name: protocol for protocol in _PROTOCOLS}
