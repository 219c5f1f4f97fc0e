"""Smooth calibration curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import ArrayLike

from calibrant.metrics import SmoothCalibrationCurve, smooth_calibration_curve
from calibrant.plots._events import CalibrationPanels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CalibrationCurveDisplay(CalibrationPanels):
    """Smooth calibration curve with a confidence band.

    The curve shows the estimated frequency of a class against its predicted probability, and the
    histogram below shows the number of rows by predicted probability.

    Parameters
    ----------
    curves : dict of str to SmoothCalibrationCurve
        The curves to draw, by panel title.
    name : str, default=None
        The name in the legend. ``None`` means no legend.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels, set by `plot`.

    See Also
    --------
    calibrant.metrics.smooth_calibration_curve : The numbers of the curve.
    ReliabilityDisplay : The same in bins.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.plots import CalibrationCurveDisplay
    >>> model = GaussianNB().fit(*make_waveform(300, random_state=0))
    >>> display = CalibrationCurveDisplay.from_estimator(model, *make_waveform(300, random_state=1))
    >>> [ax.get_title() for ax in display.axes_]
    ['class 0', 'class 1', 'class 2']
    """

    _line: ClassVar[dict[str, Any]] = {"marker": "", "linewidth": 1.8}

    @classmethod
    def _compute(
        cls, y_true: ArrayLike, proba: ArrayLike, of: Any, options: dict[str, Any]
    ) -> SmoothCalibrationCurve:
        return smooth_calibration_curve(y_true, proba, of=of, **options)

    def _draw_limits(self, ax: Axes, curve: SmoothCalibrationCurve, color: Any) -> None:
        ax.fill_between(
            curve.predicted, curve.low, curve.high, color=color, alpha=0.18, linewidth=0
        )
