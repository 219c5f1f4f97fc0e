import re
from dataclasses import replace

import numpy as np

from calibrant.report import analyze
from calibrant.report.figures import define_axes, draw_reliability, draw_sketch


def test_a_reliability_diagram_has_a_mark_at_each_point(make_evaluation):
    curve = analyze(make_evaluation(("a", "b"))).models[0].reliability[0].calibrated
    drawn = draw_reliability(curve, "calibrated", "a label")
    marks = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="5" class="mark">', drawn)
    x, y = np.array(marks, dtype=float).T
    np.testing.assert_allclose(np.diff(x), 284 * np.diff(curve.predicted), atol=0.02)
    np.testing.assert_allclose(np.diff(y), -284 * np.diff(curve.observed), atol=0.02)
    tips = re.findall(r'data-tip="Predicted [^"]* (\d+) rows?"', drawn)
    assert [int(n) for n in tips] == curve.count.tolist()
    bars = re.findall(r'class="count" data-tip="(\d+) rows? ', drawn)
    assert [int(n) for n in bars] == [n for n in curve.histogram.tolist() if n]


def test_points_name_the_level_of_their_intervals(make_evaluation):
    curve = analyze(make_evaluation(("a", "b"))).models[0].reliability[0].calibrated
    drawn = draw_reliability(replace(curve, level=0.9), "calibrated", "a label")
    assert drawn.count("(90% interval: ") == len(curve.predicted)


def test_a_sketch_has_a_mark_at_each_point(make_evaluation):
    curve = analyze(make_evaluation(("a", "b"))).models[0].reliability[0].calibrated
    drawn = draw_sketch(curve, "calibrated", "a label")
    marks = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="5" class="mark">', drawn)
    x, y = np.array(marks, dtype=float).T
    np.testing.assert_allclose(np.diff(x), 130 * np.diff(curve.predicted), atol=0.02)
    np.testing.assert_allclose(np.diff(y), -130 * np.diff(curve.observed), atol=0.02)
    assert 'aria-label="a label"' in drawn


def test_diagrams_share_the_axes_of_the_page(make_evaluation):
    curve = analyze(make_evaluation(("a", "b"))).models[0].reliability[0].calibrated
    [name] = re.findall(r'<use href="#([^"]+)">', draw_reliability(curve, "calibrated", ""))
    assert f'<symbol id="{name}"' in define_axes()
