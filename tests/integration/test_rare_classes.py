"""Classes with one, two or three rows, and classes that are missing from a fold."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier
from calibrant._core.probability_floor import apply_probability_floor
from calibrant.exceptions import CalibrationWarning
from calibrant.generation import MonteCarloCV

QUICK = MonteCarloCV(n_points=300, group_size=30)


def make_rows(rare_count, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(["common", "usual", "rare"], [30, 25, rare_count])
    center = {"common": 0.0, "usual": 2.0, "rare": 5.0}
    return rng.normal(size=(len(y), 3)) + np.array([[center[label]] for label in y]), y


def calibration_warnings(model, *data, **options):
    """Fit a model, and return the warnings about calibration."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*data, **options)
    return [warning for warning in caught if warning.category is CalibrationWarning]


def assert_positive_probabilities(model, X):
    proba = model.predict_proba(X)
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rare_count", [1, 2, 3])
@pytest.mark.parametrize("strategy", ["one-vs-rest", "all-pairs", "output-code", "direct"])
@pytest.mark.parametrize("cv", [QUICK, 5, KFold(5, shuffle=True, random_state=0)], ids=repr)
@pytest.mark.parametrize(
    "estimator", [GaussianNB(), RandomForestClassifier(5), LinearSVC()], ids=repr
)
def test_rare_classes_have_positive_probabilities_and_one_warning(
    rare_count, strategy, cv, estimator
):
    X, y = make_rows(rare_count)
    model = CalibratedClassifier(estimator, strategy=strategy, cv=cv, random_state=0)
    (warning,) = calibration_warnings(model, X, y)
    assert f"Classes with fewer than 4 rows: rare ({rare_count})" in str(warning.message)
    assert warning.filename == __file__
    assert_positive_probabilities(model, X)


@pytest.mark.parametrize("rare_count", [1, 2, 3])
def test_any_estimator_as_a_method_gives_rare_classes_positive_probabilities(rare_count):
    X, y = make_rows(rare_count)
    model = CalibratedClassifier(
        GaussianNB(), method=LogisticRegression(), strategy="direct", cv=QUICK, random_state=0
    )
    assert len(calibration_warnings(model, X, y)) == 1
    assert_positive_probabilities(model, X)


def test_the_problem_of_a_class_with_one_row_predicts_its_frequency():
    X, y = make_rows(1)
    model = CalibratedClassifier(GaussianNB(), strategy="one-vs-rest", cv=QUICK, random_state=0)
    (warning,) = calibration_warnings(model, X, y)
    assert "1 of 3 problems could not be calibrated" in str(warning.message)
    rare = list(model.classes_).index("rare")
    np.testing.assert_allclose(model.calibrators_[rare].predict(X[:, 0]), 1 / len(y))


def test_classes_with_enough_rows_do_not_warn():
    X, y = make_rows(4)
    assert calibration_warnings(CalibratedClassifier(GaussianNB(), cv=QUICK), X, y) == []


def test_uncalibrated_models_do_not_warn_about_rare_classes():
    X, y = make_rows(1)
    assert calibration_warnings(CalibratedClassifier(GaussianNB(), method=None), X, y) == []


@pytest.mark.parametrize("strategy", ["one-vs-rest", "all-pairs"])
def test_folds_may_lack_a_class(strategy):
    X, y = make_rows(12)
    # Rows are sorted by class and not shuffled, so the last folds have all rows of the rare class.
    model = CalibratedClassifier(GaussianNB(), strategy=strategy, cv=KFold(6))
    calibration_warnings(model, X, y)
    assert_positive_probabilities(model, X)


def test_all_rows_of_a_class_may_be_in_one_group():
    X, y = make_rows(12)
    groups = np.where(y == "rare", "site", np.arange(len(y)).astype(str))
    model = CalibratedClassifier(GaussianNB(), strategy="one-vs-rest", cv=GroupKFold(5))
    (warning,) = calibration_warnings(model, X, y, groups=groups)
    assert "1 of 3 problems could not be calibrated" in str(warning.message)
    assert "fewer than" not in str(warning.message)
    assert_positive_probabilities(model, X)
    direct = CalibratedClassifier(GaussianNB(), cv=GroupKFold(5))
    assert calibration_warnings(direct, X, y, groups=groups) == []
    assert direct.calibration_report_.rare_classes == ("rare",)
    assert_positive_probabilities(direct, X)


def test_many_rare_classes_at_once():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), [1, 1, 2, 2, 3, 3, 30, 40])
    X = rng.normal(size=(len(y), 4)) + y[:, None]
    for strategy in ("one-vs-rest", "all-pairs", "direct"):
        model = CalibratedClassifier(GaussianNB(), strategy=strategy, cv=QUICK, random_state=0)
        assert len(calibration_warnings(model, X, y)) == 1
        assert_positive_probabilities(model, X)


def test_probabilities_stay_uncalibrated_if_only_one_class_can_be_held_out():
    rng = np.random.default_rng(0)
    y = np.array([*["common"] * 40, "a", "b", "c"])
    X = 10.0 * (y[:, None] == np.unique(y)) + rng.normal(size=(43, 4))
    model = CalibratedClassifier(LogisticRegression(), random_state=0)
    (warning,) = calibration_warnings(model, X, y)
    assert "the estimator's probabilities are kept" in str(warning.message)
    raw = LogisticRegression().fit(X, y).predict_proba(X)
    expected = apply_probability_floor(raw, [1, 1, 1, 40])
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-12)
    assert model.calibration_report_.rare_classes == ("a", "b", "c")
    assert str(model.calibration_report_).startswith(
        "The probabilities are left uncalibrated, because rows of at least two"
    )


def test_the_report_is_that_of_the_last_fit():
    X, y = make_rows(12)
    model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    assert model.calibration_report_.n_rows > 0
    model.set_params(method="matrix").fit(X, y)
    assert model.calibration_report_.candidates == ("no calibration", "matrix")
    assert not hasattr(model.set_params(method=None).fit(X, y), "calibration_report_")


def test_every_row_may_be_a_group():
    X, y = make_rows(4)
    model = CalibratedClassifier(GaussianNB(), random_state=0)
    calibration_warnings(model, X, y, groups=np.arange(len(y)))
    assert_positive_probabilities(model, X)
    with pytest.raises(ValueError, match=r"at least two groups, got 1"):
        model.fit(X, y, groups=np.zeros(len(y)))
