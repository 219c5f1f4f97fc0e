"""Decision curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from calibrant.decisions import DecisionCurve, decision_curve
from calibrant.plots._events import EventDisplay
from calibrant.plots._panels import REFERENCE_COLOR, UNIT_LIMITS, UNIT_TICKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DecisionCurveDisplay(EventDisplay):
    """Net benefit of treating the rows of a class, by threshold, with a confidence band.

    Gray lines show the net benefit of treating every row (solid) and no row (dashed). Probabilities
    are worth using at thresholds where their curve is above both.

    Parameters
    ----------
    curves : dict of str to DecisionCurve
        The curves to draw, by panel title.
    name : str, default=None
        The name in the legend. ``None`` means no legend.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels, set by `plot`.

    See Also
    --------
    calibrant.decisions.decision_curve : The numbers of the curve.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.plots import DecisionCurveDisplay
    >>> model = GaussianNB().fit(*make_waveform(300, random_state=0))
    >>> display = DecisionCurveDisplay.from_estimator(model, *make_waveform(300, random_state=1))
    >>> [ax.get_title() for ax in display.axes_]
    ['class 0', 'class 1', 'class 2']
    """

    _panel_height = 3.2

    @classmethod
    def _compute(
        cls, y_true: ArrayLike, proba: ArrayLike, of: Any, options: dict[str, Any]
    ) -> DecisionCurve:
        return decision_curve(y_true, proba, of=of, **options)

    def _prepare(self, ax: Axes, curve: DecisionCurve) -> None:
        ax.plot(curve.threshold, curve.treat_all, color=REFERENCE_COLOR, linewidth=1, zorder=1)
        ax.axhline(0.0, color=REFERENCE_COLOR, linewidth=1, linestyle="--", zorder=1)
        # Net benefit is at most the prevalence; far below 0, no curve is of interest.
        ax.set(
            xlabel="threshold",
            ylabel="net benefit",
            xlim=UNIT_LIMITS,
            xticks=UNIT_TICKS,
            ylim=(-0.3 * curve.prevalence, 1.1 * curve.prevalence),
        )

    def _draw(
        self, ax: Axes, curve: DecisionCurve, style: dict[str, Any], line_options: dict[str, Any]
    ) -> None:
        options = style | {"marker": "", "linewidth": 1.8} | line_options
        (line,) = ax.plot(curve.threshold, curve.net_benefit, **options)
        ax.fill_between(
            curve.threshold, curve.low, curve.high, color=line.get_color(), alpha=0.18, linewidth=0
        )
