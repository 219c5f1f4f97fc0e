"""Numbers -> inline SVG. Colors and sizes of text are the stylesheet's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from calibrant._core.typing import IndexArray
from calibrant.comparison import RankComparison
from calibrant.metrics import ReliabilityCurve


def element(name: str, *children: Any, **attributes: Any) -> Markup:
    """Return an XML element; text in it is escaped, ``class_`` and ``data_x`` are spelled out.

    Examples
    --------
    >>> from calibrant.report.figures import element
    >>> print(element("text", "a < b", x=1.25, class_="tick"))
    <text x="1.25" class="tick">a &lt; b</text>
    """
    spelled = Markup("").join(
        Markup(' {}="{}"').format(key.strip("_").replace("_", "-"), _plain(value))
        for key, value in attributes.items()
        if value is not None
    )
    body = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(name, spelled, body)


def _plain(value: Any) -> Any:
    """Coordinates to a hundredth of a pixel, without trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


@dataclass(frozen=True)
class Scale:
    """A straight map from numbers to pixels."""

    domain: tuple[float, float]
    pixels: tuple[float, float]

    def __call__(self, value: float) -> float:
        """Return the pixel of a number."""
        share = (float(value) - self.domain[0]) / (self.domain[1] - self.domain[0])
        return self.pixels[0] + share * (self.pixels[1] - self.pixels[0])


TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
WIDTH, SIDE, LEFT, TOP = 360, 284, 54, 12
COUNTS_TOP, COUNTS_HEIGHT = TOP + SIDE + 14, 44
HEIGHT = COUNTS_TOP + COUNTS_HEIGHT + 44


def draw_reliability(
    curve: ReliabilityCurve, histogram: IndexArray, kind: str, label: str
) -> Markup:
    """Draw observed frequency against predicted probability, and the numbers of rows beneath.

    Parameters
    ----------
    curve : ReliabilityCurve
        The points, with intervals.
    histogram : ndarray
        Numbers of rows in bins of equal width of the predicted probability.
    kind : {"before", "after"}
        The class of the marks.
    label : str
        What a screen reader says.

    Returns
    -------
    Markup
        The picture.
    """
    x = Scale((0.0, 1.0), (LEFT, LEFT + SIDE))
    y = Scale((0.0, 1.0), (TOP + SIDE, TOP))
    parts = [element("rect", x=LEFT, y=TOP, width=SIDE, height=SIDE, class_="frame")]
    for tick in TICKS:
        if 0 < tick < 1:
            parts.append(_line(x(tick), TOP, x(tick), TOP + SIDE, "grid"))
            parts.append(_line(LEFT, y(tick), LEFT + SIDE, y(tick), "grid"))
        parts.append(_text(LEFT - 6, y(tick) + 4, f"{tick:.0%}", "tick end"))
        parts.append(_text(x(tick), HEIGHT - 26, f"{tick:.0%}", "tick middle"))
    parts.append(_line(x(0), y(0), x(1), y(1), "ideal"))
    parts.append(_vertical_text(14, TOP + SIDE / 2, "came true"))
    parts.append(_text(LEFT + SIDE / 2, HEIGHT - 6, "predicted probability", "label middle"))
    parts += _counts(histogram, x)
    places = [
        (x(predicted), y(observed))
        for predicted, observed in zip(curve.predicted, curve.observed, strict=True)
    ]
    line = " ".join(f"{left:.1f},{top:.1f}" for left, top in places)
    parts.append(element("polyline", points=line, class_="curve"))
    for i, (left, top) in enumerate(places):
        low, high = y(curve.low[i]), y(curve.high[i])
        tip = (
            f"Said {curve.predicted[i]:.0%}: came true {curve.observed[i]:.0%} of the time "
            f"(95 % interval {curve.low[i]:.0%} to {curve.high[i]:.0%}), "
            f"{curve.count[i]} rows"
        )
        mark = (
            element("rect", x=left - 4.5, y=top - 4.5, width=9, height=9, class_="mark")
            if kind == "before"
            else element("circle", cx=left, cy=top, r=5, class_="mark")
        )
        parts.append(
            element(
                "g",
                _line(left, low, left, high, "whisker"),
                _line(left - 4, low, left + 4, low, "whisker"),
                _line(left - 4, high, left + 4, high, "whisker"),
                mark,
                element("circle", cx=left, cy=top, r=14, class_="target"),
                class_="point",
                data_tip=tip,
            )
        )
    return _picture(WIDTH, HEIGHT, label, f"plot {kind}", parts)


def _counts(histogram: IndexArray, x: Scale) -> list[Markup]:
    """Bars of the numbers of rows, by predicted probability."""
    most = max(float(histogram.max()), 1.0)
    bottom = COUNTS_TOP + COUNTS_HEIGHT
    edges = np.linspace(0.0, 1.0, len(histogram) + 1)
    parts = [
        _line(LEFT, bottom, LEFT + SIDE, bottom, "axis"),
        _text(LEFT - 6, COUNTS_TOP + 8, f"{most:.0f}", "tick end"),
        _text(LEFT - 6, bottom, "rows", "tick end"),
    ]
    for count, low, high in zip(histogram, edges, edges[1:], strict=False):
        height = COUNTS_HEIGHT * float(count) / most
        parts.append(
            element(
                "rect",
                x=x(low) + 0.75,
                y=bottom - height,
                width=x(high) - x(low) - 1.5,
                height=height,
                class_="count",
                data_tip=f"{count} rows were given {low:.0%} to {high:.0%}",
            )
        )
    return parts


