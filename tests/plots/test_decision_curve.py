import numpy as np
from sklearn.naive_bayes import GaussianNB

from calibrant.decisions import decision_curve
from calibrant.plots import DecisionCurveDisplay


def test_net_benefit_its_band_and_treating_all_are_drawn(waveform):
    X, y = waveform
    model = GaussianNB().fit(X, y)
    display = DecisionCurveDisplay.from_estimator(model, X, y, of=1, thresholds=[0.1, 0.3, 0.5])
    curve = decision_curve(y, model.predict_proba(X), of=1, thresholds=[0.1, 0.3, 0.5])
    (ax,) = display.axes_
    treat_all, treat_none, line = ax.lines
    np.testing.assert_allclose(treat_all.get_ydata(), curve.treat_all)
    np.testing.assert_allclose(treat_none.get_ydata(), 0.0)
    np.testing.assert_allclose(line.get_ydata(), curve.net_benefit)
    assert line.get_label() == "GaussianNB"
    corners = ax.collections[0].get_paths()[0].vertices
    assert corners[:, 1].min() == curve.low.min()


def test_two_models_share_their_panels(waveform, check_layout):
    X, y = waveform
    proba = GaussianNB().fit(X, y).predict_proba(X)
    first = DecisionCurveDisplay.from_predictions(y, proba, name="one")
    flat = np.full_like(proba, 1 / 3)
    second = DecisionCurveDisplay.from_predictions(y, flat, name="two", ax=first.axes_)
    assert [len(ax.lines) for ax in second.axes_] == [4, 4, 4]
    check_layout(first.axes_[0].figure)
