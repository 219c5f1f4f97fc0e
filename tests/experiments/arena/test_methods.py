from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.generation import RepeatedFolds
from experiments.arena.methods import (
    CLASSIFIER_OF,
    DEFAULT_SPLITS,
    GENERAL_METHODS,
    METHODS,
    OUT_OF_BAG_METHODS,
    PAPER_METHODS,
    SPLITS_METHODS,
    calibrant_method,
)
from experiments.arena.peers import PEERS, SVM_PEERS
from experiments.classifiers import CLASSIFIERS


@pytest.mark.parametrize("name", [name for name in GENERAL_METHODS if name not in PEERS])
def test_every_method_of_calibrant_returns_probabilities(name, make_input):
    given = make_input()
    proba = METHODS[name](given)
    assert proba.shape == (len(given.X_test), 3)
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("estimator", "needs_refits"),
    [(GaussianNB(), False), (LogisticRegression(max_iter=1000), True)],
)
def test_a_method_gives_what_the_library_gives(estimator, needs_refits, make_input):
    given = make_input(estimator, needs_refits=needs_refits)
    model = CalibratedClassifier(estimator, method="temperature", random_state=0)
    expected = model.fit(given.X, given.y).predict_proba(given.X_test)
    proba = calibrant_method("temperature")(given)
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-12)


def test_only_refits_that_other_methods_share_are_cached(make_input):
    def n_cached(method, *, needs_refits):
        given = make_input(needs_refits=needs_refits)
        method(given)
        return len(given.classifier.cache.models)

    assert n_cached(calibrant_method("temperature"), needs_refits=True) > 10
    assert n_cached(calibrant_method("temperature"), needs_refits=False) == 0
    assert n_cached(calibrant_method("temperature", RepeatedFolds()), needs_refits=True) == 0


@pytest.mark.parametrize("name", SPLITS_METHODS)
def test_every_method_with_other_splits_returns_probabilities(name, make_input):
    given = make_input()
    proba = METHODS[name](given)
    assert proba.shape == (len(given.X_test), 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_methods_with_other_splits_have_their_number_of_fits_and_share_them(make_input):
    given = make_input()
    n_fits = []
    for name in ("5 folds, 10 fits", "5 folds, 20 fits", "5 folds, 20 fits, no votes"):
        METHODS[name](given)
        n_fits.append(len(given.classifier.cache.models))
    # One more model is fitted on all rows.
    assert n_fits == [11, 21, 21]


def test_the_reference_splits_are_those_of_the_default(make_input):
    given = make_input()
    np.testing.assert_array_equal(METHODS[DEFAULT_SPLITS](given), METHODS["auto"](given))


def test_no_method_is_lost_where_groups_of_methods_share_names():
    groups = [{**GENERAL_METHODS, **PAPER_METHODS, **SVM_PEERS}, OUT_OF_BAG_METHODS, SPLITS_METHODS]
    assert set(METHODS) == set().union(*groups)
    for one, another in combinations(groups, 2):
        assert set(one) & set(another) == {"raw"}
    assert METHODS["raw"] is GENERAL_METHODS["raw"]


def test_methods_for_one_classifier_name_a_known_one():
    assert set(CLASSIFIER_OF) == {*PAPER_METHODS, *SVM_PEERS}
    assert set(CLASSIFIER_OF.values()) <= set(CLASSIFIERS)
