"""Calibration maps: calibrated probability against uncalibrated score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from calibrant.plots._panels import UNIT_LIMITS, UNIT_TICKS, PanelDisplay, draw_diagonal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_CURVE_POINTS = 401
LINE = {"marker": ""}
DOTS = {"linestyle": "", "markersize": 4, "markeredgewidth": 0, "alpha": 0.45}

Map = tuple[ArrayLike, ArrayLike]


class CalibrationMapDisplay(PanelDisplay):
    """Calibration map: calibrated probability against uncalibrated score.

    The map of a calibrator that takes one score per row is a curve. A multi-class calibrator maps
    the score of a class in a way that depends on the scores of the other classes, so it is shown
    as one dot per row and class.

    Parameters
    ----------
    maps : dict of str to (before, after)
        The scores before and the probabilities after calibration, two arrays of the same
        length, by panel title.
    name : str, default=None
        The name in the legend. ``None`` means no legend.
    is_curve : bool, default=False
        Whether to draw a line instead of dots.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels, set by `plot`.

    See Also
    --------
    ReliabilityDisplay : Observed frequency against predicted probability.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.plots import CalibrationMapDisplay
    >>> X, y = make_waveform(300, random_state=0)
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> display = CalibrationMapDisplay.from_estimator(model, X)
    >>> list(display.maps)
    ['class 0', 'class 1', 'class 2']
    """

    _panel_height = 3.6

    def __init__(self, maps: Mapping[str, Map], *, name: str | None = None, is_curve: bool = False):
        super().__init__(name)
        self.maps = maps
        self.is_curve = is_curve

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, name: str | None = None, ax: Any = None
    ) -> Self:
        """Draw the map of a fitted classifier or calibrator.

        Parameters
        ----------
        estimator : CalibratedClassifier or calibrator
            A fitted classifier or calibrator.
        X : array-like
            Features for a classifier, or scores for a calibrator. The curve of a calibrator
            that takes one score per row spans the range of these scores.
        name, ax
            See `from_predictions`.

        Returns
        -------
        CalibrationMapDisplay
            The drawn display.
        """
        if hasattr(estimator, "predict_proba"):
            is_classifier = hasattr(estimator, "predict_uncalibrated_proba")
            before = estimator.predict_uncalibrated_proba(X) if is_classifier else X
            after = estimator.predict_proba(X)
            return cls.from_predictions(before, after, labels=estimator.classes_, name=name, ax=ax)
        score = check_array(X, dtype=np.float64, ensure_2d=False, input_name="X").ravel()
        grid = np.linspace(score.min(), score.max(), N_CURVE_POINTS)
        return cls({"": (grid, estimator.predict(grid))}, name=name, is_curve=True).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        before: ArrayLike,
        after: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the map between two sets of class probabilities.

        Parameters
        ----------
        before, after : array-like of shape (n_samples, n_classes)
            Class probabilities of the same rows, before and after calibration.
        labels : array-like of shape (n_classes,), default=None
            The labels of the columns. ``None`` means the column numbers.
        name : str, default=None
            The name in the legend. ``None`` means no legend.
        ax : matplotlib Axes or array of them, default=None
            The axes to draw on, one per class. ``None`` means a new figure.

        Returns
        -------
        CalibrationMapDisplay
            The drawn display.
        """
        score = check_array(before, dtype=np.float64, input_name="before")
        proba = check_array(after, dtype=np.float64, input_name="after")
        if score.shape != proba.shape:
            raise ValueError(
                "before and after must have the same shape, got "
                f"{score.shape} and {proba.shape}. Pass the same rows and classes in both."
            )
        names = np.arange(score.shape[1]) if labels is None else np.asarray(labels)
        if len(names) != score.shape[1]:
            raise ValueError(
                f"labels must name each of the {score.shape[1]} columns, got {len(names)} labels. "
                "Omit labels to number the columns."
            )
        maps = {
            f"class {label}": (score[:, k], proba[:, k]) for k, label in enumerate(names.tolist())
        }
        return cls(maps, name=name).plot(ax)

    def _contents(self) -> Mapping[str, Map]:
        return self.maps

    def _prepare(self, ax: Axes, content: Map) -> None:
        before = np.asarray(content[0])
        is_probability = before.min() >= 0 and before.max() <= 1
        ax.set(
            xlabel=f"uncalibrated {'probability' if is_probability else 'score'}",
            ylabel="calibrated probability",
            ylim=UNIT_LIMITS,
            yticks=UNIT_TICKS,
        )
        if is_probability:
            draw_diagonal(ax)
            ax.set(xlim=UNIT_LIMITS, xticks=UNIT_TICKS, aspect="equal")

    def _draw(
        self, ax: Axes, content: Map, style: dict[str, Any], line_options: dict[str, Any]
    ) -> None:
        ax.plot(*content, **style | (LINE if self.is_curve else DOTS) | line_options)
