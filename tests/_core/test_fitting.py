import joblib
import numpy as np
import pytest
from joblib import effective_n_jobs, parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_info

from calibrant import CalibratedClassifier
from calibrant._core import fitting


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


class Witness(ClassifierMixin, BaseEstimator):
    """A classifier that records its workers and threads, and a sum that depends on them."""

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


@pytest.mark.usefixtures("always_start_workers")
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_in_workers_use_a_single_core(rows, backend):
    with parallel_config(backend=backend, n_jobs=2):
        model = CalibratedClassifier(Witness(), strategy="one-vs-rest", method=None).fit(*rows)
    assert [witness.workers_ for witness in model.estimators_] == [1, 1, 1]
    assert {n for witness in model.estimators_ for n in witness.blas_threads_} <= {1}


@pytest.mark.parametrize(("strategy", "n_jobs"), [("direct", 2), ("one-vs-rest", None)])
def test_a_single_fit_may_use_all_cores(rows, strategy, n_jobs):
    model = CalibratedClassifier(Witness(), strategy=strategy, method=None, n_jobs=n_jobs)
    assert {w.workers_ for w in model.fit(*rows).estimators_} == {joblib.cpu_count()}


@pytest.mark.usefixtures("always_start_workers")
@pytest.mark.parametrize("backend", ["sequential", "threading"])
def test_the_number_of_threads_is_restored(rows, backend):
    before = blas_threads()
    with parallel_config(backend=backend, n_jobs=2):
        CalibratedClassifier(Witness(), strategy="one-vs-rest", method="sigmoid", cv=5).fit(*rows)
    assert blas_threads() == before


@pytest.mark.usefixtures("always_start_workers")
def test_models_are_bit_identical_on_every_backend():
    # Enough numbers for BLAS to use several threads, if it may.
    X, y = make_classification(3000, 100, n_informative=6, n_classes=3, random_state=0)
    sums = []
    for backend in ("sequential", "loky", "threading"):
        with parallel_config(backend=backend, n_jobs=2):
            model = CalibratedClassifier(Witness(), strategy="one-vs-rest", method=None).fit(X, y)
        sums.append([witness.sum_ for witness in model.estimators_])
    assert sums[0] == sums[1] == sums[2]


@pytest.mark.parametrize(("start_seconds", "starts"), [(0.0, True), (1e6, False)])
def test_workers_are_started_only_if_they_save_time(rows, monkeypatch, start_seconds, starts):
    started = []

    class RecordedParallel(fitting.Parallel):
        def __call__(self, iterable):
            started.append(self.n_jobs)
            return super().__call__(iterable)

    monkeypatch.setattr(fitting, "Parallel", RecordedParallel)
    monkeypatch.setattr(fitting, "WORKER_START_SECONDS", start_seconds)
    with parallel_config(backend="threading"):
        CalibratedClassifier(Witness(), strategy="one-vs-rest", method=None, n_jobs=2).fit(*rows)
    assert started == ([2] if starts else [])
