import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier, load, save
from calibrant.calibrators import UpdateCalibrator, UpdateChoice
from calibrant.datasets import make_waveform
from calibrant.metrics import log_loss
from calibrant.updating import UpdatedClassifier

QUICK = UpdateCalibrator(n_resamples=99)


def shifted_rows(n_rows, seed):
    """Rows in which nine of ten rows of the first class are missing."""
    X, y = make_waveform(n_rows, random_state=seed)
    kept = (y > 0) | (np.arange(n_rows) % 10 == 0)
    return X[kept], y[kept]


@pytest.fixture(scope="module")
def model():
    return CalibratedClassifier(GaussianNB(), random_state=0).fit(
        *make_waveform(500, random_state=0)
    )


def test_an_update_lowers_the_log_loss_of_other_rows(model):
    updated = UpdatedClassifier(model, calibrator=QUICK).fit(*shifted_rows(600, 1))
    X, y = shifted_rows(3000, 2)
    before, after = (log_loss(y, each.predict_proba(X)) for each in (model, updated))
    assert after < before - 0.03
    assert np.array_equal(updated.predict(X), updated.classes_[updated.predict_proba(X).argmax(1)])


def test_the_update_is_that_of_the_calibrator_on_its_probabilities(model):
    X, y = shifted_rows(600, 1)
    updated = UpdatedClassifier(model, calibrator=QUICK).fit(X, y)
    expected = clone(QUICK).fit(model.predict_proba(X), y)
    assert updated.update_report_ == expected.report_
    assert np.array_equal(updated.predict_proba(X), expected.predict_proba(model.predict_proba(X)))


def test_labels_of_any_type_and_absent_classes_are_accepted():
    X, y = make_waveform(300, random_state=0)
    names = np.array(["low", "middle", "upper"])
    fitted = LogisticRegression(max_iter=1000).fit(X, names[y])
    new = y != 1
    updated = UpdatedClassifier(fitted, calibrator=QUICK).fit(X[new], names[y[new]])
    assert updated.update_report_.absent_classes == ("middle",)
    assert updated.classes_.tolist() == names.tolist()
    assert updated.update_report_.choice != UpdateChoice.NONE
    assert updated.predict_proba(X)[:, 1].mean() < fitted.predict_proba(X)[:, 1].mean()


def test_the_fitted_estimator_is_not_changed(model):
    X, y = shifted_rows(600, 1)
    before = model.predict_proba(X)
    UpdatedClassifier(model, calibrator=QUICK).fit(X, y)
    assert np.array_equal(model.predict_proba(X), before)


def test_a_frozen_estimator_survives_cloning(model):
    X, y = shifted_rows(600, 1)
    updated = clone(UpdatedClassifier(FrozenEstimator(model), calibrator=QUICK)).fit(X, y)
    direct = UpdatedClassifier(model, calibrator=QUICK).fit(X, y)
    assert np.array_equal(updated.predict_proba(X), direct.predict_proba(X))


def test_an_updated_classifier_is_saved_and_loaded(model, tmp_path):
    X, y = shifted_rows(600, 1)
    once = UpdatedClassifier(model, calibrator=QUICK).fit(X, y)
    twice = UpdatedClassifier(once, calibrator=QUICK).fit(*make_waveform(300, random_state=3))
    for number, updated in enumerate((once, twice)):
        save(updated, tmp_path / f"{number}.skops")
        loaded = load(tmp_path / f"{number}.skops")
        assert np.array_equal(loaded.predict_proba(X), updated.predict_proba(X))
        assert str(loaded.update_report_) == str(updated.update_report_)


def test_unknown_classes_are_refused(model):
    X, y = make_waveform(50, random_state=0)
    with pytest.raises(ValueError, match=r"only classes of the fitted .*\[0, 1, 2\], got \[7\]"):
        UpdatedClassifier(model).fit(X, np.where(y == 2, 7, y))


def test_an_estimator_that_is_not_fitted_is_refused():
    with pytest.raises(Exception, match="not fitted"):
        UpdatedClassifier(GaussianNB()).fit(*make_waveform(50, random_state=0))
