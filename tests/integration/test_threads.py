"""Fitted classifiers predict in several threads at a time."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier

N_THREADS = 8


@pytest.mark.parametrize(
    ("method", "strategy"),
    [
        ("auto", "auto"),
        ("enir", "all-pairs"),
        ("isotonic", "one-vs-rest"),
        ("sigmoid", "output-code"),
    ],
)
def test_predictions_in_threads_equal_those_in_turn(method, strategy):
    X, y = make_classification(200, n_informative=6, n_classes=4, random_state=0)
    classifier = CalibratedClassifier(
        GaussianNB(), method=method, strategy=strategy, cv=3, random_state=0
    ).fit(X, y)
    parts = np.array_split(np.tile(X, (4, 1)), 5 * N_THREADS)
    expected = [classifier.predict_proba(part) for part in parts]
    with ThreadPoolExecutor(N_THREADS) as executor:
        found = list(executor.map(classifier.predict_proba, parts))
    for each, same in zip(found, expected, strict=True):
        np.testing.assert_array_equal(each, same)


def test_fits_in_threads_equal_those_in_turn():
    X, y = make_classification(120, n_informative=6, n_classes=3, random_state=1)

    def fit(seed):
        classifier = CalibratedClassifier(GaussianNB(), cv=3, random_state=seed)
        return classifier.fit(X, y).predict_proba(X)

    expected = [fit(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as executor:
        for each, same in zip(executor.map(fit, range(4)), expected, strict=True):
            np.testing.assert_array_equal(each, same)
