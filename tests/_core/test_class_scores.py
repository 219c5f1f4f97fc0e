import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from calibrant import CalibratedClassifier
from calibrant._core.class_scores import class_scores
from calibrant.exceptions import CalibrationWarning

X, Y = make_blobs(40, centers=4, cluster_std=4.0, random_state=0)


class Misbehaving(ClassifierMixin, BaseEstimator):
    """Naive Bayes whose probabilities are changed before they are returned."""

    def __init__(self, change=None):
        self.change = change

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.change(self.model_.predict_proba(X))


def with_first_row(value):
    def change(proba):
        proba = proba.copy()
        proba[0] = value
        return proba

    return change


def stop(proba):
    raise StopIteration


def test_class_scores_are_probabilities_or_decision_values():
    proba, is_proba = class_scores(GaussianNB().fit(X, Y), X)
    assert is_proba
    assert proba.shape == (40, 4)
    decision, is_proba = class_scores(RidgeClassifier().fit(X, Y < 2), X)
    assert not is_proba
    np.testing.assert_array_equal(decision[:, 0], -decision[:, 1])
    with pytest.raises(ValueError, match=r"got shape \(40, 6\)\. For SVC, use decision_function"):
        class_scores(SVC(decision_function_shape="ovo").fit(X, Y), X)


REPAIRABLE = {
    "percentages": (lambda proba: 100.0 * proba, "got sums other than 1"),
    "near the largest number": (lambda proba: 1.7e308 * proba, "got sums other than 1"),
    "negative": (lambda proba: np.where(proba < 0.2, -0.5, proba), "got negative values"),
    "infinite": (with_first_row(np.inf), "got infinite values"),
}


@pytest.mark.parametrize("name", REPAIRABLE)
def test_rows_that_are_no_distributions_are_repaired_and_said(name):
    change, message = REPAIRABLE[name]
    model = Misbehaving(change).fit(X, Y)
    with pytest.warns(CalibrationWarning, match=rf"Misbehaving\.predict_proba .* {message}"):
        proba, is_proba = class_scores(model, X)
    assert is_proba
    scored = ~np.isnan(proba).any(axis=1)
    assert scored.sum() == (39 if name == "infinite" else 40)
    np.testing.assert_allclose(proba[scored].sum(axis=1), 1.0, rtol=1e-12)
    if name in ("percentages", "near the largest number"):
        np.testing.assert_allclose(proba, model.model_.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("name", REPAIRABLE)
@pytest.mark.parametrize("strategy", ["direct", "one-vs-rest"])
def test_fit_says_once_that_rows_are_no_distributions(name, strategy):
    model = CalibratedClassifier(Misbehaving(REPAIRABLE[name][0]), strategy=strategy, cv=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, Y)
    assert sum("sum to 1, got" in str(warning.message) for warning in caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    assert np.abs(proba.sum(axis=1) - 1.0).max() <= 1e-12


@pytest.mark.parametrize("change", [np.zeros_like, np.float16], ids=["zeros", "half precision"])
def test_rows_of_zeros_and_rounded_rows_are_accepted(change):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        class_scores(Misbehaving(change).fit(X, Y), X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda proba: proba[:-3], r"must return \d+ rows .* got shape"),
        (lambda proba: None, "got NoneType. Correct the estimator"),
        (lambda proba: proba[:, :-1], "one column for each of the 4 classes, got shape"),
        (lambda proba: proba[:, 0], "got shape"),
        (lambda proba: np.char.add(proba.astype(str)[:, :1], "?"), "got ndarray"),
        (lambda proba: [proba, proba], r"got shape \(2, "),
        (stop, "must not raise StopIteration. The estimator failed on split 1"),
    ],
)
def test_scores_of_the_wrong_form_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        CalibratedClassifier(Misbehaving(change), cv=3).fit(X, Y)
