import matplotlib as mpl
import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant.datasets import make_waveform
from calibrant.metrics import reliability_curve
from calibrant.plots import ReliabilityDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    mpl.pyplot.close("all")


def test_draws_the_points_of_the_curve():
    X, y = make_waveform(200, random_state=0)
    model = GaussianNB().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, of=1, n_bins=5)
    curve = reliability_curve(y, model.predict_proba(X), of=1, n_bins=5)
    drawn = display.ax_.lines[-1]
    np.testing.assert_allclose(drawn.get_xdata(), curve.predicted)
    np.testing.assert_allclose(drawn.get_ydata(), curve.observed)
    assert drawn.get_label() == "GaussianNB"


def test_several_curves_share_axes_and_one_diagonal():
    y, proba = [0, 1, 0, 1], np.array([0.2, 0.7, 0.4, 0.9])
    first = ReliabilityDisplay.from_predictions(y, proba, name="one")
    second = ReliabilityDisplay.from_predictions(y, 1 - proba, name="other", ax=first.ax_)
    assert second.ax_ is first.ax_
    labels = [line.get_label() for line in first.ax_.lines]
    assert labels == ["perfect", "one", "other"]
