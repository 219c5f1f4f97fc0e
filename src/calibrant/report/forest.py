"""Figures of intervals, one line per subgroup, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from calibrant._core.records import Interval
from calibrant.report.formatting import signed
from calibrant.report.svg import Scale, element, line, picture, text

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 360, 112, 14, 10, 42
# Heights of one interval and of the space between two subgroups.
LINE_HEIGHT, GAP = 15, 11
# Longer names are cut; the point tells all of it.
MOST_CHARACTERS = 15
# Steps between ticks, in percentage points, and the largest number of ticks on each side of 0.
STEPS = (1, 2, 5, 10, 20, 50, 100)
MOST_TICKS = 3


class ForestLine(NamedTuple):
    """An interval of a forest plot.

    Attributes
    ----------
    name : str
        The subgroup.
    label : str
        The probabilities to which it belongs. Empty if there are no others.
    state : {"uncalibrated", "calibrated"}
        Determines the color.
    interval : Interval
        A difference of shares.
    """

    name: str
    label: str
    state: str
    interval: Interval


def draw_forest(lines: Sequence[ForestLine], label: str) -> Markup:
    """Draw differences of shares with their intervals.

    Parameters
    ----------
    lines : sequence of ForestLine
        The intervals; those of one subgroup are consecutive.
    label : str
        Description for screen readers.

    Returns
    -------
    Markup
        The figure.
    """
    reach = 100 * max(max(abs(each.interval.low), abs(each.interval.high)) for each in lines)
    step = next((each for each in STEPS if reach <= MOST_TICKS * each), STEPS[-1])
    end = max(reach * 1.04, step)
    x = Scale((-end / 100, end / 100), (LEFT, WIDTH - RIGHT))
    marks, names = [], []
    top, previous = float(TOP), ""
    for each in lines:
        if each.name != previous:
            top += GAP if previous else 0
            n_lines = sum(other.name == each.name for other in lines)
            middle = top + n_lines * LINE_HEIGHT / 2 + 4
            names.append(text(LEFT - 8, middle, _cut(each.name), "end"))
            previous = each.name
        marks.append(_draw_line(each, x, top + LINE_HEIGHT / 2))
        top += LINE_HEIGHT
    bottom = top + GAP / 2
    grid = [line(x(0.0), TOP, x(0.0), bottom, "ideal")]
    for number in range(-MOST_TICKS, MOST_TICKS + 1):
        if abs(number * step) <= end:
            place = x(number * step / 100)
            tick = signed(number * step / 100, is_percentage=True).removesuffix(".0")
            grid.append(text(place, bottom + 15, tick, "middle"))
            if number:
                grid.append(line(place, TOP, place, bottom, "grid"))
    caption = text(x(0.0), bottom + 33, "observed minus predicted, in points", "label middle")
    return picture(WIDTH, round(bottom + BOTTOM), label, "plot", [*grid, *names, *marks, caption])


def _draw_line(each: ForestLine, x: Scale, y: float) -> Markup:
    estimate, low, high = (
        signed(value, is_percentage=True) for value in (each.interval.estimate, *each.interval)
    )
    who = f"{each.name}, {each.label}" if each.label else each.name
    tip = f"{who}: {estimate} points ({each.interval.level:.0%} interval: {low} to {high})"
    left, right = (x(value) for value in each.interval)
    center = x(each.interval.estimate)
    shape = [
        element("path", d=f"M{left:.1f},{y:.1f}H{right:.1f}", class_="whisker"),
        element("circle", cx=center, cy=y, r=3.5, class_="mark"),
        element("circle", cx=center, cy=y, r=10, class_="target"),
    ]
    return element("g", element("g", *shape, class_="point", data_tip=tip), class_=each.state)


def _cut(name: str) -> str:
    return name if len(name) <= MOST_CHARACTERS else f"{name[: MOST_CHARACTERS - 1]}…"
