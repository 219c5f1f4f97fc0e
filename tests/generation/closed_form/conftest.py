"""Scores by closed forms, and by scikit-learn fitted on the training rows of each split."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import Pipeline

from calibrant._core.problems import ProblemSplit, make_problems
from calibrant._core.training_data import TrainingData
from calibrant.generation.closed_form import closed_form_scores
from calibrant.strategies import AllPairs, Direct, OneVsRest, OutputCode


@pytest.fixture(
    params=[OneVsRest(), AllPairs(), OutputCode(), Direct()],
    ids=lambda strategy: type(strategy).__name__,
)
def strategy(request):
    return request.param


@pytest.fixture(scope="session")
def make_rows():
    def make_rows(n_rows=90, n_classes=3, n_features=4, seed=0):
        return make_classification(
            n_rows,
            n_features,
            n_informative=n_features,
            n_redundant=0,
            n_classes=n_classes,
            n_clusters_per_class=1,
            class_sep=0.5,
            random_state=seed,
        )

    return make_rows


@pytest.fixture(scope="session")
def make_counts():
    def make_counts(n_rows=90, n_classes=3, n_features=5, seed=0):
        rng = np.random.default_rng(seed)
        y = np.arange(n_rows) % n_classes
        rate = rng.uniform(0.3, 3.0, size=(n_classes, n_features))
        return rng.poisson(rate[y]), y

    return make_counts


@pytest.fixture(scope="session")
def make_splits():
    """Restrict resampling splits to the rows of each problem of a strategy."""

    def make_splits(y, strategy, *, weight=None, splits=None, n_splits=5):
        classes, index = np.unique(y, return_inverse=True)
        data = TrainingData(None, index, classes, np.ones(len(y)) if weight is None else weight)
        code = strategy.code(len(classes), np.random.RandomState(0))
        if splits is None:
            draws = StratifiedShuffleSplit(n_splits, test_size=0.3, random_state=0)
            splits = list(draws.split(index, index))
        return [
            ProblemSplit(problem, train[problem.member[train]], test[problem.member[test]], number)
            for problem in make_problems(code, data)
            for number, (train, test) in enumerate(splits)
        ]

    return make_splits


class Case(NamedTuple):
    """An estimator with the rows and splits to score it on."""

    estimator: object
    X: object
    fit_params: dict
    splits: list

    def closed_form(self, refitted):
        """Scores by closed forms; the positions of refitted splits are added to a list."""

        def refit(positions):
            refitted.extend(positions)
            return [self.refit(position) for position in positions]

        return closed_form_scores(self.estimator, self.X, self.fit_params, self.splits, refit)

    def refit(self, position):
        """Scores of one split by scikit-learn."""
        problem, train, test = self.splits[position][:3]
        params = {
            name: np.asarray(value)[train] if np.ndim(value) else value
            for name, value in self.fit_params.items()
        }
        model = clone(self.estimator).fit(rows_of(self.X, train), problem.labels[train], **params)
        proba = model.predict_proba(rows_of(self.X, test))
        return proba[:, 1] if problem.is_binary else proba / proba.sum(axis=1, keepdims=True)

    def refits(self):
        return [self.refit(position) for position in range(len(self.splits))]


def rows_of(X, rows):
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


@pytest.fixture(scope="session")
def make_case(make_splits):
    def make_case(estimator, X, y, strategy=None, *, fit_params=None, **options):
        splits = make_splits(y, strategy or OneVsRest(), **options)
        return Case(estimator, X, fit_params or {}, splits)

    return make_case


class Comparison(NamedTuple):
    n_splits: int
    n_refits: int


@pytest.fixture(scope="session")
def compare(make_case):
    """Assert that scores by closed forms are those of refits, and count the refits."""

    def compare(*args, **options):
        case = make_case(*args, **options)
        refitted = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tests of scores.py are about warnings
            scores, expected = case.closed_form(refitted), case.refits()
        assert len(scores) == len(expected)
        for score, refit in zip(scores, expected, strict=True):
            np.testing.assert_allclose(score, refit, rtol=0, atol=1e-8)
        if len(refitted) == len(expected) and not has_closed_form(case.estimator):
            pytest.skip("this version of scikit-learn divides the scatter by another number")
        return Comparison(len(expected), len(refitted))

    return compare


def has_closed_form(estimator):
    """Whether discriminant analysis divides the scatter by the number of rows.

    Earlier versions of scikit-learn divided by the degrees of freedom. The check of closed forms
    against a refit then leaves all splits to refits.
    """
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    X, y = make_classification(60, 4, n_redundant=0, random_state=0)
    if isinstance(final, QuadraticDiscriminantAnalysis):
        fitted = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
        return np.allclose(fitted.covariance_[0], np.cov(X[y == 0], rowvar=False, bias=True))
    if isinstance(final, LinearDiscriminantAnalysis):
        by_svd, by_lsqr = (
            LinearDiscriminantAnalysis(solver=solver).fit(X, y).decision_function(X)
            for solver in ("svd", "lsqr")  # the latter always divided by the number of rows
        )
        return np.allclose(by_svd, by_lsqr)
    return True


@pytest.fixture(scope="session")
def without_closed_form():
    """Make an estimator of a subclass that changes nothing, which is always refitted."""

    def without_closed_form(estimator):
        if isinstance(estimator, Pipeline):
            *steps, (name, final) = estimator.steps
            return Pipeline([*steps, (name, without_closed_form(final))])
        kind = type(estimator)
        return type(kind.__name__, (kind,), {})(**estimator.get_params(deep=False))

    return without_closed_form
