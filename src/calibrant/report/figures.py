"""Figures of the report as inline SVG."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from calibrant._core.phrases import count
from calibrant._core.typing import IndexArray
from calibrant.metrics import ReliabilityCurve
from calibrant.report.formatting import percent
from calibrant.report.svg import Scale, element, line, picture, text, vertical_text

TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
WIDTH, SIDE, LEFT, TOP = 360, 284, 54, 12
COUNTS_TOP, COUNTS_HEIGHT = TOP + SIDE + 14, 44
HEIGHT = COUNTS_TOP + COUNTS_HEIGHT + 44
SKETCH_SIDE, SKETCH_LEFT = 130, 20
AXES_ID = "reliability-axes"


def draw_reliability(curve: ReliabilityCurve, state: str, label: str) -> Markup:
    """Draw observed frequency against predicted probability, above a histogram of the rows.

    Parameters
    ----------
    curve : ReliabilityCurve
        Points with intervals, and a histogram.
    state : {"uncalibrated", "calibrated"}
        Determines the color and the shape of the marks.
    label : str
        Description for screen readers.

    Returns
    -------
    Markup
        The figure.
    """
    x = Scale((0.0, 1.0), (LEFT, LEFT + SIDE))
    y = Scale((0.0, 1.0), (TOP + SIDE, TOP))
    centers = [
        (x(predicted), y(observed))
        for predicted, observed in zip(curve.predicted, curve.observed, strict=True)
    ]
    polyline = " ".join(f"{left:.1f},{top:.1f}" for left, top in centers)
    parts = [
        element("use", href=f"#{AXES_ID}"),
        *_histogram(curve.histogram, x),
        element("polyline", points=polyline, class_="curve"),
    ]
    for i, (left, top) in enumerate(centers):
        low, high = y(curve.low[i]), y(curve.high[i])
        tip = (
            f"Predicted {curve.predicted[i]:.0%}, observed {curve.observed[i]:.0%} "
            f"({percent(curve.level)} interval: {curve.low[i]:.0%} to {curve.high[i]:.0%}), "
            f"{count(curve.count[i], 'row')}"
        )
        parts.append(
            element(
                "g",
                element(
                    "path",
                    d=f"M{left - 4:.1f},{low:.1f}h8m-4,0V{high:.1f}m-4,0h8",
                    class_="whisker",
                ),
                _mark(left, top, state),
                element("circle", cx=left, cy=top, r=14, class_="target"),
                class_="point",
                data_tip=tip,
            )
        )
    return picture(WIDTH, HEIGHT, label, f"plot {state}", parts)


def draw_sketch(curve: ReliabilityCurve, state: str, label: str) -> Markup:
    """Draw a small reliability diagram without numbers.

    Parameters
    ----------
    curve : ReliabilityCurve
        Points with intervals.
    state : {"uncalibrated", "calibrated"}
        Determines the color and the shape of the marks.
    label : str
        Description for screen readers.

    Returns
    -------
    Markup
        The figure.
    """
    left, side = SKETCH_LEFT, SKETCH_SIDE
    x = Scale((0.0, 1.0), (left, left + side))
    y = Scale((0.0, 1.0), (side + 4, 4))
    parts = [
        element("rect", x=left, y=4, width=side, height=side, class_="frame"),
        line(x(0), y(0), x(1), y(1), "ideal"),
        vertical_text(left - 6, 4 + side / 2, "observed"),
        text(left + side / 2, side + 18, "predicted", "label middle"),
    ]
    for i, (predicted, observed) in enumerate(zip(curve.predicted, curve.observed, strict=True)):
        center = x(predicted)
        parts.append(line(center, y(curve.low[i]), center, y(curve.high[i]), "whisker"))
        parts.append(_mark(center, y(observed), state))
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {left + side + 6} {side + 24}",
        role="img",
        aria_label=label,
        class_=f"plot sketch {state}",
    )


def define_axes() -> Markup:
    """Return the axes that all reliability diagrams of a page share."""
    x = Scale((0.0, 1.0), (LEFT, LEFT + SIDE))
    y = Scale((0.0, 1.0), (TOP + SIDE, TOP))
    bottom = COUNTS_TOP + COUNTS_HEIGHT
    parts = [element("rect", x=LEFT, y=TOP, width=SIDE, height=SIDE, class_="frame")]
    for tick in TICKS:
        if 0 < tick < 1:
            parts.append(line(x(tick), TOP, x(tick), TOP + SIDE, "grid"))
            parts.append(line(LEFT, y(tick), LEFT + SIDE, y(tick), "grid"))
        parts.append(text(LEFT - 6, y(tick) + 4, f"{tick:.0%}", "tick end"))
        parts.append(text(x(tick), HEIGHT - 26, f"{tick:.0%}", "tick middle"))
    parts += [
        line(x(0), y(0), x(1), y(1), "ideal"),
        vertical_text(14, TOP + SIDE / 2, "observed frequency"),
        text(LEFT + SIDE / 2, HEIGHT - 6, "predicted probability", "label middle"),
        line(LEFT, bottom, LEFT + SIDE, bottom, "axis"),
        text(LEFT - 6, bottom, "rows", "tick end"),
    ]
    symbol = element("symbol", *parts, id=AXES_ID, viewBox=f"0 0 {WIDTH} {HEIGHT}")
    return element("svg", symbol, width=0, height=0, class_="shared", aria_hidden="true")


def _mark(left: float, top: float, state: str) -> Markup:
    if state == "uncalibrated":
        return element("rect", x=left - 4.5, y=top - 4.5, width=9, height=9, class_="mark")
    return element("circle", cx=left, cy=top, r=5, class_="mark")


def _histogram(n_rows: IndexArray, x: Scale) -> list[Markup]:
    """Draw the number of rows by predicted probability as bars."""
    most = max(float(n_rows.max()), 1.0)
    bottom = COUNTS_TOP + COUNTS_HEIGHT
    edges = np.linspace(0.0, 1.0, len(n_rows) + 1)
    parts = [text(LEFT - 6, COUNTS_TOP + 8, f"{most:.0f}", "tick end")]
    for n, low, high in zip(n_rows, edges, edges[1:], strict=False):
        if n == 0:
            continue
        height = COUNTS_HEIGHT * float(n) / most
        parts.append(
            element(
                "rect",
                x=round(x(low) + 0.75, 1),
                y=round(bottom - height, 1),
                width=12.7,
                height=round(height, 1),
                class_="count",
                data_tip=f"{count(n, 'row')} at {low:.0%} to {high:.0%}",
            )
        )
    return parts
