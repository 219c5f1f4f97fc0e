"""The classifiers of all experiments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC


@dataclass(frozen=True)
class Classifier:
    """A classifier that experiments can run.

    Attributes
    ----------
    name : str
        Name on the command line and in stores.
    title : str
        Name in tables.
    make : callable
        Takes a seed and a number of trees and returns the unfitted estimator.
    needs_refits : bool
        Whether `CalibratedClassifier` must refit it to get held-out scores. Estimators with a
        closed form or with enough out-of-bag votes need no refits.
    """

    name: str
    title: str
    make: Callable[[int, int], Any]
    needs_refits: bool = True


def make_forest(seed: int, n_trees: int) -> Any:
    """Return a random forest, from scikit-learn-intelex if installed, which is much faster.

    Parameters
    ----------
    seed : int
        Seed of the forest.
    n_trees : int
        Number of trees.

    Returns
    -------
    RandomForestClassifier
        The unfitted forest.
    """
    if find_spec("sklearnex"):
        from sklearnex.ensemble import RandomForestClassifier as FastForest

        return FastForest(n_trees, random_state=seed, n_jobs=1)
    return RandomForestClassifier(n_trees, random_state=seed, n_jobs=1)


CLASSIFIERS = {
    classifier.name: classifier
    for classifier in (
        Classifier("nb", "naive Bayes", lambda _seed, _n_trees: GaussianNB(), needs_refits=False),
        Classifier("rf", "random forest", make_forest, needs_refits=False),
        Classifier(
            "lr", "logistic regression", lambda _seed, _n_trees: LogisticRegression(max_iter=1000)
        ),
        Classifier("svm", "support vector machine", lambda _seed, _n_trees: SVC()),
        Classifier(
            "mlp",
            "multi-layer perceptron",
            lambda seed, _n_trees: MLPClassifier(random_state=seed),
        ),
        Classifier(
            "hgb",
            "gradient boosting",
            lambda seed, _n_trees: HistGradientBoostingClassifier(random_state=seed),
        ),
        Classifier(
            "knn",
            "nearest neighbors",
            lambda _seed, _n_trees: KNeighborsClassifier(),
            needs_refits=False,
        ),
    )
}
