"""Fitted models can be used by several threads at once."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from tests.persistence.zoo import apply, fitted_models

N_THREADS = 8


@pytest.fixture
def frequent_switches():
    """Let threads take turns often, so that they meet in the middle of a function."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.filterwarnings("ignore")  # of the fits
@pytest.mark.usefixtures("frequent_switches")
def test_eight_threads_get_the_rows_of_one():
    models = [fitted for fitted in fitted_models() if hasattr(fitted.model, "predict_proba")]
    assert len(models) > 60
    with ThreadPoolExecutor(N_THREADS) as threads:
        for fitted in models:
            expected = apply(fitted.model, fitted.rows)
            for proba in threads.map(apply, [fitted.model] * N_THREADS, [fitted.rows] * N_THREADS):
                np.testing.assert_array_equal(proba, expected, fitted.name)


def test_fits_in_threads_equal_those_in_turn():
    X, y = make_classification(120, n_informative=6, n_classes=3, random_state=1)

    def fit(seed):
        classifier = CalibratedClassifier(GaussianNB(), cv=3, random_state=seed)
        return classifier.fit(X, y).predict_proba(X)

    expected = [fit(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as executor:
        for each, same in zip(executor.map(fit, range(4)), expected, strict=True):
            np.testing.assert_array_equal(each, same)