def draw_ranks(comparison: RankComparison, names: Sequence[str]) -> Markup:
    """Draw a critical-difference diagram: mean ranks, and bars over what does not differ.

    Parameters
    ----------
    comparison : RankComparison
        The ranks of the methods.
    names : list of str
        The names of the methods.

    Returns
    -------
    Markup
        The picture.
    """
    ranks = comparison.mean_rank
    order = np.argsort(ranks, kind="stable").tolist()
    place = {method: row for row, method in enumerate(order)}
    cliques = comparison.cliques()
    left, right, row, top = 240.0, 560.0, 21.0, 34.0
    x = Scale((1.0, float(len(ranks))), (left + 10, right))
    bottom = top + row * len(order)
    parts = [_line(left, top, right + 10, top, "axis")]
    for tick in range(1, len(ranks) + 1, max(1, len(ranks) // 10)):
        parts.append(_line(x(tick), top, x(tick), bottom, "grid"))
        parts.append(_text(x(tick), top - 6, str(tick), "tick middle"))
    parts.append(_text(left - 8, top - 6, "mean rank, 1 is best", "tick end"))
    for method, height in ((method, top + row * (place[method] + 0.5)) for method in order):
        parts.append(_text(left - 8, height + 4, names[method], "label end"))
        parts.append(_line(left, height, x(ranks[method]), height, "grid"))
        tip = f"{names[method]}: mean rank {ranks[method]:.2f}"
        mark = element("circle", cx=x(ranks[method]), cy=height, r=5, class_="mark")
        parts.append(element("g", mark, class_="point", data_tip=tip))
        parts.append(_text(x(ranks[method]) + 10, height + 4, f"{ranks[method]:.2f}", "tick"))
    for number, clique in enumerate(cliques):
        first, last = place[clique[0]], place[clique[-1]]
        side = right + 50 + 9 * number
        ends = top + row * (first + 0.2), top + row * (last + 0.8)
        parts.append(_line(side, ends[0], side, ends[1], "clique"))
    width = right + 64 + 9 * len(cliques)
    label = f"Mean ranks of {len(names)} methods, with bars over those that do not differ"
    return _picture(width, bottom + 10, label, "plot after ranks", parts)


def draw_agreement(
    points: Mapping[str, Sequence[tuple[float, float]]],
    limits: tuple[float, float],
    label: str,
) -> Markup:
    """Draw published values against ours on logarithmic scales; on a line where they agree.

    Parameters
    ----------
    points : mapping of str to sequence of (float, float)
        Pairs by group; at most two groups, drawn as circles and squares.
    limits : tuple of float
        The ends of both axes.
    label : str
        What a screen reader says.

    Returns
    -------
    Markup
        The picture.
    """
    low, high = np.log10(limits).tolist()
    x = Scale((low, high), (LEFT, LEFT + SIDE))
    y = Scale((low, high), (TOP + SIDE, TOP))
    parts = [
        element("rect", x=LEFT, y=TOP, width=SIDE, height=SIDE, class_="frame"),
        _line(x(low), y(low), x(high), y(high), "ideal"),
        _vertical_text(14, TOP + SIDE / 2, "here"),
        _text(LEFT + SIDE / 2, TOP + SIDE + 38, "published", "label middle"),
    ]
    for tick in np.arange(np.ceil(low), high + 1e-9):
        parts.append(_line(x(tick), TOP, x(tick), TOP + SIDE, "grid"))
        parts.append(_line(LEFT, y(tick), LEFT + SIDE, y(tick), "grid"))
        parts.append(_text(x(tick), TOP + SIDE + 18, f"{10**tick:g}", "tick middle"))
        parts.append(_text(LEFT - 6, y(tick) + 4, f"{10**tick:g}", "tick end"))
    for number, (name, pairs) in enumerate(points.items()):
        for published, own in pairs:
            place = x(np.log10(published)), y(np.log10(own))
            mark = (
                element("circle", cx=place[0], cy=place[1], r=4.5, class_="mark")
                if number == 0
                else element(
                    "rect", x=place[0] - 4, y=place[1] - 4, width=8, height=8, class_="mark hollow"
                )
            )
            tip = f"{name}: {published:.3f} published, {own:.3f} here"
            parts.append(element("g", mark, class_="point", data_tip=tip))
    return _picture(WIDTH, TOP + SIDE + 48, label, "plot after", parts)


def _picture(width: float, height: float, label: str, kind: str, parts: list[Markup]) -> Markup:
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=label,
        tabindex=0,
        class_=kind,
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _text(x: float, y: float, text: str, kind: str) -> Markup:
    return element("text", text, x=x, y=y, class_=kind)


def _vertical_text(x: float, y: float, text: str) -> Markup:
    turned = f"rotate(-90 {x} {y})"
    return element("text", text, x=x, y=y, transform=turned, class_="label middle")
