import warnings

import pytest
from sklearn import config_context
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from calibrant import CalibratedClassifier
from calibrant._core.routing import route_fit
from calibrant.exceptions import CalibrationWarning

WEIGHT, GROUPS = [1.0, 2.0], ["a", "b"]


def route(estimator, cv=3, **fit_params):
    owner = CalibratedClassifier(estimator, cv=cv)
    return route_fit(owner, estimator, WEIGHT, GROUPS, fit_params)


def test_weights_go_to_the_estimator_and_groups_to_the_splitter():
    fit_params, split_params = route(GaussianNB(), other=3)
    assert fit_params == {"sample_weight": WEIGHT, "other": 3}
    assert split_params == {"groups": GROUPS}


def test_an_estimator_that_does_not_accept_weights_is_named_in_a_warning():
    with pytest.warns(CalibrationWarning, match=r"KNeighborsClassifier\.fit does not accept"):
        fit_params, _ = route(KNeighborsClassifier())
    assert fit_params == {}


def test_an_estimator_that_is_not_refitted_gets_no_weights_and_causes_no_warning():
    frozen = FrozenEstimator(KNeighborsClassifier().fit([[0], [1]], [0, 1]))
    owner = CalibratedClassifier(frozen)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_params, _ = route_fit(owner, frozen, WEIGHT, GROUPS, {}, refits=False)
    assert fit_params == {}


@pytest.mark.parametrize("requested", [True, False])
def test_with_metadata_routing_parameters_go_where_they_are_requested(requested):
    with config_context(enable_metadata_routing=True):
        estimator = GaussianNB().set_fit_request(sample_weight=requested)
        splitter = GroupKFold(2).set_split_request(groups=requested)
        fit_params, split_params = route(estimator, splitter)
    assert fit_params == ({"sample_weight": WEIGHT} if requested else {})
    assert split_params == ({"groups": GROUPS} if requested else {})
