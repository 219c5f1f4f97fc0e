"""Figures of smooth curves, several in one figure, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from calibrant._core.typing import FloatArray
from calibrant.metrics import SmoothCalibrationCurve
from calibrant.report.figures import AXES_ID, HEIGHT, LEFT, SIDE, TOP, WIDTH, draw_histogram
from calibrant.report.formatting import percent
from calibrant.report.svg import Scale, element, picture

# Every second point of a curve is drawn, and every tenth one tells its numbers.
STEP, TIP_STEP = 2, 10


def draw_calibration_curves(
    curves: Sequence[tuple[str, str, SmoothCalibrationCurve]], label: str
) -> Markup:
    """Draw calibration curves with their bands above histograms of the predictions.

    Parameters
    ----------
    curves : sequence of (name, state, SmoothCalibrationCurve)
        The curves. The state, "uncalibrated" or "calibrated", determines color and line style.
    label : str
        Description for screen readers.

    Returns
    -------
    Markup
        The figure.
    """
    x = Scale((0.0, 1.0), (LEFT, LEFT + SIDE))
    y = Scale((0.0, 1.0), (TOP + SIDE, TOP))
    most = max(float(curve.histogram.max()) for _, _, curve in curves)
    parts = [element("use", href=f"#{AXES_ID}")]
    for position, (name, state, curve) in enumerate(curves):
        tips = [
            f"{name}: predicted {percent(curve.predicted[i])}, observed "
            f"{percent(curve.observed[i])} ({percent(curve.level)} band: "
            f"{percent(curve.low[i])} to {percent(curve.high[i])})"
            for i in range(len(curve.predicted))
        ]
        places = np.array([x(each) for each in curve.predicted])
        drawn = curve.observed, curve.low, curve.high
        lines = [np.array([y(each) for each in values]) for values in drawn]
        bars = draw_histogram(curve.histogram, x, most, (position, len(curves)))
        parts.append(element("g", *bars, *draw_band(places, lines, tips), class_=state))
    return picture(WIDTH, HEIGHT, label, "plot", parts)


def draw_band(x: FloatArray, lines: Sequence[FloatArray], tips: Sequence[str]) -> list[Markup]:
    """Draw a curve within its band, with points that tell their numbers.

    Parameters
    ----------
    x : ndarray of shape (n_points,)
        Pixels of the points from left to right.
    lines : sequence of ndarray of shape (n_points,)
        Pixels of the curve, of its lower limits and of its upper limits.
    tips : sequence of str
        What each point tells.

    Returns
    -------
    list of Markup
        The band, the curve and the points.
    """
    curve, low, high = lines
    forth, back = _spell(x[::STEP], high[::STEP]), _spell(x[::-STEP], low[::-STEP])
    parts = [
        element("polygon", points=f"{forth} {back}", class_="band"),
        element("polyline", points=_spell(x[::STEP], curve[::STEP]), class_="smooth"),
    ]
    for i in range(0, len(x), TIP_STEP):
        mark = element("circle", cx=float(x[i]), cy=float(curve[i]), r=2.5, class_="mark")
        target = element("circle", cx=float(x[i]), cy=float(curve[i]), r=10, class_="target")
        parts.append(element("g", mark, target, class_="point", data_tip=tips[i]))
    return parts


def _spell(x: FloatArray, y: FloatArray) -> str:
    return " ".join(f"{left:.1f},{top:.1f}" for left, top in zip(x, y, strict=True))
