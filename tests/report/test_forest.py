import re

import numpy as np

from calibrant.metrics import Interval
from calibrant.report.forest import ForestLine, draw_forest

LINES = [
    ForestLine("all rows", "first", "uncalibrated", Interval(0.01, -0.02, 0.05)),
    ForestLine("all rows", "second", "calibrated", Interval(-0.03, -0.08, 0.02)),
    ForestLine("a <name> that is long", "first", "uncalibrated", Interval(0.1, -0.04, 0.14)),
    ForestLine("a <name> that is long", "second", "calibrated", Interval(0.0, -0.1, 0.1)),
]


def test_marks_are_in_proportion_to_the_differences():
    drawn = draw_forest(LINES, "a label")
    places = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="3.5" class="mark">', drawn)
    x, y = np.array(places, dtype=float).T
    expected = np.array([each.interval.estimate for each in LINES])
    slope, center = np.polyfit(expected, x, 1)
    np.testing.assert_allclose(x, center + slope * expected, atol=0.02)
    assert np.all(np.diff(y) > 0)
    ends = re.findall(r'd="M([\d.]+),[\d.]+H([\d.]+)"', drawn)
    for each, (low, high) in zip(LINES, ends, strict=True):
        np.testing.assert_allclose(
            [float(low), float(high)], center + slope * np.array(tuple(each.interval)), atol=0.1
        )
    zero = re.search(r'<line x1="([\d.]+)" [^>]* class="ideal">', drawn)
    np.testing.assert_allclose(float(zero.group(1)), center, atol=0.02)


def test_everything_is_inside_the_picture_and_named_once():
    drawn = draw_forest(LINES, "a label")
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn).groups())
    for name, limit in (("x", width), ("cx", width), ("y", height), ("cy", height)):
        values = [float(each) for each in re.findall(rf' {name}="([\d.]+)"', drawn)]
        assert values
        assert max(values) <= limit
    assert drawn.count(">all rows<") == 1
    assert "a &lt;name&gt; that …" in drawn
    assert 'data-tip="a &lt;name&gt; that is long, second: 0.0 points (95% interval: ' in drawn
    assert 'aria-label="a label"' in drawn


def test_ticks_suit_small_and_large_differences():
    for size in (0.001, 0.02, 0.3, 1.0):
        drawn = draw_forest([ForestLine("x", "", "calibrated", Interval(0.0, -size, size))], "x")
        ticks = re.findall(r'class="middle">([^<]*)<', drawn)
        assert "0" in ticks
        assert 3 <= len(ticks) <= 7
        assert 'data-tip="x: 0.0 points' in drawn
