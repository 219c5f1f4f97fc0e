from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from experiments.arena.peers import (
    PEERS,
    check_peers,
    on_held_out_scores,
    predict_uncalibrated,
    scikit_learn,
    svc_probability,
)


def test_uncalibrated_probabilities_are_those_of_the_classifier(make_input):
    given = make_input()
    expected = GaussianNB().fit(given.X, given.y).predict_proba(given.X_test)
    np.testing.assert_array_equal(predict_uncalibrated(given), expected)


def test_decision_values_become_probabilities_by_softmax(make_input):
    given = make_input(LinearSVC(random_state=0))
    model = LinearSVC(random_state=0).fit(given.X, given.y)
    expected = softmax(model.decision_function(given.X_test), axis=1)
    np.testing.assert_allclose(predict_uncalibrated(given), expected)
    two = replace(given, y=np.minimum(given.y, 1))
    decision = LinearSVC(random_state=0).fit(two.X, two.y).decision_function(two.X_test)
    expected = softmax(np.column_stack([-decision, decision]), axis=1)
    np.testing.assert_allclose(predict_uncalibrated(two), expected)


@pytest.mark.parametrize("ensemble", [False, True])
def test_scikit_learns_calibration_has_its_default_folds(ensemble, make_input):
    given = make_input()
    model = CalibratedClassifierCV(GaussianNB(), method="isotonic", ensemble=ensemble)
    expected = model.fit(given.X, given.y).predict_proba(given.X_test)
    proba = scikit_learn("isotonic", ensemble)(given)
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-12)


def test_the_defaults_of_scikit_learn_are_the_method_of_that_name(make_input):
    given = make_input()
    expected = CalibratedClassifierCV(GaussianNB()).fit(given.X, given.y)
    proba = PEERS["scikit-learn sigmoid, ensemble (default)"](given)
    np.testing.assert_allclose(proba, expected.predict_proba(given.X_test), rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")
def test_the_support_vector_machine_has_probabilities_of_libsvm(make_input):
    given = make_input(SVC(C=2.0))
    expected = SVC(C=2.0, probability=True, random_state=given.seed).fit(given.X, given.y)
    np.testing.assert_array_equal(svc_probability(given), expected.predict_proba(given.X_test))
    assert not hasattr(given.uncached_classifier, "predict_proba")


def test_score_methods_get_held_out_scores_of_every_row(make_input):
    from sklearn.model_selection import StratifiedKFold

    given = make_input()
    seen = {}

    def calibrate(held_out, y, score):
        seen.update(held_out=held_out, y=y)
        return score

    proba = on_held_out_scores(calibrate)(given)
    np.testing.assert_array_equal(proba, predict_uncalibrated(given))
    folds = StratifiedKFold(10, shuffle=True, random_state=given.seed)
    expected = cross_val_predict(GaussianNB(), given.X, given.y, cv=folds, method="predict_proba")
    np.testing.assert_allclose(seen["held_out"], expected)
    np.testing.assert_array_equal(seen["y"], given.y)


def test_a_class_missing_from_a_fold_has_a_score_of_zero(make_input):
    given = make_input()
    y = given.y.copy()
    y[0] = 3  # the only row of its class
    seen = {}

    def calibrate(held_out, y, score):
        seen["held_out"] = held_out
        return score

    with pytest.warns(UserWarning, match="least populated class"):
        on_held_out_scores(calibrate)(replace(given, y=y))
    assert seen["held_out"].shape == (80, 4)
    assert seen["held_out"][0, 3] == 0
    with pytest.warns(UserWarning, match="least populated class"):
        on_held_out_scores(calibrate, needs_all_classes=False)(replace(given, y=y))
    assert seen["held_out"].shape == (79, 4)


def test_missing_packages_are_named(monkeypatch):
    installed = {"probmetrics", "netcal"}
    monkeypatch.setattr(
        "experiments.arena.peers.find_spec", lambda name: name if name in installed else None
    )
    with pytest.raises(ValueError, match=r"but venn_abers is not installed\. Run it with: make"):
        check_peers()
    installed.add("venn_abers")
    check_peers()
