from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier
from calibrant.calibrators import ENIR, TemperatureScaling
from calibrant.datasets import make_waveform
from calibrant.metrics import reliability_curve
from calibrant.plots import CalibrationMapDisplay, ComparisonDisplay, ReliabilityDisplay
from calibrant.plots.panels import SERIES

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    mpl.pyplot.close("all")


@pytest.fixture
def rows():
    return make_waveform(200, random_state=0)


def series(ax):
    return [line for line in ax.lines if line.get_gid() == SERIES]


def assert_nothing_overlaps_or_leaves_the_figure(figure):
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    boxes = []
    for ax in figure.axes:
        texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
        for counts in ax.child_axes:
            texts.append(counts.yaxis.label)
        boxes += [
            text.get_window_extent(renderer).padded(-0.5) for text in texts if text.get_text()
        ]
    for place, box in enumerate(boxes):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[:place])


def test_reliability_draws_the_numbers_of_the_curve(rows):
    X, y = rows
    model = GaussianNB().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, of=1, n_bins=5)
    curve = reliability_curve(y, model.predict_proba(X), of=1, n_bins=5)
    (ax,) = display.axes_
    (drawn,) = series(ax)
    np.testing.assert_allclose(drawn.get_xdata(), curve.predicted)
    np.testing.assert_allclose(drawn.get_ydata(), curve.observed)
    assert drawn.get_label() == "GaussianNB"
    intervals = np.array(ax.collections[0].get_segments())
    np.testing.assert_allclose(intervals[:, :, 1], np.column_stack([curve.low, curve.high]))
    (counts,) = ax.child_axes
    np.testing.assert_array_equal(counts.patches[0].get_data().values, curve.histogram)
    assert curve.histogram.sum() == len(y)


def test_several_curves_share_panels_and_one_diagonal():
    y, proba = [0, 1, 0, 1], np.array([0.2, 0.7, 0.4, 0.9])
    first = ReliabilityDisplay.from_predictions(y, proba, name="one")
    second = ReliabilityDisplay.from_predictions(y, 1 - proba, name="other", ax=first.axes_)
    (ax,) = second.axes_
    assert ax is first.axes_[0]
    assert [line.get_label() for line in series(ax)] == ["one", "other"]
    assert len(ax.lines) == 3
    assert len(ax.child_axes) == 1
    assert len({line.get_color() for line in series(ax)}) == 2
    assert len({line.get_marker() for line in series(ax)}) == 2


def test_every_class_gets_a_panel(rows):
    X, y = rows
    labels = np.array(["a", "b", "c"])
    model = GaussianNB().fit(X, labels[y])
    display = ReliabilityDisplay.from_estimator(model, X, labels[y], of="each-class")
    assert [ax.get_title() for ax in display.axes_] == ["class a", "class b", "class c"]
    expected = reliability_curve(labels[y], model.predict_proba(X), of="b")
    np.testing.assert_array_equal(display.curves["class b"].observed, expected.observed)
    other = ReliabilityDisplay.from_estimator(
        model, X, labels[y], of="each-class", ax=display.axes_, n_bins=3
    )
    assert other.axes_[2] is display.axes_[2]
    with pytest.raises(ValueError, match=r"one Axes for each of the 3 panels\. Got 1"):
        other.plot(display.axes_[0])


def test_names_stay_text():
    y = np.tile([0, 1, 2], 20)
    labels = np.array(["$x^2$", "<b>&amp;</b>", "_private"])
    display = ReliabilityDisplay.from_predictions(
        labels[y], np.full((len(y), 3), 1 / 3), of="each-class", name="$a_1$"
    )
    ax = display.axes_[0]
    assert ax.get_title() == "class $x^2$"
    assert not ax.title.get_parse_math()
    assert not any(text.get_parse_math() for text in ax.get_legend().get_texts())


@pytest.mark.parametrize("n_classes", [1, 3, 7])
def test_labels_do_not_overlap(n_classes):
    rng = np.random.default_rng(0)
    names = np.array([f"a class whose name is rather long, number {k}" for k in range(7)])
    y = names[rng.integers(7, size=300)]
    proba = rng.dirichlet(np.ones(7), size=300)
    if n_classes == 1:
        display = ReliabilityDisplay.from_predictions(y, proba, name="one")
        assert_nothing_overlaps_or_leaves_the_figure(display.axes_[0].figure)
    else:
        y = names[np.searchsorted(names, y) % n_classes]
        proba = proba[:, :n_classes] / proba[:, :n_classes].sum(axis=1, keepdims=True)
        display = ReliabilityDisplay.from_predictions(y, proba, of="each-class")
        assert_nothing_overlaps_or_leaves_the_figure(display.axes_[0].figure)
        display = CalibrationMapDisplay.from_predictions(proba, proba, labels=names[:n_classes])
        assert_nothing_overlaps_or_leaves_the_figure(display.axes_[0].figure)


