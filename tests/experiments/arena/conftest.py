import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant.datasets import make_waveform
from experiments.arena.fit_cache import CachedClassifier, FitCache
from experiments.arena.inputs import MethodInput


@pytest.fixture
def make_input():
    """Make the input of a method: 80 training and 30 test rows of waveform data."""

    def make(estimator=None, *, needs_refits=True):
        X, y = make_waveform(80, random_state=0)
        X_test, _ = make_waveform(30, random_state=1)
        classifier = CachedClassifier(estimator or GaussianNB(), FitCache())
        return MethodInput(classifier, needs_refits, X, y, X_test, seed=0)

    return make
