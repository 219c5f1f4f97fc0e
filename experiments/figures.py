"""Figures of the experiments page as inline SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from calibrant.comparison import RankComparison
from calibrant.report.svg import Scale, element, line, picture, text, vertical_text

WIDTH, SIDE, LEFT, TOP = 360, 284, 54, 12


def draw_ranks(comparison: RankComparison, names: Sequence[str]) -> Markup:
    """Draw a critical-difference diagram: mean ranks, and bars over methods that do not differ.

    Parameters
    ----------
    comparison : RankComparison
        Mean ranks of the methods.
    names : sequence of str
        Names of the methods.

    Returns
    -------
    Markup
        The figure.
    """
    ranks = comparison.mean_rank
    order = np.argsort(ranks, kind="stable").tolist()
    place = {method: row for row, method in enumerate(order)}
    cliques = comparison.cliques()
    left, right, row, top = 240.0, 560.0, 21.0, 34.0
    x = Scale((1.0, float(len(ranks))), (left + 10, right))
    bottom = top + row * len(order)
    parts = [line(left, top, right + 10, top, "axis")]
    for tick in range(1, len(ranks) + 1, max(1, len(ranks) // 10)):
        parts.append(line(x(tick), top, x(tick), bottom, "grid"))
        parts.append(text(x(tick), top - 6, str(tick), "tick middle"))
    parts.append(text(left - 8, top - 6, "mean rank, 1 is best", "tick end"))
    for method, height in ((method, top + row * (place[method] + 0.5)) for method in order):
        parts.append(text(left - 8, height + 4, names[method], "label end"))
        parts.append(line(left, height, x(ranks[method]), height, "grid"))
        tip = f"{names[method]}: mean rank {ranks[method]:.2f}"
        mark = element("circle", cx=x(ranks[method]), cy=height, r=5, class_="mark")
        parts.append(element("g", mark, class_="point", data_tip=tip))
        parts.append(text(x(ranks[method]) + 10, height + 4, f"{ranks[method]:.2f}", "tick"))
    for number, clique in enumerate(cliques):
        first, last = place[clique[0]], place[clique[-1]]
        side = right + 50 + 9 * number
        ends = top + row * (first + 0.2), top + row * (last + 0.8)
        parts.append(line(side, ends[0], side, ends[1], "clique"))
    width = right + 64 + 9 * len(cliques)
    label = f"Mean ranks of {len(names)} methods, with bars over those that do not differ"
    return picture(width, bottom + 10, label, "plot ranks", parts)


def draw_agreement(
    points: Mapping[str, Sequence[tuple[float, float]]],
    limits: tuple[float, float],
    label: str,
) -> Markup:
    """Draw reproduced against published values, on logarithmic scales.

    Parameters
    ----------
    points : mapping of str to sequence of (float, float)
        Pairs of published and reproduced values by classifier, at most two: circles and
        squares.
    limits : tuple of float
        Limits of both axes.
    label : str
        Description for screen readers.

    Returns
    -------
    Markup
        The figure.
    """
    low, high = np.log10(limits).tolist()
    x = Scale((low, high), (LEFT, LEFT + SIDE))
    y = Scale((low, high), (TOP + SIDE, TOP))
    parts = [
        element("rect", x=LEFT, y=TOP, width=SIDE, height=SIDE, class_="frame"),
        line(x(low), y(low), x(high), y(high), "ideal"),
        vertical_text(14, TOP + SIDE / 2, "here"),
        text(LEFT + SIDE / 2, TOP + SIDE + 38, "published", "label middle"),
    ]
    for tick in np.arange(np.ceil(low), high + 1e-9):
        parts.append(line(x(tick), TOP, x(tick), TOP + SIDE, "grid"))
        parts.append(line(LEFT, y(tick), LEFT + SIDE, y(tick), "grid"))
        parts.append(text(x(tick), TOP + SIDE + 18, f"{10**tick:g}", "tick middle"))
        parts.append(text(LEFT - 6, y(tick) + 4, f"{10**tick:g}", "tick end"))
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
    return picture(WIDTH, TOP + SIDE + 48, label, "plot", parts)
