import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from calibrant.decisions import decision_curve
from calibrant.metrics import smooth_calibration_curve
from calibrant.report.curves import BENEFIT_HEIGHT, draw_calibration_curves, draw_decision_curves
from calibrant.report.figures import COUNTS_HEIGHT, LEFT, SIDE, TOP
from calibrant.report.formatting import percent


@pytest.fixture(scope="module")
def rows():
    rng = np.random.RandomState(0)
    proba = rng.uniform(size=200)
    return (rng.uniform(size=200) < proba).astype(int), proba


def read_path(element):
    """Return the points of a path, in pixels."""
    assert element.get("transform") == "scale(.1)"
    steps = [int(number) for number in re.findall(r"[+-]?\d+", element.get("d"))]
    return np.cumsum(np.reshape(steps, (-1, 2)), axis=0) / 10


def by_class(figure, name):
    return [element for element in figure.iter() if name in element.get("class", "").split()]


def test_calibration_curves_are_drawn_to_scale(rows):
    y, proba = rows
    curve = smooth_calibration_curve(y, proba)
    flat = smooth_calibration_curve(y, 0.3 + 0.4 * proba)
    label = '<b>"bold"</b>'
    drawn = [("uncalibrated", "uncalibrated", flat), ("<i>", "calibrated", curve)]
    figure = ET.fromstring(draw_calibration_curves(drawn, label))
    assert figure.get("aria-label") == label
    for element, expected in zip(by_class(figure, "smooth"), (flat, curve), strict=True):
        points = read_path(element)
        np.testing.assert_allclose(points[:, 0], LEFT + SIDE * expected.predicted[::2], atol=0.06)
        height = (TOP + SIDE - points[:, 1]) / SIDE
        np.testing.assert_allclose(height, expected.observed[::2], atol=3e-4)
    band = read_path(by_class(figure, "band")[1])
    limits = np.concatenate([curve.high[::2], curve.low[::-2]])
    np.testing.assert_allclose((TOP + SIDE - band[:, 1]) / SIDE, limits, atol=3e-4)
    tips = [element.get("data-tip") for element in by_class(figure, "point")]
    assert len(tips) == 12
    expected = (curve.predicted[40], curve.observed[40], curve.low[40], curve.high[40])
    shown = tuple(percent(each) for each in expected)
    assert tips[8] == "<i>: predicted {}, observed {} (95% band: {} to {})".format(*shown)


def test_bars_show_the_distribution_of_predictions(rows):
    y, proba = rows
    curve = smooth_calibration_curve(y, proba)
    figure = ET.fromstring(draw_calibration_curves([("", "calibrated", curve)], ""))
    (bars,) = by_class(figure, "count")
    heights = [-float(number) for number in re.findall(r"v(-[\d.]+)", bars.get("d"))]
    share = curve.histogram[curve.histogram > 0] / curve.histogram.max()
    np.testing.assert_allclose(heights, COUNTS_HEIGHT * share, atol=0.06)


def test_decision_curves_are_drawn_to_scale_and_cut_off_at_the_frame(rows):
    y, proba = rows
    curve = decision_curve(y, proba)
    figure = ET.fromstring(draw_decision_curves([("model", "calibrated", curve)], "label"))
    (frame,) = [element for element in figure if element.tag == "svg"]
    assert frame.get("viewBox") == f"{LEFT} {TOP} {SIDE} {BENEFIT_HEIGHT}"
    (smooth,) = by_class(frame, "smooth")
    points = read_path(smooth)
    np.testing.assert_allclose(points[:, 0], LEFT + SIDE * curve.threshold[::2], atol=0.06)
    (none,) = by_class(frame, "treat-none")
    zero = float(none.get("y1"))
    (all_rows,) = by_class(frame, "treat-all")
    treated = read_path(all_rows)
    # The first point is a threshold of 1%; net benefit is in units of one scale.
    scale = (zero - treated[0, 1]) / curve.treat_all[0]
    np.testing.assert_allclose((zero - points[:, 1]) / scale, curve.net_benefit[::2], atol=1e-3)
    assert [element.get("data-tip")[:13] for element in by_class(frame, "point")] == [
        "model: net be"
    ] * 5
