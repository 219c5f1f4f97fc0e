import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant.metrics import subgroup_calibration
from calibrant.plots import SubgroupCalibrationDisplay

QUICK = {"n_resamples": 99}


@pytest.fixture
def rows(waveform):
    """A fitted model, its rows and labels, and subgroups with odd names."""
    X, y = waveform
    return GaussianNB().fit(X, y), X, y, np.where(X[:, 0] > 0.3, "$x$", "<b>")


def test_every_interval_is_drawn_in_points(rows, check_layout):
    model, X, y, by = rows
    display = SubgroupCalibrationDisplay.from_estimator(model, X, y, by, **QUICK)
    found = subgroup_calibration(y, model.predict_proba(X), by, **QUICK)
    assert len(display.axes_) == 4
    for at, ax in enumerate(display.axes_):
        zero, *lines = ax.lines
        assert set(zero.get_xdata()) == {0.0}
        expected = [found.whole.difference[at]]
        for each in found.subgroups:
            expected += [each.difference[at], each.shrunken[at]]
        for interval, span, point in zip(expected, lines[::2], lines[1::2], strict=True):
            np.testing.assert_allclose(span.get_xdata(), [100 * each for each in interval])
            np.testing.assert_allclose(point.get_xdata(), 100 * interval.estimate)
    names = [text.get_text() for text in display.axes_[0].get_yticklabels()]
    assert names == ["all rows (200)"] + [f"{s.name} ({s.n_rows:g})" for s in found.subgroups]
    check_layout(display.axes_[0].figure)


def test_a_wrong_subgroup_has_another_color():
    rng = np.random.RandomState(0)
    proba, by = rng.uniform(0.2, 0.6, size=400), np.arange(400) % 2
    y = rng.uniform(size=400) < proba + 0.25 * by
    display = SubgroupCalibrationDisplay.from_predictions(y, proba, by, of=[True], **QUICK)
    (ax,) = display.axes_
    colors = [line.get_color() for line in ax.lines[1::2]]
    whole, first_raw, right, second_raw, wrong = colors
    assert first_raw == second_raw
    assert len({whole, first_raw, right, wrong}) == 4


def test_of_two_classes_the_second_is_drawn(rows):
    model, X, y, by = rows
    proba = model.predict_proba(X)[:, 0]
    display = SubgroupCalibrationDisplay.from_predictions(y == 0, proba, by, **QUICK)
    assert [ax.get_title() for ax in display.axes_] == ["class True", "most probable class"]


def test_unknown_events_are_refused(rows):
    model, X, y, by = rows
    with pytest.raises(ValueError, match=r"of must hold classes or 'top-label', .* got \[7\]"):
        SubgroupCalibrationDisplay.from_estimator(model, X, y, by, of=[7], **QUICK)
