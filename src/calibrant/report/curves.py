"""Figures of calibration and decision curves, several in one figure, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from calibrant._core.typing import FloatArray
from calibrant.decisions import DecisionCurve
from calibrant.metrics import SmoothCalibrationCurve
from calibrant.report.figures import (
    AXES_ID,
    COUNTS_HEIGHT,
    COUNTS_TOP,
    HEIGHT,
    LEFT,
    SIDE,
    TICKS,
    TOP,
    WIDTH,
)
from calibrant.report.formatting import number, percent
from calibrant.report.svg import Scale, element, line, picture, text, vertical_text

# Every second point of a curve is drawn, and every twentieth one tells its numbers: probabilities
# from the first one, and thresholds of 10%, 30%, ..., 90%.
STEP, TIP_STEP, FIRST_TIP = 2, 20, 9
BENEFIT_HEIGHT = 200
# Points outside of this distance in pixels are not visible.
FARTHEST = 1000
# Distances between tick marks of net benefit, of which the first leaves at most this many.
TICK_DISTANCES, MOST_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2), 6


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
    most = max(1.0, *(float(curve.histogram.max()) for _, _, curve in curves))
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
        bars = _draw_bars(curve.histogram / most, x, position / len(curves), 1 / len(curves))
        parts.append(element("g", bars, *draw_band(places, lines, tips), class_=state))
    parts.append(text(LEFT - 6, COUNTS_TOP + 8, f"{most:.0f}", "tick end"))
    return picture(WIDTH, HEIGHT, label, "plot", parts)


def draw_decision_curves(curves: Sequence[tuple[str, str, DecisionCurve]], label: str) -> Markup:
    """Draw net benefit by threshold, with treating all rows and none as references.

    Parameters
    ----------
    curves : sequence of (name, state, DecisionCurve)
        The curves of one class. The state determines color and line style.
    label : str
        Description for screen readers.

    Returns
    -------
    Markup
        The figure.
    """
    _, _, first = curves[0]
    # Net benefit is at most the prevalence; far below 0, no curve is of interest.
    limits = -0.3 * first.prevalence, 1.15 * max(first.prevalence, TICK_DISTANCES[0])
    bottom = TOP + BENEFIT_HEIGHT
    x = Scale((0.0, 1.0), (LEFT, LEFT + SIDE))
    y = Scale(limits, (bottom, TOP))
    places = np.array([x(each) for each in first.threshold])
    treat_all = np.array([y(each) for each in first.treat_all])[::STEP]
    drawn = [
        line(LEFT, y(0.0), LEFT + SIDE, y(0.0), "treat-none"),
        _draw_path([(places[::STEP], treat_all)], "treat-all"),
    ]
    for name, state, curve in curves:
        tips = [
            f"{name}: net benefit {number(curve.net_benefit[i])} at {percent(curve.threshold[i])} "
            f"({percent(curve.level)} interval: {number(curve.low[i])} to "
            f"{number(curve.high[i])}); treating all: {number(curve.treat_all[i])}"
            for i in range(len(curve.threshold))
        ]
        values = curve.net_benefit, curve.low, curve.high
        lines = [np.array([y(each) for each in array]) for array in values]
        drawn.append(element("g", *draw_band(places, lines, tips, FIRST_TIP), class_=state))
    # A nested image cuts off what is outside of the frame.
    frame = {"x": LEFT, "y": TOP, "width": SIDE, "height": BENEFIT_HEIGHT}
    inside = element("svg", *drawn, **frame, viewBox=f"{LEFT} {TOP} {SIDE} {BENEFIT_HEIGHT}")
    parts = [*_draw_benefit_axes(x, y), inside]
    return picture(WIDTH, bottom + 44, label, "plot", parts)


def _draw_benefit_axes(x: Scale, y: Scale) -> list[Markup]:
    (low, high), (bottom, top) = y.domain, y.pixels
    parts = [element("rect", x=LEFT, y=top, width=SIDE, height=bottom - top, class_="frame")]
    parts += [text(x(tick), bottom + 18, f"{tick:.0%}", "tick middle") for tick in TICKS]
    distance = next(
        (each for each in TICK_DISTANCES if (high - low) / each < MOST_TICKS), TICK_DISTANCES[-1]
    )
    for k in range(int(np.ceil(low / distance)), int(high / distance) + 1):
        height = y(k * distance)
        parts.append(line(LEFT, height, LEFT + SIDE, height, "grid"))
        parts.append(text(LEFT - 6, height + 4, number(k * distance, 2), "tick end"))
    return [
        *parts,
        vertical_text(14, (top + bottom) / 2, "net benefit"),
        text(LEFT + SIDE / 2, bottom + 38, "threshold", "label middle"),
    ]


def draw_band(
    x: FloatArray, lines: Sequence[FloatArray], tips: Sequence[str], first_tip: int = 0
) -> list[Markup]:
    """Draw a curve within its band, with points that tell their numbers.

    Parameters
    ----------
    x : ndarray of shape (n_points,)
        Pixels of the points from left to right.
    lines : sequence of ndarray of shape (n_points,)
        Pixels of the curve, of its lower limits and of its upper limits.
    tips : sequence of str
        What each point tells.
    first_tip : int, default=0
        The first point that tells its numbers.

    Returns
    -------
    list of Markup
        The band, the curve and the points.
    """
    curve, low, high = lines
    parts = [
        _draw_path([(x[::STEP], high[::STEP]), (x[::-STEP], low[::-STEP])], "band"),
        _draw_path([(x[::STEP], curve[::STEP])], "smooth"),
    ]
    for i in range(first_tip, len(x), TIP_STEP):
        place = {"cx": round(float(x[i]), 1), "cy": round(float(curve[i]), 1)}
        parts.append(element("circle", **place, r=3, class_="point dot", data_tip=tips[i]))
    return parts


def _draw_bars(height: FloatArray, x: Scale, start: float, width: float) -> Markup:
    """Draw relative heights as bars, each of which takes up a part of its bin."""
    bin_width = SIDE / len(height)
    bottom = COUNTS_TOP + COUNTS_HEIGHT
    bars = "".join(
        f"M{x(k / len(height)) + start * bin_width:.1f},{bottom}v{-COUNTS_HEIGHT * each:.1f}"
        f"h{width * bin_width - 0.7:.1f}V{bottom}z"
        for k, each in enumerate(height.tolist())
        if each > 0
    )
    return element("path", d=bars, class_="count")


def _draw_path(pieces: Sequence[tuple[FloatArray, FloatArray]], kind: str) -> Markup:
    """Draw a path through points; whole tenths of a pixel, as differences, take little space."""
    points = np.concatenate([np.stack(piece, axis=1) for piece in pieces])
    tenths = (10 * np.clip(points, -FARTHEST, FARTHEST)).round().astype(int)
    steps = np.diff(tenths, axis=0, prepend=0)
    spelled = "".join(f"{across:+d}{down:+d}" for across, down in steps[1:].tolist())
    across, down = steps[0].tolist()
    return element("path", d=f"m{across},{down}l{spelled}", transform="scale(.1)", class_=kind)
