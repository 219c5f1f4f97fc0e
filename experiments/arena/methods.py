"""The arena: every method of calibrant and its peers, on the same folds of small data.

Rows are capped, since this is about small data and about finishing: at most 1,000 rows of a
data set, stratified. Beside the folds, ``arena-50`` and the like train on that many rows,
drawn stratified, and test on the rest.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from calibrant.calibrators import (
    ENIR,
    BetaCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    SigmoidCalibrator,
    VennAbersCalibrator,
)
from calibrant.classifier import CalibratedClassifier
from calibrant.generation import RepeatedFolds
from calibrant.generation.closed_form import CLOSED_FORMS
from calibrant.generation.out_of_bag import has_enough_votes
from experiments.arena.fit_cache import FitMemory, Remembering
from experiments.arena.peers import PEERS, Method, raw
from experiments.classifiers import cached_dataset, prepare_fold, random_forest
from experiments.store import Run
from experiments.tasks import Unit, versions

FloatArray = NDArray[np.float64]

MOST_ROWS = 1000
MOST_TEST_ROWS = 2000
N_TREES = 300

ARENA_CLASSIFIERS = {
    "nb": "naive Bayes",
    "rf": "random forest",
    "lr": "logistic regression",
    "svm": "support vector machine",
    "mlp": "multi-layer perceptron",
    "hgb": "gradient boosting",
    "knn": "nearest neighbors",
}


def calibrant(method: Any, cv: Any = "auto", **options: Any) -> Method:
    """Return a method of calibrant."""

    def run(
        classifier: Any, X: FloatArray, y: NDArray[np.intp], X_new: FloatArray, seed: int
    ) -> FloatArray:
        # A classifier that spares refits shows that it does only when it is not wrapped; and splits
        # of a method's own make thousands of fits that no other method asks for again.
        own = classifier.estimator
        if cv != "auto" or type(own) in CLOSED_FORMS or has_enough_votes(own):
            classifier = own
        model = CalibratedClassifier(classifier, method=method, cv=cv, random_state=seed, **options)
        return model.fit(X, y).predict_proba(X_new)

    return run


BINARY = {
    "ENIR": ENIR(floored=True),
    "sigmoid": SigmoidCalibrator(),
    "beta": BetaCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "centered isotonic": IsotonicCalibrator(centered=True),
    "Venn-Abers": VennAbersCalibrator(),
    "histogram": HistogramCalibrator(),
}
METHODS: dict[str, Method] = {
    "raw": raw,
    "auto": calibrant("auto"),
    "temperature": calibrant("temperature"),
    "vector scaling": calibrant("vector"),
    "matrix scaling": calibrant("matrix"),
    "Dirichlet": calibrant("dirichlet"),
    **{f"pairwise {name}": calibrant(own) for name, own in BINARY.items()},
    **{f"one-vs-rest {name}": calibrant(OneVsRestCalibrator(own)) for name, own in BINARY.items()},
    **PEERS,
}
# The paper's own methods refit a model for every binary problem and split, which only naive
# Bayes is fast enough for here; with the forest they are in the replication.
PAPER_METHODS: dict[str, Method] = {
    "one-vs-rest DGG+ENIR": calibrant("enir", strategy="one-vs-rest"),
    "all pairs DGG+ENIR": calibrant("enir", strategy="all-pairs"),
}
# Forests alone: where the out-of-sample scores come from, by strategy.
OUT_OF_BAG_METHODS: dict[str, Method] = {
    "raw": raw,
    "auto, repeated folds": calibrant("auto", RepeatedFolds()),
    "auto, out-of-bag": calibrant("auto", "oob"),
    **{
        f"{strategy} ENIR, {name}": calibrant(ENIR(floored=True), cv, strategy=strategy)
        for strategy in ("direct", "one-vs-rest", "all-pairs")
        for name, cv in {"Monte Carlo": "monte-carlo", "out-of-bag": "oob"}.items()
    },
}


def arena_classifier(name: str, seed: int) -> Any:
    """Return one of the seven classifiers, scikit-learn's defaults where they are of use."""
    return {
        "nb": GaussianNB(),
        "rf": random_forest(seed, N_TREES),
        "lr": LogisticRegression(max_iter=1000),
        "svm": SVC(),
        "mlp": MLPClassifier(random_state=seed),
        "hgb": HistGradientBoostingClassifier(random_state=seed),
        "knn": KNeighborsClassifier(),
    }[name]


