"""Reliability diagrams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant.metrics import ReliabilityCurve, reliability_curve
from calibrant.plots.panels import (
    REFERENCE_COLOR,
    SERIES,
    clean,
    is_new,
    name_series,
    panels,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 4.2
COUNTS = "counts"


class ReliabilityDisplay:
    """Reliability diagram: observed frequency against predicted probability.

    Each point is a bin of rows with like predictions, with the interval of what their
    frequency may be; beneath it, how many rows were predicted which probability.

    Parameters
    ----------
    curves : dict of str to ReliabilityCurve
        Title of each panel, and the curve to draw in it.
    name : str, default=None
        The name in the legend.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels drawn on, after `plot`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.plots import ReliabilityDisplay
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_new, y_new = make_waveform(300, random_state=1)
    >>> raw = GaussianNB().fit(X, y)
    >>> before = ReliabilityDisplay.from_estimator(raw, X_new, y_new, name="before")
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> after = ReliabilityDisplay.from_estimator(
    ...     model, X_new, y_new, name="after", ax=before.axes_
    ... )
    """

    axes_: NDArray[Any]

    def __init__(self, curves: Mapping[str, ReliabilityCurve], *, name: str | None = None):
        self.curves = curves
        self.name = name

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
        """Draw the diagram of a fitted classifier on rows it has not seen.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba``.
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            True labels.
        of, ax, **options
            As for `from_predictions`.
        name : str, default=None
            The name in the legend; None is the class name of the estimator.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.
        """
        return cls.from_predictions(
            y,
            estimator.predict_proba(X),
            of=of,
            name=name or type(estimator).__name__,
            ax=ax,
            labels=estimator.classes_,
            **options,
        )

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
        """Draw the diagram of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        proba : array-like of shape (n_samples, n_classes)
            Class probabilities.
        of : "top-label", "each-class" or label, default="top-label"
            What to draw: the most probable class of each row, a panel for every class, or
            one class.
        name : str, default=None
            The name in the legend.
        ax : matplotlib Axes or array of them, default=None
            Where to draw, such as the ``axes_`` of another display; None makes a new figure.
        **options : dict
            Passed to `calibrant.metrics.reliability_curve`.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.
        """
        if isinstance(of, str) and of == "each-class":
            labels = options.get("labels")
            wanted = np.unique(y_true if labels is None else labels).tolist()
        else:
            wanted = [of]
        curves = {
            _title(each): reliability_curve(y_true, proba, of=each, **options) for each in wanted
        }
        return cls(curves, name=name).plot(ax)

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            Where to draw; None makes a new figure.
        **line_options : dict
            Passed to matplotlib's ``plot``.

        Returns
        -------
        ReliabilityDisplay
            The display itself.
        """
        self.axes_ = panels(list(self.curves), ax, HEIGHT)
        for each, curve in zip(self.axes_, self.curves.values(), strict=True):
            self._draw(each, curve, line_options)
        if self.name is not None:
            name_series(self.axes_[0])
        return self

    def _draw(self, ax: Axes, curve: ReliabilityCurve, line_options: dict[str, Any]) -> None:
        if is_new(ax):
            _prepare(ax)
        options: dict[str, Any] = style(ax) | {"markersize": 5, "label": self.name} | line_options
        (line,) = ax.plot(curve.predicted, curve.observed, gid=SERIES, **options)
        ax.vlines(
            curve.predicted, curve.low, curve.high, color=line.get_color(), linewidth=1.2, alpha=0.6
        )
        counts: Any = next(child for child in ax.child_axes if child.get_label() == COUNTS)
        edges = np.linspace(0.0, 1.0, len(curve.histogram) + 1)
        fill = {"fill": True, "alpha": 0.15, "linewidth": 0}
        for drawn in ({"linewidth": 1.2}, fill):
            counts.stairs(curve.histogram, edges, color=line.get_color(), **drawn)


def _prepare(ax: Axes) -> None:
    """Draw the diagonal, and axes for the counts in the room beneath it.

    The counts lie within the panel, so that every layout of figures leaves room for them.
    """
    ax.plot([0, 1], [0, 1], color=REFERENCE_COLOR, linewidth=1, linestyle="--", zorder=1)
    clean(ax)
    ax.set(
        xlabel="predicted probability",
        xlim=(-0.03, 1.03),
        ylim=(-0.3, 1.03),
        xticks=np.linspace(0, 1, 6),
        yticks=np.linspace(0, 1, 6),
        aspect="equal",
    )
    ax.set_ylabel("observed frequency", y=0.6)
    ax.spines["left"].set_bounds(0, 1)
    counts = ax.inset_axes((0, 0, 1, 0.16), label=COUNTS)
    clean(counts)
    counts.set(xlim=ax.get_xlim(), ylabel="rows", facecolor="none")
    counts.spines["bottom"].set_visible(False)
    counts.tick_params(axis="x", bottom=False, labelbottom=False)
    counts.locator_params(axis="y", nbins=2, integer=True)


def _title(of: Any) -> str:
    return "most probable class" if isinstance(of, str) and of == "top-label" else f"class {of}"
