import joblib
import numpy as np
import pytest
from joblib import effective_n_jobs, parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_info

from calibrant import CalibratedClassifier


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


class Witness(ClassifierMixin, BaseEstimator):
    """A classifier that notes what it may spread its work over, and how it sums."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.workers_ = effective_n_jobs(-1)
        self.blas_threads_ = blas_threads()
        self.sum_ = X.ravel() @ X.ravel()
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


@pytest.fixture
def rows():
    X, y = make_classification(60, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    return X, y


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_in_workers_spread_their_work_no_further(rows, backend):
    with parallel_config(backend=backend, n_jobs=2):
        model = CalibratedClassifier(Witness(), strategy="one-vs-rest", method=None).fit(*rows)
    assert [witness.workers_ for witness in model.estimators_] == [1, 1, 1]
    assert {n for witness in model.estimators_ for n in witness.blas_threads_} <= {1}


@pytest.mark.parametrize(("strategy", "n_jobs"), [("direct", 2), ("one-vs-rest", None)])
def test_a_fit_that_is_alone_may_use_all_cores(rows, strategy, n_jobs):
    model = CalibratedClassifier(Witness(), strategy=strategy, method=None, n_jobs=n_jobs)
    assert {w.workers_ for w in model.fit(*rows).estimators_} == {joblib.cpu_count()}


@pytest.mark.parametrize("backend", ["sequential", "threading"])
def test_threads_of_the_caller_are_left_as_they_were(rows, backend):
    before = blas_threads()
    with parallel_config(backend=backend, n_jobs=2):
        CalibratedClassifier(Witness(), strategy="one-vs-rest", method="sigmoid", cv=5).fit(*rows)
    assert blas_threads() == before


def test_a_model_has_the_same_bits_on_every_backend():
    # So many numbers that several threads would sum them, where there are several.
    X, y = make_classification(3000, 100, n_informative=6, n_classes=3, random_state=0)
    sums = []
    for backend in ("sequential", "loky", "threading"):
        with parallel_config(backend=backend, n_jobs=2):
            model = CalibratedClassifier(Witness(), strategy="one-vs-rest", method=None).fit(X, y)
        sums.append([witness.sum_ for witness in model.estimators_])
    assert sums[0] == sums[1] == sums[2]