@dataclass(frozen=True)
class Arena:
    """All methods on the same rows.

    Attributes
    ----------
    name : str
        The name of the protocol.
    n_train : int or None
        The number of training rows; None is all but a fold.
    methods : dict or None
        The methods by name; None is all of ``METHODS``.
    """

    name: str = "arena"
    n_train: int | None = None
    methods: dict[str, Method] | None = None

    def approaches(self) -> list[str]:
        """Return the one approach: methods share fits, so they run together."""
        return ["all"]

    def scenario_names(self, unit: Unit) -> list[str]:
        """Return the names of the methods that a unit runs."""
        return list(self._methods(unit))

    def run(self, unit: Unit) -> list[Run]:
        """Run all methods on one fold or draw; a method that fails leaves its error."""
        X, y, X_new, y_new, n_classes = self._split(unit)
        memory = FitMemory()
        classifier = Remembering(arena_classifier(unit.classifier, unit.seed), memory)
        model_seconds = 0.0
        runs = []
        for name, method in self._methods(unit).items():
            memory.saved_seconds = 0.0
            began = time.perf_counter()
            proba, error = _quietly(method, classifier, X, y, X_new, unit.seed)
            seconds = time.perf_counter() - began + memory.saved_seconds
            if name == "raw":
                model_seconds = seconds
            runs.append(
                Run(
                    *unit.identity(name),
                    seed=unit.seed,
                    implementation=type(classifier.estimator).__module__.split(".")[0],
                    versions=versions(),
                    n_problems=1,
                    model_seconds=model_seconds,
                    calibration_seconds=None if name == "raw" else seconds - model_seconds,
                    true=y_new,
                    proba=np.empty((0, n_classes)) if error else proba,
                    error=error,
                )
            )
        return runs

    def _methods(self, unit: Unit) -> dict[str, Method]:
        if self.methods is not None:
            return self.methods
        with_paper = unit.classifier == "nb" and self.n_train is None
        return METHODS | PAPER_METHODS if with_paper else METHODS

    def _split(self, unit: Unit) -> tuple[FloatArray, Any, FloatArray, Any, int]:
        """Training and test rows, their classes as numbers, and the number of classes."""
        data = cached_dataset(unit.data_set)
        rows = np.arange(len(data.target))
        if self.n_train is None:
            if len(rows) > MOST_ROWS:
                rows, _ = train_test_split(
                    rows, train_size=MOST_ROWS, stratify=data.target, random_state=0
                )
            splitter = StratifiedKFold(unit.n_folds, shuffle=True, random_state=0)
            train, test = list(splitter.split(rows, data.target[rows]))[unit.fold]
            train, test = rows[train], rows[test]
        else:
            train, test = train_test_split(
                rows, train_size=self.n_train, stratify=data.target, random_state=unit.seed
            )
            test = test[:MOST_TEST_ROWS]
        # A class that the training rows lack is beyond any classifier.
        classes = np.unique(data.target[train])
        test = test[np.isin(data.target[test], classes)]
        X, X_new = prepare_fold(data, train, test)
        y, y_new = (np.searchsorted(classes, data.target[part]) for part in (train, test))
        return X, y, X_new, y_new, len(classes)


def _quietly(
    method: Method, classifier: Any, X: FloatArray, y: Any, X_new: FloatArray, seed: int
) -> tuple[FloatArray, str | None]:
    """Run a method without its chatter; return what it says, or why it failed."""
    n_classes = len(np.unique(y))
    silence = io.StringIO()
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(silence),
        contextlib.redirect_stderr(silence),
    ):
        warnings.simplefilter("ignore")
        try:
            proba = method(classifier, X, y, X_new, seed)
        except Exception as error:  # whatever a peer raises is its result
            return np.empty((0, n_classes)), f"{type(error).__name__}: {error}"
    if proba.shape != (len(X_new), n_classes) or not np.isfinite(proba).all():
        return proba, "probabilities are missing or not finite"
    return proba, None
