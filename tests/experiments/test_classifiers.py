import pytest

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from experiments.classifiers import CLASSIFIERS, make_forest


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_the_registry_knows_which_classifiers_are_refitted(classifier, monkeypatch):
    X, y = make_waveform(100, random_state=0)
    estimator = classifier.make(0, 50)
    kind = type(estimator)
    plain_fit, n_fits = kind.fit, 0

    def counted_fit(self, *args, **kwargs):
        nonlocal n_fits
        n_fits += 1
        return plain_fit(self, *args, **kwargs)

    monkeypatch.setattr(kind, "fit", counted_fit)
    CalibratedClassifier(estimator, method="temperature").fit(X, y)
    # Closed forms are checked against one refit.
    assert (n_fits > 2) == classifier.needs_refits


def test_names_and_titles_are_unique():
    assert all(name == classifier.name for name, classifier in CLASSIFIERS.items())
    assert len({classifier.title for classifier in CLASSIFIERS.values()}) == len(CLASSIFIERS)


def test_a_forest_has_its_seed_and_its_trees():
    parameters = make_forest(3, 70).get_params()
    assert (parameters["random_state"], parameters["n_estimators"]) == (3, 70)
