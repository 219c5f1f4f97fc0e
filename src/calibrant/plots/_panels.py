"""Figures with one panel per class, and the styles that all displays share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The color-blind-safe palette of Okabe and Ito, without its yellow, which is faint on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
REFERENCE_COLOR = "0.55"
UNIT_TICKS = np.linspace(0, 1, 6)
UNIT_LIMITS = (-0.03, 1.03)

PANEL_WIDTH = 3.4
MAX_COLUMNS = 4
TITLE_WIDTH = 36
TITLE_LINE_HEIGHT = 0.2
# Tags the lines drawn by displays, so that the next display gets another color and marker.
SERIES = "calibrant-series"


class PanelDisplay(ABC):
    """Base class of displays with one panel per class.

    Parameters
    ----------
    name : str or None
        The name of the display in the legend. ``None`` means no legend.
    """

    axes_: NDArray[Any]
    # In inches, for a one-line title.
    _panel_height: float
    # Left, bottom, width and height of the area of a panel that the legend may cover.
    _legend_area = (0.0, 0.0, 1.0, 1.0)

    def __init__(self, name: str | None):
        self.name = name

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            The axes to draw on, one per panel. ``None`` means a new figure.
        **line_options : dict
            Passed to matplotlib's ``plot``.

        Returns
        -------
        self
            The display.
        """
        contents = self._contents()
        self.axes_ = make_panels(list(contents), ax, self._panel_height)
        for panel, content in zip(self.axes_, contents.values(), strict=True):
            n_series = sum(line.get_gid() == SERIES for line in panel.lines)
            if n_series == 0:
                clean(panel)
                self._prepare(panel, content)
            style = {
                "color": COLORS[n_series % len(COLORS)],
                "marker": MARKERS[n_series % len(MARKERS)],
                "label": self.name,
                "gid": SERIES,
            }
            self._draw(panel, content, style, line_options)
        if self.name is not None:
            legend = self.axes_[0].legend(bbox_to_anchor=self._legend_area, frameon=False)
            for text in legend.get_texts():
                text.set_parse_math(False)
        return self

    @abstractmethod
    def _contents(self) -> Mapping[str, Any]:
        """Return what to draw in each panel, by panel title."""

    @abstractmethod
    def _prepare(self, ax: Axes, content: Any) -> None:
        """Set up a panel before its first series."""

    @abstractmethod
    def _draw(
        self, ax: Axes, content: Any, style: dict[str, Any], line_options: dict[str, Any]
    ) -> None:
        """Draw one series in the given style, which ``line_options`` can override."""


def make_panels(
    titles: Sequence[str], ax: Any, height: float, width: float = PANEL_WIDTH
) -> NDArray[Any]:
    """Return the axes to draw on, one per title.

    Parameters
    ----------
    titles : sequence of str
        The titles of the panels. An empty string keeps the current title.
    ax : matplotlib Axes, array of them or None
        The axes to draw on. ``None`` means a new figure.
    height : float
        The height of a panel of a new figure in inches, for a one-line title.
    width : float, default=3.4
        The width of a panel of a new figure in inches.

    Returns
    -------
    ndarray of shape (n_titles,)
        The axes.
    """
    wrapped = [fill(title, TITLE_WIDTH) for title in titles]
    if ax is None:
        height += TITLE_LINE_HEIGHT * max(title.count("\n") for title in wrapped)
        axes = _new_panels(len(titles), height, width)
    else:
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(axes) != len(titles):
            raise ValueError(
                f"ax must contain one Axes for each of the {len(titles)} panels, got {len(axes)}. "
                "Omit it to create a new figure."
            )
    for panel, title in zip(axes, wrapped, strict=True):
        if title:
            # A class may be called $x$, which is not a formula.
            panel.set_title(title, fontsize="medium", parse_math=False)
    return axes


def clean(ax: Axes) -> None:
    """Remove unneeded spines and draw a faint grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)


def draw_diagonal(ax: Axes) -> None:
    """Draw the diagonal of the unit square, on which both coordinates are equal."""
    ax.plot([0, 1], [0, 1], color=REFERENCE_COLOR, linewidth=1, linestyle="--", zorder=1)


def _new_panels(n_panels: int, height: float, width: float) -> NDArray[Any]:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "Plots require matplotlib, which is not installed. "
            "Install it with: pip install 'calibrant[plots]'"
        ) from None
    n_columns = min(n_panels, MAX_COLUMNS)
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
