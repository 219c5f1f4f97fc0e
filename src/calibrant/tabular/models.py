"""Classifiers for data files, each with the preprocessing that suits it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from calibrant._core.registries import MODELS
from calibrant.tabular.preprocessing import make_preprocessor
from calibrant.tabular.schema import Schema


class Model(NamedTuple):
    """A classifier that can be chosen by name.

    Attributes
    ----------
    title : str
        Its name in a sentence.
    make : callable
        Returns the unfitted classifier for a seed.
    add_indicator : bool
        Whether features mark missing numbers, as in `sklearn.impute.SimpleImputer`.
    """

    title: str
    make: Callable[[int | None], Any]
    add_indicator: bool = True


RANDOM_FOREST = Model("random forest", lambda seed: RandomForestClassifier(300, random_state=seed))
NAIVE_BAYES = Model(
    "naive Bayes",
    # A feature that is nearly constant within a class dominates the likelihood. So missing numbers
    # are not marked, and every variance grows by a hundredth of a scaled feature's variance.
    lambda _: GaussianNB(var_smoothing=0.01),
    add_indicator=False,
)
LOGISTIC_REGRESSION = Model("logistic regression", lambda _: LogisticRegression(max_iter=1000))
SUPPORT_VECTOR_MACHINE = Model("support vector machine", lambda _: SVC())
GRADIENT_BOOSTING = Model(
    "gradient boosting",
    # Shallow trees, each on half of the rows: a few hundred rows support nothing deeper.
    lambda seed: GradientBoostingClassifier(max_depth=2, subsample=0.5, random_state=seed),
)
NEAREST_NEIGHBORS = Model("nearest neighbors", lambda _: KNeighborsClassifier(10))


def make_model(name: str, schema: Schema, random_state: int | None = None) -> Pipeline:
    """Return an unfitted classifier for the rows of a table, with its preprocessing.

    Parameters
    ----------
    name : str
        A name in `MODELS`.
    schema : Schema
        Description of the table.
    random_state : int or None, default=None
        Seed of classifiers that draw random numbers.

    Returns
    -------
    Pipeline
        Takes the features of `calibrant.tabular.rows`.
    """
    if name not in MODELS:
        raise ValueError(
            f"model must be one of {', '.join(MODELS)}, got {name!r}. "
            "Use one of these names, or CalibratedClassifier for a classifier of your own."
        )
    model = MODELS[name]
    return Pipeline(
        [
            ("preprocessor", make_preprocessor(schema, add_indicator=model.add_indicator)),
            ("classifier", model.make(random_state)),
        ]
    )
