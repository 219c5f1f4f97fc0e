import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from experiments.arena.fit_cache import CachedClassifier, FitCache


@pytest.mark.parametrize(
    "wrap",
    [
        lambda estimator: CalibratedClassifierCV(estimator, method="sigmoid", cv=3),
        lambda estimator: CalibratedClassifier(estimator, cv=3, random_state=0),
    ],
    ids=["scikit-learn", "calibrant"],
)
def test_the_cache_changes_no_predictions(wrap):
    X, y = make_waveform(80, random_state=0)
    X_new, _ = make_waveform(50, random_state=1)
    forest = RandomForestClassifier(10, random_state=0)
    cached = CachedClassifier(forest, FitCache())
    expected = wrap(clone(forest)).fit(X, y).predict_proba(X_new)
    for _ in range(2):
        proba = wrap(cached).fit(X, y).predict_proba(X_new)
        np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-12)


def test_the_same_rows_are_fitted_once_and_the_saved_time_is_counted():
    X, y = make_waveform(80, random_state=0)
    cache = FitCache()
    model = CachedClassifier(GaussianNB(), cache)
    model.fit(X, y)
    assert cache.saved_seconds == 0
    clone(model).fit(X, y)
    ((_, seconds),) = cache.models.values()
    assert cache.saved_seconds == seconds
    model.fit(X[:50], y[:50])
    assert len(cache.models) == 2


def test_the_same_rows_are_scored_once_and_copies_are_returned():
    X, y = make_waveform(80, random_state=0)
    cache = FitCache()
    model = CachedClassifier(GaussianNB(), cache).fit(X, y)
    expected = GaussianNB().fit(X, y).predict_proba(X)
    model.predict_proba(X)[:] = np.nan
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_proba(X), expected)
    assert len(cache.predictions) == 1
    assert cache.saved_seconds > 0
    assert len(model.predict_proba(X[:50])) == 50
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))
    assert len(cache.predictions) == 3


def test_a_cached_classifier_has_the_methods_of_its_estimator():
    assert hasattr(CachedClassifier(LinearSVC(), FitCache()), "decision_function")
    assert not hasattr(CachedClassifier(LinearSVC(), FitCache()), "predict_proba")
    assert not hasattr(CachedClassifier(GaussianNB(), FitCache()), "decision_function")
