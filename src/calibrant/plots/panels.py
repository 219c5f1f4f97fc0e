"""Where displays are drawn: figures, panels, colors."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colors, which color-blind people can tell apart, without the yellow, which
# is hard to see on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
REFERENCE_COLOR = "0.55"

PANEL_WIDTH = 3.4
MOST_COLUMNS = 4
TITLE_WIDTH = 36
LINE_HEIGHT = 0.2
# Marks the lines of displays, to count those that panels hold already.
SERIES = "calibrant-series"


def panels(
    titles: Sequence[str], ax: Any, height: float, width: float = PANEL_WIDTH
) -> NDArray[Any]:
    """Return the axes to draw on, one for each title.

    Parameters
    ----------
    titles : list of str
        Titles of the panels; an empty one leaves the title as it is.
    ax : Axes or array of Axes or None
        Where to draw; None makes a new figure.
    height : float
        The height of a panel of a new figure, in inches, with a title of one line.
    width : float, default=3.4
        Its width.

    Returns
    -------
    ndarray of shape (n_titles,)
        The axes.
    """
    wrapped = [fill(title, TITLE_WIDTH) for title in titles]
    if ax is None:
        height += LINE_HEIGHT * max(title.count("\n") for title in wrapped)
        axes = _new_panels(len(titles), height, width)
    else:
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(axes) != len(titles):
            raise ValueError(
                f"ax must be one Axes for each of the {len(titles)} panels. Got {len(axes)}. "
                "Leave it out for a new figure."
            )
    for each, title in zip(axes, wrapped, strict=True):
        if title:
            # A class may be called $x$, which is no formula.
            each.set_title(title, fontsize="medium", parse_math=False)
    return axes


def style(ax: Axes) -> dict[str, Any]:
    """Color and marker of the next series on a panel."""
    place = sum(line.get_gid() == SERIES for line in ax.lines)
    return {"color": COLORS[place % len(COLORS)], "marker": MARKERS[place % len(MARKERS)]}


def is_new(ax: Axes) -> bool:
    """Whether no display was drawn on a panel."""
    return not any(line.get_gid() == SERIES for line in ax.lines)


def name_series(ax: Axes) -> None:
    """Show the names of the series on a panel."""
    for text in ax.legend(frameon=False).get_texts():
        text.set_parse_math(False)


def clean(ax: Axes) -> None:
    """Take away the lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)


def _new_panels(n_panels: int, height: float, width: float) -> NDArray[Any]:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Drawing needs matplotlib: pip install 'calibrant[plots]'") from None
    n_columns = min(n_panels, MOST_COLUMNS)
    n_rows = -(-n_panels // n_columns)
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        squeeze=False,
        figsize=(width * n_columns, height * n_rows),
    )
    figure.set_layout_engine("constrained", hspace=0.06)
    for unused in axes.ravel()[n_panels:]:
        figure.delaxes(unused)
    return axes.ravel()[:n_panels]
