"""Forest plots of calibration by subgroup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike, NDArray

from calibrant.metrics.subgroups import (
    TOP_LABEL,
    Subgroup,
    SubgroupCalibration,
    describe_event,
    subgroup_calibration,
)
from calibrant.plots._panels import COLORS, MAX_COLUMNS, REFERENCE_COLOR, clean, make_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN_HEIGHT, ROW_HEIGHT = 1.0, 0.32
# Below this adjusted p-value, a subgroup is drawn in the color of a finding.
ALPHA = 0.05
# How far apart the two lines of a subgroup are, in rows.
OFFSET = 0.16


class SubgroupCalibrationDisplay:
    """Forest plot: observed minus predicted share of each class, by subgroup.

    Gray lines are the differences and intervals from the rows of each subgroup alone. Colored lines
    are shrunk toward the other subgroups by their noise; they are orange if the probabilities of
    the class are wrong in the subgroup (adjusted p-value below 0.05). The dashed line marks
    probabilities that are right.

    Parameters
    ----------
    calibration : SubgroupCalibration
        The numbers to draw.
    of : sequence, default=None
        The events to draw, one per panel. ``None`` means the second of two classes, or each of
        several, and the most probable class.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels, set by `plot`.

    See Also
    --------
    calibrant.metrics.subgroup_calibration : The numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.plots import SubgroupCalibrationDisplay
    >>> model = GaussianNB().fit(*make_waveform(300, random_state=0))
    >>> X, y = make_waveform(300, random_state=1)
    >>> site = np.where(X[:, 0] > 0, "north", "south")
    >>> display = SubgroupCalibrationDisplay.from_estimator(model, X, y, site)
    >>> [ax.get_title() for ax in display.axes_]
    ['class 0', 'class 1', 'class 2', 'most probable class']
    """

    axes_: NDArray[Any]

    def __init__(self, calibration: SubgroupCalibration, of: Sequence[Any] | None = None):
        self.calibration = calibration
        self.of = of

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        by: ArrayLike,
        *,
        of: Sequence[Any] | None = None,
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
        by, of, ax, **options
            See `from_predictions`.

        Returns
        -------
        SubgroupCalibrationDisplay
            The drawn display.
        """
        options |= {"of": of, "ax": ax, "labels": estimator.classes_}
        return cls.from_predictions(y, estimator.predict_proba(X), by, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        proba: ArrayLike,
        by: ArrayLike,
        *,
        of: Sequence[Any] | None = None,
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
        by : array-like of shape (n_samples,)
            The subgroup of each row.
        of : sequence, default=None
            The events to draw: classes, and "top-label" for the most probable class. ``None``
            means the second of two classes, or each of several, and the most probable class.
        ax : matplotlib Axes or array of them, default=None
            The axes to draw on, one per event. ``None`` means a new figure.
        **options : dict
            Passed to `subgroup_calibration`.

        Returns
        -------
        SubgroupCalibrationDisplay
            The drawn display.
        """
        return cls(subgroup_calibration(y_true, proba, by, **options), of).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            The axes to draw on, one per event. ``None`` means a new figure.

        Returns
        -------
        self
            The display.
        """
        found = self.calibration
        rows = (found.whole, *found.subgroups)
        events = self._events()
        height = MARGIN_HEIGHT + ROW_HEIGHT * len(rows)
        self.axes_ = make_panels([describe_event(found.events[at]) for at in events], ax, height)
        for number, (panel, at) in enumerate(zip(self.axes_, events, strict=True)):
            clean(panel)
            panel.grid(visible=False, axis="y")
            panel.spines["left"].set_visible(False)
            panel.tick_params(axis="y", length=0)
            panel.axvline(0.0, color=REFERENCE_COLOR, linewidth=1, linestyle="--", zorder=1)
            for y, row in enumerate(rows):
                _draw(panel, row, at, y)
            # Panels beside another one share its names.
            names = [f"{each.title} ({each.n_rows:,.6g})" for each in rows]
            shown = names if number % MAX_COLUMNS == 0 else [""] * len(rows)
            panel.set_yticks(range(len(rows)), shown, parse_math=False)
            panel.set(xlabel="observed minus predicted (points)", ylim=(len(rows) - 0.5, -0.5))
        return self

    def _events(self) -> Sequence[int]:
        """Return the positions of the events to draw."""
        known = list(self.calibration.events)
        if self.of is None:
            return self.calibration.shown_events
        unknown = [each for each in self.of if each not in known]
        if unknown or not len(self.of):
            raise ValueError(
                f"of must hold classes or {TOP_LABEL!r}, that is, some of {known}, got "
                f"{unknown or 'none'}. Omit it to draw all of them."
            )
        return [known.index(each) for each in self.of]


def _draw(ax: Axes, row: Subgroup, at: int, y: float) -> None:
    """Draw the intervals of one event in a subgroup, or in all rows."""
    if not row.p_values:
        _draw_interval(ax, row.difference[at], y, color="0.2", marker="D")
        return
    color = COLORS[1] if row.p_values[at] < ALPHA else COLORS[0]
    _draw_interval(ax, row.difference[at], y + OFFSET, color="0.7", marker="o", linewidth=1)
    _draw_interval(ax, row.shrunken[at], y - OFFSET, color=color, marker="o")


def _draw_interval(ax: Axes, interval: Any, y: float, **style: Any) -> None:
    low, high, estimate = (100 * each for each in (interval.low, interval.high, interval.estimate))
    options = {"linewidth": 1.8, "markersize": 4.5} | style
    ax.plot([low, high], [y, y], **options | {"marker": ""})
    ax.plot(estimate, y, **options)
