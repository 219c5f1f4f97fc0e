"""Predictions are probabilities, whatever the data."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.combination import COUPLINGS
from calibrant.exceptions import CalibrationWarning
from calibrant.generation import MonteCarloCV
from calibrant.strategies import AllPairs, OutputCode


class ScoreIsFirstFeature(ClassifierMixin, BaseEstimator):
    """A classifier whose decision values are the first feature, so that a test can set them."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]


STRATEGIES = st.sampled_from(
    [
        "one-vs-rest",
        *(AllPairs(coupling) for coupling in sorted(COUPLINGS)),
        "output-code",
        OutputCode("random-sparse"),
    ]
)
features = st.one_of(
    st.floats(-5, 5),
    st.sampled_from([0.0, 1.0]),
    st.floats(-1e6, 1e6),
)
extreme = st.floats(-1.7e308, 1.7e308)


@st.composite
def data_sets(draw, elements=features):
    """Draw rows with ties, constant columns and duplicates, and weights that may be zero."""
    n_classes = draw(st.integers(2, 5))
    n_rows = draw(st.integers(n_classes + 1, 40))
    n_features = draw(st.integers(1, 3))
    X = draw(arrays(float, (n_rows, n_features), elements=elements))
    if draw(st.booleans()):
        X[:, -1] = X[0, -1]
    if draw(st.booleans()):
        X[n_rows // 2 :] = X[: n_rows - n_rows // 2]
    rest = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    y = np.array([*range(n_classes), *rest[n_classes:]])
    weight = draw(arrays(float, n_rows, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
    weight[: n_classes + 1] = 1.0
    return X, y, draw(st.sampled_from([None, weight]))


def predict_checked(model, X, classes):
    """Predict, and assert that each row is a distribution over the classes."""
    proba = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_, classes)
    assert proba.shape == (len(X), len(classes))
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    assert np.abs(proba.sum(axis=1) - 1.0).max() <= 1e-12
    return proba


# Few rows cause warnings, and naive Bayes divides by zero if no feature varies.
@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=data_sets(),
    strategy=STRATEGIES,
    method=st.sampled_from(["enir", None]),
    cv=st.sampled_from([3, MonteCarloCV(60, group_size=10), MonteCarloCV(60, group_size=None)]),
)
def test_any_strategy_predicts_probabilities(data, strategy, method, cv):
    X, y, weight = data
    model = CalibratedClassifier(
        GaussianNB(var_smoothing=1e-3), strategy=strategy, method=method, cv=cv, random_state=0
    )
    model.fit(X, y, sample_weight=weight)
    proba = predict_checked(model, X, np.unique(y))
    if method == "enir":
        assert (proba > 0).all()


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=data_sets(elements=extreme),
    strategy=STRATEGIES,
    cv=st.sampled_from([3, MonteCarloCV(60, group_size=10)]),
)
def test_extreme_scores_are_calibrated_to_probabilities(data, strategy, cv):
    X, y, weight = data
    model = CalibratedClassifier(ScoreIsFirstFeature(), strategy=strategy, cv=cv, random_state=0)
    with warnings.catch_warnings():
        # The estimator does not take weights.
        warnings.simplefilter("ignore", CalibrationWarning)
        model.fit(X, y, sample_weight=weight)
    proba = predict_checked(model, X, np.unique(y))
    assert (proba > 0).all()


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=data_sets(),
    method=st.sampled_from(["auto", "enir", "matrix", LogisticRegression()]),
    cv=st.sampled_from([3, "auto"]),
)
def test_direct_calibration_predicts_probabilities(data, method, cv):
    X, y, weight = data
    model = CalibratedClassifier(
        GaussianNB(var_smoothing=1e-3), method=method, cv=cv, random_state=0
    ).fit(X, y, sample_weight=weight)
    assert (predict_checked(model, X, np.unique(y)) > 0).all()


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=data_sets(), strategy=STRATEGIES, n_rows=st.integers(6, 40))
def test_frozen_estimators_predict_probabilities(data, strategy, n_rows):
    X, y, weight = data
    frozen = FrozenEstimator(GaussianNB(var_smoothing=1e-3).fit(X, y))
    weight = None if weight is None else weight[:n_rows]
    seen = y[:n_rows] if weight is None else y[:n_rows][weight > 0]
    # fit refuses a single class, and no more rows than the frozen estimator has classes.
    assume(len(np.unique(seen)) > 1 and len(seen) > len(np.unique(y)))
    model = CalibratedClassifier(frozen, strategy=strategy, random_state=0)
    model.fit(X[:n_rows], y[:n_rows], sample_weight=weight)
    assert (predict_checked(model, X, np.unique(y)) > 0).all()
