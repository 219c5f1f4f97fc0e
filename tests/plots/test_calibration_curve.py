import numpy as np
from sklearn.naive_bayes import GaussianNB

from calibrant.metrics import smooth_calibration_curve
from calibrant.plots import CalibrationCurveDisplay


def test_the_curve_the_band_and_the_histogram_are_drawn(waveform, series):
    X, y = waveform
    model = GaussianNB().fit(X, y)
    display = CalibrationCurveDisplay.from_estimator(model, X, y, of=1, level=0.8)
    curve = smooth_calibration_curve(y, model.predict_proba(X), of=1, level=0.8)
    (ax,) = display.axes_
    (line,) = series(ax)
    np.testing.assert_allclose(line.get_ydata(), curve.observed)
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].min() == curve.low.min()
    assert corners[:, 1].max() == curve.high.max()
    (histogram,) = ax.child_axes
    np.testing.assert_array_equal(histogram.patches[0].get_data().values, curve.histogram)


def test_panels_are_classes_the_second_of_two_or_a_pair(waveform, check_layout):
    X, y = waveform
    proba = GaussianNB().fit(X, y).predict_proba(X)
    every = CalibrationCurveDisplay.from_predictions(y, proba)
    assert [ax.get_title() for ax in every.axes_] == ["class 0", "class 1", "class 2"]
    check_layout(every.axes_[0].figure)
    pair = CalibrationCurveDisplay.from_predictions(y, proba, of=(0, 2))
    assert [ax.get_title() for ax in pair.axes_] == ["class 0 or 2"]
    two = CalibrationCurveDisplay.from_predictions(y == 1, proba[:, 1])
    assert [ax.get_title() for ax in two.axes_] == ["class True"]
