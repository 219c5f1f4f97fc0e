import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from calibrant.report.descriptions import AVERAGE, describe_classifier, name_estimator


@pytest.fixture(scope="module")
def rows():
    return make_waveform(60, random_state=0)


def describe(rows, estimator, groups=None, **parameters):
    model = CalibratedClassifier(estimator, random_state=0, **parameters)
    model.fit(*rows, groups=groups)
    return describe_classifier("it", model, *rows, groups)


def test_the_source_of_held_out_scores_is_named(rows):
    forest = RandomForestClassifier(100)
    found = describe(rows, forest, method="temperature")
    assert found.subject == "it (RandomForestClassifier)"
    assert found.sentence == (
        "{subjects} {were} calibrated by the method 'temperature', using held-out scores of the "
        "training rows (out-of-bag votes)."
    )
    groups = np.arange(60) // 2
    assert "(votes of small ensembles" in describe(rows, forest, groups, method="sigmoid").sentence
    assert "(cross-validation)" in describe(rows, GaussianNB(), method="sigmoid", cv=3).sentence
    found = describe(rows, GaussianNB(), method="enir", strategy="one-vs-rest")
    assert "with the one-vs-rest strategy by the method 'enir'" in found.sentence
    assert "(Monte Carlo cross-validation)" in found.sentence


def test_the_default_and_its_votes_are_described(rows):
    sentence = describe(rows, GaussianNB()).sentence
    assert f"calibrated by {AVERAGE}, using held-out scores" in sentence
    assert "in part with resampled training rows" in sentence
    assert "refitted for this purpose also predict" in sentence
    alone = describe(rows, GaussianNB(), ensemble=False).sentence
    assert "also predict" not in alone
    assert "(repeated cross-validation)" in alone


def test_no_calibration_and_frozen_models_are_described(rows):
    found = describe(rows, GaussianNB(), method=None)
    assert found.sentence == "{subjects} {were} fitted, without calibration."
    frozen = FrozenEstimator(GaussianNB().fit(*make_waveform(60, random_state=1)))
    found = describe(rows, frozen, method="temperature")
    assert found.subject == "it (GaussianNB)"
    assert found.sentence.endswith("by a model that had been fitted before.")


def test_estimators_are_named_with_the_parameters_that_were_changed():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=0.5, max_iter=1000))
    assert name_estimator(pipeline) == "LogisticRegression(C=0.5, max_iter=1000)"
    assert name_estimator(GaussianNB(priors=list(np.full(300, 1 / 300)))) == "GaussianNB"
    assert name_estimator(object()) == "object"
