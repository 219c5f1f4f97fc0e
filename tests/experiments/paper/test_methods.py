import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from experiments.paper.methods import BASELINE, CORRECT_METHODS, METHODS


def test_the_baseline_is_the_classifier_itself():
    classifier = GaussianNB()
    assert BASELINE.make_estimator(classifier, random_state=0) is classifier


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_the_other_methods_have_the_parameters_of_the_paper(method):
    if method == BASELINE:
        return
    model = method.make_estimator(GaussianNB(), random_state=3)
    assert isinstance(model, CalibratedClassifier)
    assert (model.strategy, model.cv, model.random_state) == (method.approach, "monte-carlo", 3)
    assert model.method == ("enir" if method.is_calibrated else None)


def test_faulty_versions_differ_only_in_the_coupling():
    faulty = [method for method in METHODS.values() if method.has_faulty_coupling]
    assert len(faulty) == 2
    for method in faulty:
        correct = METHODS[method.faulty_version_of]
        assert not correct.has_faulty_coupling
        assert (correct.approach, correct.is_calibrated) == (method.approach, method.is_calibrated)
        assert correct.published_name == method.published_name == correct.name
    assert len(CORRECT_METHODS) == 5
