import matplotlib as mpl
import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant.datasets import make_waveform
from calibrant.metrics import reliability_curve
from calibrant.plots import ComparisonDisplay, ReliabilityDisplay

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


def test_critical_difference_diagram_joins_what_does_not_differ():
    losses = np.tile(np.arange(4.0), (30, 1)) + np.random.default_rng(0).normal(size=(30, 4))
    display = ComparisonDisplay.from_losses(losses, ["a", "b", "c", "d"])
    drawn = [text.get_text() for text in display.ax_.texts]
    ranks = display.comparison.mean_rank
    assert sorted(drawn) == [
        f"{name} ({rank:.2f})" for name, rank in zip("abcd", ranks, strict=True)
    ]
    points = [line for line in display.ax_.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(sorted(float(p.get_xdata()[0]) for p in points), sorted(ranks))
    bars = [line for line in display.ax_.lines if line.get_marker() != "o"]
    assert len(bars) == 2 * len(display.comparison.cliques())
