import numpy as np
from sklearn.naive_bayes import GaussianNB

from calibrant.metrics import reliability_curve
from calibrant.plots import ReliabilityDisplay


def test_the_numbers_of_the_curve_are_drawn(waveform, series):
    X, y = waveform
    model = GaussianNB().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, of=1, n_bins=5)
    curve = reliability_curve(y, model.predict_proba(X), of=1, n_bins=5)
    (ax,) = display.axes_
    (line,) = series(ax)
    np.testing.assert_allclose(line.get_xdata(), curve.predicted)
    np.testing.assert_allclose(line.get_ydata(), curve.observed)
    assert line.get_label() == "GaussianNB"
    intervals = np.array(ax.collections[0].get_segments())
    np.testing.assert_allclose(intervals[:, :, 1], np.column_stack([curve.low, curve.high]))
    (histogram,) = ax.child_axes
    np.testing.assert_array_equal(histogram.patches[0].get_data().values, curve.histogram)
    assert curve.histogram.sum() == len(y)


def test_each_class_has_a_panel(waveform):
    X, y = waveform
    labels = np.array(["a", "b", "c"])
    model = GaussianNB().fit(X, labels[y])
    display = ReliabilityDisplay.from_estimator(model, X, labels[y], of="each-class")
    assert [ax.get_title() for ax in display.axes_] == ["class a", "class b", "class c"]
    expected = reliability_curve(labels[y], model.predict_proba(X), of="b")
    np.testing.assert_array_equal(display.curves["class b"].observed, expected.observed)


def test_panels_can_be_drawn_on_again(waveform, series):
    X, y = waveform
    model = GaussianNB().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, of="each-class")
    other = ReliabilityDisplay.from_estimator(
        model, X, y, of="each-class", ax=display.axes_, n_bins=3
    )
    assert all(one is two for one, two in zip(display.axes_, other.axes_, strict=True))
    assert [len(series(ax)) for ax in other.axes_] == [2, 2, 2]


def test_the_legend_does_not_cover_the_histogram():
    # Curves on both sides of the diagonal leave no empty corner above the histogram.
    rng = np.random.default_rng(0)
    true = np.tile(np.linspace(0, 1, 1000), 2)
    y = (rng.uniform(size=2000) < true).astype(int)
    under = ReliabilityDisplay.from_predictions(y, true**3, of=1, name="underestimated")
    ReliabilityDisplay.from_predictions(y, true**0.3, of=1, name="overestimated", ax=under.axes_)
    (ax,) = under.axes_
    ax.figure.canvas.draw()
    (histogram,) = ax.child_axes
    legend = ax.get_legend().get_window_extent()
    assert not legend.overlaps(histogram.get_window_extent())
