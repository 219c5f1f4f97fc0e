import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.plots import InstabilityDisplay


@pytest.fixture
def model(waveform):
    return CalibratedClassifier(GaussianNB(), random_state=0).fit(*waveform)


def test_each_row_is_drawn_for_each_resampled_model(model, waveform, check_layout):
    X = waveform[0][:20]
    display = InstabilityDisplay.from_estimator(model, X)
    proba, resampled = model.predict_proba(X), model.predict_resampled_proba(X)
    interval = model.predict_interval(X)
    for k, ax in enumerate(display.axes_):
        _, dots, bars = ax.lines
        np.testing.assert_allclose(dots.get_xdata().reshape(len(resampled), 20)[3], proba[:, k])
        np.testing.assert_allclose(dots.get_ydata().reshape(-1, 20), resampled[:, :, k])
        np.testing.assert_allclose(bars.get_ydata().reshape(20, 3)[:, :2], interval[:, k])
    check_layout(display.axes_[0].figure)


def test_forests_have_intervals_only(waveform):
    X, y = waveform
    forest = CalibratedClassifier(RandomForestClassifier(50, random_state=0)).fit(X, y)
    display = InstabilityDisplay.from_estimator(forest, X[:10])
    assert [len(line.get_xdata()) for line in display.axes_[0].lines] == [2, 0, 30]


def test_two_classes_share_one_panel():
    proba = np.array([[0.2, 0.8], [0.6, 0.4]])
    display = InstabilityDisplay.from_predictions(proba, proba[None], labels=["no", "yes"])
    (ax,) = display.axes_
    assert ax.get_title() == "class yes"
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [0.8, 0.4])


def test_shapes_must_agree():
    proba = np.full((4, 2), 0.5)
    with pytest.raises(ValueError, match="resampled must have the rows and classes of proba"):
        InstabilityDisplay.from_predictions(proba, np.full((3, 5, 2), 0.5))
    with pytest.raises(ValueError, match="interval must have the rows and classes of proba"):
        InstabilityDisplay.from_predictions(proba, interval=np.full((4, 2), 0.5))
    with pytest.raises(ValueError, match="labels must name each of the 2 columns"):
        InstabilityDisplay.from_predictions(proba, labels=["a"])
