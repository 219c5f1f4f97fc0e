"""Fits on a Dask cluster of two worker processes equal those in one process."""

from collections import Counter

import numpy as np
import pytest
from distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("always_start_workers")]


@pytest.fixture(scope="module")
def client():
    # Any port for the dashboard, since the usual one may be taken.
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def rows():
    return make_classification(
        150, 8, n_informative=5, n_redundant=0, n_classes=3, weights=[0.5, 0.3], random_state=0
    )


@pytest.mark.parametrize(
    "model",
    [
        CalibratedClassifier(LogisticRegression(), strategy="one-vs-rest", random_state=0),
        CalibratedClassifier(
            RandomForestClassifier(10), strategy="all-pairs", method="sigmoid", cv=3, random_state=0
        ),
        CalibratedClassifier(RandomForestClassifier(60), random_state=0),
        CalibratedClassifier(GaussianNB(), ensemble=False, random_state=0),
        CalibratedClassifier(LogisticRegression(), random_state=0),
        CalibratedClassifier(GaussianNB(), ensemble=5, random_state=0),
    ],
    ids=["Monte Carlo", "folds", "out of bag", "closed form", "voters and model", "voters"],
)
def test_a_fit_on_a_cluster_equals_a_serial_fit(client, rows, model):
    X, y = rows
    weight = np.linspace(0.5, 1.5, len(y))
    expected = model.fit(X, y, sample_weight=weight).predict_proba(X)
    with parallel_config(backend="dask"):
        proba = model.fit(X, y, sample_weight=weight).predict_proba(X)
    np.testing.assert_array_equal(proba, expected)


def test_rows_are_sent_to_the_cluster_once_for_all_fits(client, rows, monkeypatch):
    calls = Counter()

    def counted(method):
        def call(*args, **kwargs):
            calls[method.__name__] += 1
            return method(*args, **kwargs)

        return call

    for method in (Client.submit, Client.scatter):
        monkeypatch.setattr(Client, method.__name__, counted(method))
    with parallel_config(backend="dask"):
        CalibratedClassifier(LogisticRegression(), strategy="one-vs-rest").fit(*rows)
    assert calls["scatter"] == 2  # for the three models, and for their refits on all splits
    assert calls["submit"] > 4
