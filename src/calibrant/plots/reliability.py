"""Reliability diagrams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.metrics import ReliabilityCurve, reliability_curve
from calibrant.plots._panels import UNIT_LIMITS, UNIT_TICKS, PanelDisplay, clean, draw_diagonal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The unit square is drawn above a histogram, which occupies the bottom of the panel.
LOWEST = -0.3
SQUARE_BOTTOM = -LOWEST / (UNIT_LIMITS[1] - LOWEST)
HISTOGRAM = "histogram"


class ReliabilityDisplay(PanelDisplay):
    """Reliability diagram: observed frequency against predicted probability.

    Each point is a bin of rows with similar predicted probabilities, shown with the confidence
    interval for its observed frequency. The histogram below shows the number of rows by
    predicted probability.

    Parameters
    ----------
    curves : dict of str to ReliabilityCurve
        The curves to draw, by panel title.
    name : str, default=None
        The name in the legend. ``None`` means no legend.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels, set by `plot`.

    See Also
    --------
    calibrant.metrics.reliability_curve : The points and the histogram.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.plots import ReliabilityDisplay
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_new, y_new = make_waveform(300, random_state=1)
    >>> uncalibrated = GaussianNB().fit(X, y)
    >>> before = ReliabilityDisplay.from_estimator(uncalibrated, X_new, y_new)
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> after = ReliabilityDisplay.from_estimator(model, X_new, y_new, ax=before.axes_)
    """

    _panel_height = 4.2
    _legend_area = (0.0, SQUARE_BOTTOM, 1.0, 1.0 - SQUARE_BOTTOM)

    def __init__(self, curves: Mapping[str, ReliabilityCurve], *, name: str | None = None):
        super().__init__(name)
        self.curves = curves

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        of: Any = "top-label",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the diagram of a fitted classifier for held-out rows.

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
        ReliabilityDisplay
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
        of: Any = "top-label",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the diagram of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        proba : array-like of shape (n_samples, n_classes)
            Predicted probabilities.
        of : "top-label", "each-class" or label, default="top-label"
            What to draw: the most probable class of each row, one panel per class, or a
            single class.
        name : str, default=None
            The name in the legend. ``None`` means no legend.
        ax : matplotlib Axes or array of them, default=None
            The axes to draw on, such as the ``axes_`` of another display. ``None`` means a new
            figure.
        **options : dict
            Passed to `calibrant.metrics.reliability_curve`.

        Returns
        -------
        ReliabilityDisplay
            The drawn display.
        """
        if isinstance(of, str) and of == "each-class":
            labels = options.get("labels")
            events = np.unique(y_true if labels is None else labels).tolist()
        else:
            events = [of]
        curves = {
            _title(event): reliability_curve(y_true, proba, of=event, **options) for event in events
        }
        return cls(curves, name=name).plot(ax)

    def _contents(self) -> Mapping[str, ReliabilityCurve]:
        return self.curves

    def _prepare(self, ax: Axes, curve: ReliabilityCurve) -> None:  # noqa: ARG002 (inherited)
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
        self,
        ax: Axes,
        curve: ReliabilityCurve,
        style: dict[str, Any],
        line_options: dict[str, Any],
    ) -> None:
        options: dict[str, Any] = style | {"markersize": 5} | line_options
        (line,) = ax.plot(curve.predicted, curve.observed, **options)
        color = line.get_color()
        ax.vlines(curve.predicted, curve.low, curve.high, color=color, linewidth=1.2, alpha=0.6)
        histogram: Any = next(child for child in ax.child_axes if child.get_label() == HISTOGRAM)
        edges = np.linspace(0.0, 1.0, len(curve.histogram) + 1)
        histogram.stairs(curve.histogram, edges, color=color, linewidth=1.2)
        histogram.stairs(curve.histogram, edges, color=color, fill=True, alpha=0.15, linewidth=0)


def _title(of: Any) -> str:
    return "most probable class" if isinstance(of, str) and of == "top-label" else f"class {of}"
