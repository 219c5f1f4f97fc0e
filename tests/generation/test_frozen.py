import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from calibrant import CalibratedClassifier
from calibrant._core.probability_floor import apply_probability_floor
from calibrant.calibrators import ENIR
from calibrant.combination import couple
from calibrant.datasets import make_waveform
from calibrant.metrics import log_loss
from calibrant.strategies import AllPairs


@pytest.fixture(scope="module")
def waveform():
    return *make_waveform(200, random_state=0), *make_waveform(1000, random_state=1)


@pytest.mark.parametrize("base", [GaussianNB(), SVC(decision_function_shape="ovr")], ids=repr)
@pytest.mark.parametrize("strategy", ["one-vs-rest", "all-pairs"])
def test_a_frozen_estimator_is_calibrated_on_all_rows(base, strategy, waveform):
    X, y, X_new, y_new = waveform
    fitted = clone(base).fit(X, y)
    model = CalibratedClassifier(FrozenEstimator(fitted), strategy=strategy)
    model.fit(X_new[:500], y_new[:500])
    proba = model.predict_proba(X_new[500:])
    assert model.estimators_[0].estimator is fitted
    assert log_loss(y_new[500:], proba) < 0.5
    assert len(model.calibrators_) == 3


def test_frozen_all_pairs_step_by_step(waveform):
    X, y, X_new, y_new = waveform
    fitted = GaussianNB().fit(X, y)
    model = CalibratedClassifier(FrozenEstimator(fitted), strategy="all-pairs").fit(X_new, y_new)
    score = fitted.predict_proba(X_new)
    R = np.zeros((len(score), 3, 3))
    for i in range(3):
        for j in range(i + 1, 3):
            rows = np.isin(y_new, [i, j])
            pair = score[:, j] / (score[:, i] + score[:, j])
            R[:, j, i] = ENIR().fit(pair[rows], y_new[rows] == j).predict(pair)
            R[:, i, j] = 1 - R[:, j, i]
    expected = apply_probability_floor(couple(R), np.bincount(y_new), pseudo_count=0.5)
    np.testing.assert_allclose(model.predict_proba(X_new), expected, rtol=0, atol=1e-12)


def test_a_class_that_only_the_frozen_estimator_knows_keeps_a_probability(waveform):
    X, y, X_new, y_new = waveform
    X, y = np.r_[X, X[:60] + 8.0], np.r_[y, np.full(60, 3)]
    rows = y_new != 1  # neither class 1 nor class 3 can be calibrated
    for strategy in ("one-vs-rest", "all-pairs", AllPairs("hastie-tibshirani"), "direct"):
        model = CalibratedClassifier(FrozenEstimator(GaussianNB().fit(X, y)), strategy=strategy)
        with pytest.warns(UserWarning, match=r"Classes with fewer than 4 rows: 1 \(0\), 3 \(0\)"):
            model.fit(X_new[rows], y_new[rows])
        proba = model.predict_proba(X_new)
        assert (proba > 0).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_a_frozen_estimator_requires_two_classes_too(waveform):
    X, y, *_ = waveform
    model = CalibratedClassifier(FrozenEstimator(GaussianNB().fit(X, y)))
    with pytest.raises(ValueError, match="got one class"):
        model.fit(X[y == 0], y[y == 0])


def test_a_half_frozen_pipeline_is_refused(waveform):

    X, y, *_ = waveform
    half = make_pipeline(StandardScaler(), FrozenEstimator(GaussianNB().fit(X, y)))
    with pytest.raises(ValueError, match="wrap the whole estimator in FrozenEstimator"):
        CalibratedClassifier(half, strategy="one-vs-rest").fit(X, y)


def test_frozen_scores_of_nan_are_ignored(waveform):
    class Blind(GaussianNB):
        def predict_proba(self, X):
            proba = super().predict_proba(X)
            proba[X[:, 0] < 0] = np.nan
            return proba

    X, y, X_new, y_new = waveform
    for strategy in ("one-vs-rest", "all-pairs"):
        model = CalibratedClassifier(FrozenEstimator(Blind().fit(X, y)), strategy=strategy)
        model.fit(X_new, y_new)
        seen = X_new[:, 0] >= 0
        clean = CalibratedClassifier(FrozenEstimator(GaussianNB().fit(X, y)), strategy=strategy)
        clean.fit(X_new[seen], y_new[seen])
        for one, other in zip(model.calibrators_, clean.calibrators_, strict=True):
            np.testing.assert_allclose(one.y_thresholds_, other.y_thresholds_, rtol=0, atol=1e-12)
        with pytest.warns(UserWarning, match="NaN for"):
            model.predict_proba(X_new)


def test_an_unfitted_frozen_estimator_is_refused(waveform):
    X, y, *_ = waveform
    with pytest.raises(NotFittedError):
        CalibratedClassifier(FrozenEstimator(GaussianNB())).fit(X, y)


def test_classes_unknown_to_the_frozen_estimator_are_refused(waveform):
    X, y, *_ = waveform
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    with pytest.raises(ValueError, match=r"frozen estimator, \[0, 1, 2\], got \[3\] as well"):
        CalibratedClassifier(frozen).fit(X, y + 1)


def test_a_frozen_estimator_with_unsorted_classes_is_refused(waveform):
    X, y, *_ = waveform
    reversed_classes = GaussianNB().fit(X, y)
    reversed_classes.classes_ = reversed_classes.classes_[::-1]
    with pytest.raises(ValueError, match=r"must be sorted, got \[2, 1, 0\]"):
        CalibratedClassifier(FrozenEstimator(reversed_classes)).fit(X, y)


def test_class_weights_of_a_frozen_estimator_do_not_matter(waveform):
    X, y, X_new, y_new = waveform
    weighted = SVC(class_weight={0: 5.0, 1: 1.0, 2: 1.0}).fit(X, y)
    model = CalibratedClassifier(FrozenEstimator(weighted), strategy="one-vs-rest")
    assert (model.fit(X_new, y_new).predict_proba(X) > 0).all()
