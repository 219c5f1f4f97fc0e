"""Reliability diagrams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import ArrayLike

from calibrant.metrics import ReliabilityCurve, reliability_curve
from calibrant.plots._events import CalibrationPanels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay(CalibrationPanels):
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

    _line: ClassVar[dict[str, Any]] = {"markersize": 5}

    @classmethod
    def _default_event(cls, classes: list[Any]) -> Any:  # noqa: ARG003 (inherited)
        return "top-label"

    @classmethod
    def _compute(
        cls, y_true: ArrayLike, proba: ArrayLike, of: Any, options: dict[str, Any]
    ) -> ReliabilityCurve:
        return reliability_curve(y_true, proba, of=of, **options)

    def _draw_limits(self, ax: Axes, curve: ReliabilityCurve, color: Any) -> None:
        ax.vlines(curve.predicted, curve.low, curve.high, color=color, linewidth=1.2, alpha=0.6)
