"""The classifiers that the command line offers, each with its preprocessing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from calibrant.tabular.columns import Schema
from calibrant.tabular.preprocessing import make_preprocessor


class Model(NamedTuple):
    """A classifier of the command line.

    Attributes
    ----------
    title : str
        What to call it in a sentence.
    make : callable
        Returns the classifier, given a seed.
    marks_missing : bool
        Whether features say where a number is missing.
    """

    title: str
    make: Callable[[int | None], Any]
    marks_missing: bool = True


MODELS = {
    "random-forest": Model(
        "random forest", lambda seed: RandomForestClassifier(300, random_state=seed)
    ),
    # An indicator that hardly varies within a class would have the last word in naive Bayes: no
    # marks of missing numbers, and a hundredth of a scaled number's variance added to all.
    "naive-bayes": Model(
        "naive Bayes", lambda _: GaussianNB(var_smoothing=0.01), marks_missing=False
    ),
    "logistic": Model("logistic regression", lambda _: LogisticRegression(max_iter=1000)),
    "svm": Model("support vector machine", lambda _: SVC()),
    "boosting": Model(
        "gradient boosting",
        # Shallow trees on half of the rows each: hundreds of rows carry no more.
        lambda seed: GradientBoostingClassifier(max_depth=2, subsample=0.5, random_state=seed),
    ),
    "neighbors": Model("nearest neighbors", lambda _: KNeighborsClassifier(10)),
}


def make_model(name: str, schema: Schema, random_state: int | None = None) -> Pipeline:
    """Return a classifier for the rows of a table, with its preprocessing.

    Parameters
    ----------
    name : str
        A name of `MODELS`.
    schema : Schema
        What the table holds.
    random_state : int or None, default=None
        Seeds classifiers that draw at random.

    Returns
    -------
    Pipeline
        To be fitted on rows of `calibrant.tabular.rows`.
    """
    if name not in MODELS:
        raise ValueError(
            f"The model must be one of {', '.join(MODELS)}. Got {name!r}. Choose one of these."
        )
    model = MODELS[name]
    return Pipeline(
        [
            ("preprocessor", make_preprocessor(schema, marks_missing=model.marks_missing)),
            ("classifier", model.make(random_state)),
        ]
    )
