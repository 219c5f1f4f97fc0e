"""Displays of events: one panel per class, drawn from the predictions of held-out rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.plots._panels import UNIT_LIMITS, UNIT_TICKS, PanelDisplay, clean, draw_diagonal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The unit square is drawn above a histogram, which occupies the bottom of the panel.
LOWEST = -0.3
SQUARE_BOTTOM = -LOWEST / (UNIT_LIMITS[1] - LOWEST)
HISTOGRAM = "histogram"


class EventDisplay(PanelDisplay):
    """Base class of displays with one panel per event.

    Parameters
    ----------
    curves : dict of str to record
        The curves to draw, by panel title.
    name : str or None
        The name in the legend. ``None`` means no legend.
    """

    def __init__(self, curves: Mapping[str, Any], *, name: str | None = None):
        super().__init__(name)
        self.curves = curves

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        of: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the display of a fitted classifier for held-out rows.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba``.
        X : array-like of shape (n_samples, n_features)
            Held-out rows.
        y : array-like of shape (n_samples,)
            True labels.
        of, ax, **options
            See `from_predictions`.
        name : str, default=None
            The name in the legend. ``None`` means the class name of the estimator.

        Returns
        -------
        EventDisplay
            The drawn display.
        """
        options |= {"of": of, "name": name or type(estimator).__name__, "ax": ax}
        proba = estimator.predict_proba(X)
        return cls.from_predictions(y, proba, labels=estimator.classes_, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        proba: ArrayLike,
        *,
        of: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the display of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        proba : array-like of shape (n_samples, n_classes)
            Predicted probabilities.
        of : "top-label", "each-class", label or pair of labels, default=None
            What to draw: the most probable class of each row, one panel per class, a single
            class, or the first of two classes given that the class is one of the two. ``None``
            means the most probable class in a `ReliabilityDisplay`, and in other displays the
            second of two classes, or each of several.
        name : str, default=None
            The name in the legend. ``None`` means no legend.
        ax : matplotlib Axes or array of them, default=None
            The axes to draw on, such as the ``axes_`` of another display. ``None`` means a new
            figure.
        **options : dict
            Passed to the function that computes a curve.

        Returns
        -------
        EventDisplay
            The drawn display.
        """
        labels = options.get("labels")
        classes = np.unique(y_true if labels is None else labels).tolist()
        if of is None:
            of = cls._default_event(classes)
        events = classes if isinstance(of, str) and of == "each-class" else [of]
        curves = {_title(event): cls._compute(y_true, proba, event, options) for event in events}
        return cls(curves, name=name).plot(ax)

    @classmethod
    def _default_event(cls, classes: list[Any]) -> Any:
        """Return what to draw unless a user asks for something else."""
        return classes[1] if len(classes) == 2 else "each-class"

    @classmethod
    @abstractmethod
    def _compute(cls, y_true: ArrayLike, proba: ArrayLike, of: Any, options: dict[str, Any]) -> Any:
        """Return the curve of an event."""

    def _contents(self) -> Mapping[str, Any]:
        return self.curves


class CalibrationPanels(EventDisplay):
    """Base class of displays of observed frequency against predicted probability."""

    # How the line differs from the style of its series.
    _line: ClassVar[dict[str, Any]]
    _panel_height = 4.2
    _legend_area = (0.0, SQUARE_BOTTOM, 1.0, 1.0 - SQUARE_BOTTOM)

    def _prepare(self, ax: Axes, curve: Any) -> None:  # noqa: ARG002 (inherited)
        draw_diagonal(ax)
        ax.set(
            xlabel="predicted probability",
            xlim=UNIT_LIMITS,
            ylim=(LOWEST, UNIT_LIMITS[1]),
            xticks=UNIT_TICKS,
            yticks=UNIT_TICKS,
            aspect="equal",
        )
        ax.set_ylabel("observed frequency", y=0.6)
        ax.spines["left"].set_bounds(0, 1)
        # Inside the panel, so that any figure layout leaves space for it.
        histogram = ax.inset_axes((0, 0, 1, 0.16), label=HISTOGRAM)
        clean(histogram)
        histogram.set(xlim=UNIT_LIMITS, ylabel="rows", facecolor="none")
        histogram.spines["bottom"].set_visible(False)
        histogram.tick_params(axis="x", bottom=False, labelbottom=False)
        histogram.locator_params(axis="y", nbins=2, integer=True)

    def _draw(
        self, ax: Axes, curve: Any, style: dict[str, Any], line_options: dict[str, Any]
    ) -> None:
        (line,) = ax.plot(curve.predicted, curve.observed, **style | self._line | line_options)
        color = line.get_color()
        self._draw_limits(ax, curve, color)
        histogram: Any = next(child for child in ax.child_axes if child.get_label() == HISTOGRAM)
        edges = np.linspace(0.0, 1.0, len(curve.histogram) + 1)
        histogram.stairs(curve.histogram, edges, color=color, linewidth=1.2)
        histogram.stairs(curve.histogram, edges, color=color, fill=True, alpha=0.15, linewidth=0)

    @abstractmethod
    def _draw_limits(self, ax: Axes, curve: Any, color: Any) -> None:
        """Draw the confidence limits."""


def _title(of: Any) -> str:
    if isinstance(of, str) and of == "top-label":
        return "most probable class"
    return f"class {of[0]} or {of[1]}" if isinstance(of, tuple) else f"class {of}"