def test_map_of_a_classifier_shows_before_and_after(rows):
    X, y = rows
    model = CalibratedClassifier(GaussianNB(), method="temperature", random_state=0).fit(X, y)
    display = CalibrationMapDisplay.from_estimator(model, X)
    before, after = model.estimators_[0].predict_proba(X), model.predict_proba(X)
    for k, ax in enumerate(display.axes_):
        assert ax.get_title() == f"class {k}"
        (drawn,) = series(ax)
        np.testing.assert_allclose(drawn.get_xdata(), before[:, k], atol=1e-12)
        np.testing.assert_allclose(drawn.get_ydata(), after[:, k])
    assert model.calibrators_ is not None


@pytest.mark.parametrize("strategy", ["one-vs-rest", "all-pairs"])
def test_map_of_a_classifier_of_binary_problems_shows_its_classes(strategy, rows):
    X, y = rows
    options = {"strategy": strategy, "random_state": 0}
    model = CalibratedClassifier(GaussianNB(), method="sigmoid", **options).fit(X, y)
    bare = CalibratedClassifier(GaussianNB(), method=None, **options).fit(X, y)
    display = CalibrationMapDisplay.from_estimator(model, X)
    before, after = display.maps["class 1"]
    np.testing.assert_allclose(before, bare.predict_proba(X)[:, 1])
    np.testing.assert_allclose(after, model.predict_proba(X)[:, 1])


def test_binary_problems_without_probabilities_get_one_clear_error(rows):
    X, y = rows
    model = CalibratedClassifier(LinearSVC(), strategy="one-vs-rest", method="sigmoid", cv=2)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"LinearSVC has no predict_proba\. Draw its calibrators_"):
        CalibrationMapDisplay.from_estimator(model, X)


def test_map_of_a_single_score_is_its_curve(rows):
    X, y = rows
    score = GaussianNB().fit(X, y).predict_proba(X)[:, 0]
    calibrator = ENIR().fit(score, y == 0)
    display = CalibrationMapDisplay.from_estimator(calibrator, score, name="ENIR")
    (drawn,) = series(display.axes_[0])
    np.testing.assert_allclose(drawn.get_ydata(), calibrator.predict(drawn.get_xdata()))
    assert drawn.get_xdata()[0] == score.min()
    assert drawn.get_xdata()[-1] == score.max()
    assert len(display.axes_[0].lines) == 2  # the diagonal too
    logit = np.log(score + 1e-9) - np.log(1 - score + 1e-9)
    display = CalibrationMapDisplay.from_estimator(ENIR().fit(logit, y == 0), logit)
    assert len(display.axes_[0].lines) == 1  # scores on another scale have no diagonal


def test_map_of_a_calibrator_of_rows(rows):
    X, y = rows
    score = GaussianNB().fit(X, y).predict_proba(X)
    calibrator = TemperatureScaling().fit(score, y)
    display = CalibrationMapDisplay.from_estimator(calibrator, score)
    before, after = display.maps["class 2"]
    np.testing.assert_array_equal(before, score[:, 2])
    np.testing.assert_array_equal(after, calibrator.predict_proba(score)[:, 2])


def test_maps_of_different_rows_get_one_clear_error():
    with pytest.raises(ValueError, match=r"Got shapes \(3, 2\) and \(2, 2\)"):
        CalibrationMapDisplay.from_predictions(np.ones((3, 2)), np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"each of the 2 columns\. Got 3"):
        CalibrationMapDisplay.from_predictions(
            np.ones((3, 2)), np.ones((3, 2)), labels=["a", "b", "c"]
        )


def test_critical_difference_diagram_shows_which_methods_differ():
    losses = np.tile(np.arange(4.0), (30, 1)) + np.random.default_rng(0).normal(size=(30, 4))
    display = ComparisonDisplay.from_losses(losses, ["a", "b", "c", "$d$"])
    ax, ranks = display.ax_, display.comparison.mean_rank
    order = np.argsort(ranks)
    drawn = [text.get_text() for text in ax.get_yticklabels()]
    assert drawn == [["a", "b", "c", "$d$"][method] for method in order]
    points = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose([point.get_xdata()[0] for point in points], ranks[order])
    bars = np.array([line.get_xdata() for line in ax.lines if line.get_marker() != "o"])
    np.testing.assert_allclose(np.ptp(bars, axis=1), display.comparison.critical_difference)
    # Bars overlap where methods share a clique, and nowhere else.
    cliques = display.comparison.cliques()
    for first in range(4):
        for second in range(first):
            together = any({order[first], order[second]} <= set(clique) for clique in cliques)
            assert (bars[first][0] <= bars[second][1]) == together
    filled = [point.get_markerfacecolor() != "white" for point in points]
    assert filled == [bar[0] <= bars[0][1] for bar in bars]


def test_many_methods_with_long_names_stay_in_the_figure():
    losses = np.random.default_rng(0).normal(size=(20, 30)) + np.arange(30) / 10
    names = [f"a method with a long name, {k}" for k in range(30)]
    figure = ComparisonDisplay.from_losses(losses, names).ax_.figure
    assert_nothing_overlaps_or_leaves_the_figure(figure)
    labels = figure.axes[0].get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert min(box.x0 for box in boxes) >= 0
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))
